// Command bring-your-own is a benchrun with one more work queue. Copy it into
// your own module and put your constructor in the place of newQueue:
//
//	go run . verify --component queue --variant mine    # the contract, clause by clause
//	go run . run --component queue --variant mine       # beside upstream's, with a report
//	go run . drive hot-keys --queue mine --rate-limiting-queue heap    # in a whole controller
//	go run . list variants                              # it is one of the catalogue
//
// An indexer is added as "indexer" with an impl.NewIndexer, and so on for every
// component of the catalogue.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/informerbench/informerbench/cmd/benchrun/app"
	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
)

func newQueue(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
	return workqueue.NewTypedWithConfig(c) // yours
}

func main() {
	err := impl.Add("queue", impl.Variant[impl.NewQueue[string]]{
		Name: "mine", New: newQueue, Summary: "client-go's under another name",
		Relaxes: []string{"fault:spurious-done", "fault:concurrent-drains"}, // what it gives up on purpose
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	// Ctrl-C ends a run early, and what was sampled is reported.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
