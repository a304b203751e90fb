// Command peers is a benchrun with the containers that others have written, each
// adapted in a file of its own: what would a controller's queue or cache be like
// on top of them? They go through the same conformance suites and cases.
//
//	go run -C bench/peers . verify --component indexer --variant statedb-part
//	go run -C bench/peers . run --component indexer --budget 3m
//
// It is a module of its own, so that neither the library nor benchrun depends
// on any of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/informerbench/informerbench/bench/peers/outside"
	"github.com/informerbench/informerbench/bench/peers/table"
	"github.com/informerbench/informerbench/cmd/benchrun/app"
	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
)

// add puts the peers into the catalogue, with what they relax.
func add() error {
	var errs []error
	storage := func(name, summary string, make func() workqueue.Queue[string], relaxes ...string) {
		errs = append(errs, impl.Add("storage", impl.Variant[impl.NewStorage[string]]{
			Name: name, Summary: summary, Peer: true, New: make, Relaxes: relaxes}))
	}
	indexer := func(name, summary string, make func() table.Table, relaxes ...string) {
		errs = append(errs, impl.Add("indexer", impl.Variant[impl.NewIndexer]{
			Name: name, Summary: summary, Peer: true, New: table.Indexer(make), Relaxes: relaxes}))
	}
	storage("deque", "gammazero/deque: a circular buffer", outside.NewStorage[string])
	storage("xsync-queue", "xsync v4's UMPSCQueue: linked segments", newXsyncQueue,
		"storage-no-retained-items", "no-retained-items")
	errs = append(errs, impl.Add("rate-limiter", impl.Variant[impl.NewRateLimiter[string]]{
		Name: "xsync-map", Summary: "failures in xsync v4's Map", Peer: true, New: newXsyncLimiter}))
	indexer("watch-cache", "the store of the API server's watch cache: a B-tree and index maps behind a lock", newWatchTable,
		"fault:index-func-error-changes-nothing", "one-moment", "transaction-one-moment", "linearizable")
	indexer("statedb-part", "cilium/statedb's persistent radix tree: readers take no lock", newPartTree)
	indexer("immutable-radix", "hashicorp/go-immutable-radix: readers take no lock", newRadixTree)
	indexer("memdb", "hashicorp/go-memdb: a table of radix trees, readers take no lock", newMemTable)
	errs = append(errs, impl.Add("indexer", impl.Variant[impl.NewIndexer]{
		Name: "tidwall-btree", Summary: "tidwall/btree behind a lock, copied by lists", Peer: true, New: outside.NewIndexer}))
	indexer("google-btree", "google/btree behind a lock, cloned by lists", newGoogleTree)
	indexer("xsync-map", "xsync v4's Map for objects and for each index value", newXsyncTable,
		"one-moment", "object-and-index-together", "transaction-one-moment", "replace-one-moment", "linearizable")
	return errors.Join(errs...)
}

func main() {
	if err := add(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := app.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
