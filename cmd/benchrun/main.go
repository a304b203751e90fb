// Command benchrun compares implementations of the queue and cache internals of
// Kubernetes controllers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/informerbench/informerbench/cmd/benchrun/app"
)

func main() {
	// A cluster that wants a pod to end sends SIGTERM.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(time.Second) // timeout(1) signals the process, then its group: one wish
		stop()                  // the next signal ends the process at once
	})
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
