// Command benchrun compares implementations of the queue and cache internals of
// Kubernetes controllers.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/informerbench/informerbench/cmd/benchrun/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
