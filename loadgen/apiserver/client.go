package apiserver

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// A Step is what a command does that gives a program work.
type Step = func(context.Context, kubernetes.Interface) error

// Load is the main function of such a command: it parses the flags and takes the step that
// its argument names, with a client of the API server of KUBECONFIG that has no limit.
func Load(steps map[string]Step) {
	flag.Parse()
	if err := take(steps, flag.Arg(0)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", flag.CommandLine.Name(), err)
		os.Exit(1)
	}
}

func take(steps map[string]Step, name string) error {
	step := steps[name]
	if step == nil {
		return fmt.Errorf("found the step %q, expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(steps)), ", "))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return step(context.Background(), c)
}
