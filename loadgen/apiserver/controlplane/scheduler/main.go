// Command scheduler is kube-scheduler in a module of ours, so that its queues and caches
// can be swapped:
//
//	scripts/swap-kubernetes.sh scheduling
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() { os.Exit(cli.Run(app.NewSchedulerCommand())) }
