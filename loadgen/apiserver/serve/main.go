// Command serve runs a real API server on loopback until Ctrl-C, for kubectl and benchrun:
//
//	go run ./serve
//	export KUBECONFIG=…
//
// Arguments are further flags of kube-apiserver.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, flags []string) error {
	binary, err := apiserver.Build(ctx, "controlplane", os.Stderr)
	if err != nil {
		return fmt.Errorf("%w\n(serve is run in folder loadgen/apiserver)", err)
	}
	began := time.Now()
	server, err := apiserver.Start(ctx, apiserver.Options{Binary: binary, Flags: flags})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "ready at %s after %.1f s, until Ctrl-C:\n", server.URL(), time.Since(began).Seconds())
	fmt.Printf("export KUBECONFIG=%s\n", server.Kubeconfig())
	select {
	case <-ctx.Done():
		return server.Stop()
	case <-server.Done():
		return errors.Join(errors.New("the API server ended by itself"), server.Stop())
	}
}
