// Command manager is kube-controller-manager in a module of ours, so that its queues and
// caches can be swapped:
//
//	scripts/swap-kubernetes.sh lists
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() { os.Exit(cli.Run(app.NewControllerManagerCommand())) }
