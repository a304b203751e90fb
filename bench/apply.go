package bench

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/tools/cache"
)

// An applier pops batches and applies each to a store in one transaction, after
// it has looked up what was stored before, as an informer does.
type applier struct {
	*consumer
	store cache.Indexer
	txns  []cache.Transaction
}

func newApplier(store cache.Indexer) *applier {
	a := &applier{consumer: newConsumer(), store: store}
	a.one, a.batch = a.replace, a.apply
	return a
}

// replace takes the delta of a whole list, which comes alone.
func (a *applier) replace(obj any, _ bool) error {
	info, ok := obj.(cache.Deltas)[0].Object.(cache.ReplacedAllInfo)
	if !ok {
		return fmt.Errorf("popped %T alone, expected a cache.ReplacedAllInfo", obj)
	}
	a.objects += len(info.Objects)
	return a.store.Replace(info.Objects, info.ResourceVersion)
}

func (a *applier) apply(deltas []cache.Delta, _ bool) error {
	a.objects += len(deltas)
	a.txns = a.txns[:0]
	for i := range deltas {
		txn := cache.Transaction{Type: cache.TransactionTypeAdd, Object: deltas[i].Object}
		if deltas[i].Type == cache.Deleted {
			txn.Type = cache.TransactionTypeDelete
		} else if _, exists, _ := a.store.Get(deltas[i].Object); exists { // the key function knows pods
			txn.Type = cache.TransactionTypeUpdate
		}
		a.txns = append(a.txns, txn)
	}
	if store, ok := a.store.(cache.TransactionStore); ok {
		if err := store.Transaction(a.txns...); err != nil {
			return err
		}
	}
	return nil
}

// storeBehind is the indexer that belongs to an in-order FIFO: client-go's to
// client-go's, the reference to the reference, the one built for speed to those
// that are.
func storeBehind(b *testing.B, v fifoVariant) impl.NewIndexer {
	name := map[string]string{"client-go": "client-go", "slice": "locked"}[v.Name]
	switch {
	case v.Name == NullSink:
		return newNullIndexer(1)
	case name == "":
		name = "snapshot"
	}
	x, err := impl.Find(impl.Indexers(), name)
	if err != nil {
		b.Fatal(err)
	}
	return x.New
}

// stored is all of the way from an event to the store: so many updates of some
// of n objects at a time.
func stored(burst, n, indices int) fifoQuestion {
	return fifoQuestion{
		name: fmt.Sprintf("op=store/burst=%s/indices=%d/n=%s", human(burst), indices, human(n)), unit: cpuTime,
		summary: "updates are queued, popped in batches and stored in an indexer of the same make, one transaction a batch",
		run: func(b *testing.B, v fifoVariant) {
			list := pods(n)
			next := newer(list)
			order := shuffled(n, 1)
			a := newApplier(storeBehind(b, v)(cache.MetaNamespaceKeyFunc, indexersOf(indices)))
			q := v.New(impl.FIFOConfig{Atomic: true})
			objects := make([]any, n)
			for i, p := range list {
				objects[i] = p
			}
			if err := q.Replace(objects, "1"); err != nil {
				b.Fatal(err)
			}
			a.pop(q, n)
			at, sent := 0, n
			measured(b, burst, false, func() {
				for _, i := range order[at : at+burst] {
					_ = q.Update(next[i]) // the key function knows pods, and check counts
				}
				if at += burst; at == n {
					at = 0
					list, next = next, list
				}
				a.pop(q, burst)
				sent += burst
			})
			a.check(b, q, sent)
			if v.Name != NullSink {
				checkLen(b, a.store, n)
			}
		},
	}
}
