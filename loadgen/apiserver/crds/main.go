// Command crds installs the custom resources of a folder on the API server of KUBECONFIG
// and waits until it serves them:
//
//	crds FOLDER
package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run(folders []string) error {
	if len(folders) == 0 {
		return fmt.Errorf("found no folder, expected one of CustomResourceDefinitions")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: folders, ErrorIfPathMissing: true})
	return err
}
