// Package impl is the catalogue: every variant of every component between a
// watch event and a reconcile, ours and the peers', by name.
//
// A component is one of the ecosystem's own interfaces; a variant is one
// implementation of it. To add a variant, write one file in the component's
// folder and one line in its list here: the conformance suite, the benchmarks,
// the command and the reports find it there.
//
//	impl/queue      work queues, storages for upstream's queue
//	impl/priority   priority queues
//	impl/delay      delaying queues
//	impl/ratelimit  rate limiters and rate limiting queues
//	impl/fifo       FIFO, DeltaFIFO, in-order FIFO
//	impl/indexer    indexers
//	impl/informer   informers
//	impl/election   leader electors and locks
//	impl/impltest   the contract, as a test suite for any variant
//
// The first variant of each list is the plainly correct reference, named for
// its structure; "client-go" and, where it competes, "controller-runtime" are
// always in it.
package impl

import (
	"fmt"
	"strings"
)

// A Variant is one implementation of a component. New is its constructor, of
// the type that the component's list states.
type Variant[New any] struct {
	Name    string   // stable, [a-z0-9-]: "ring", "client-go"
	Summary string   // one line: how it works and what it costs
	Peer    bool     // written upstream, measured for comparison
	Relaxes []string // contract clauses given up, by name; empty means a full drop-in
	New     New
}

// ExplicitProvider is the clause that every queue gives up which is not upstream's: a
// queue with a name reports to the provider that the program set for all. The one that
// workqueue.SetProvider was given only client-go can read, so that these take a provider
// in their configuration. A variant that relaxes nothing else is a drop-in there.
const ExplicitProvider = "global-provider"

// Find returns the variant called name, or an error that lists the names there
// are.
func Find[New any](variants []Variant[New], name string) (Variant[New], error) {
	names := make([]string, len(variants))
	for i, v := range variants {
		if v.Name == name {
			return v, nil
		}
		names[i] = v.Name
	}
	return Variant[New]{}, fmt.Errorf("unknown variant %q, expected one of %s", name, strings.Join(names, ", "))
}
