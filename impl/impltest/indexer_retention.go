package impltest

import (
	"fmt"
	"runtime"
	"weak"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// indexerRetentionClauses are the clauses about what a store keeps alive.
var indexerRetentionClauses = []clause[newIndexer]{
	{name: "no-retained-objects", contract: "indexer 5", run: indexerNoRetainedObjects,
		reason: "an object that was deleted or replaced is not kept alive by the store: caches are the larger part of a controller's memory"},
}

func indexerNoRetainedObjects(t *trial, new newIndexer) {
	t.needs("replace", "stored-objects")
	for _, n := range []int{3, 500} {
		for name, end := range endings {
			x := indexerOf(new)
			if _, ok := x.(transactor); !ok && name == "Transaction" {
				continue // the clause "transaction" says so
			}
			var gone []weak.Pointer[metav1.PartialObjectMetadata]
			// In a goroutine of its own, so that no stack slot of the clause holds an
			// object. Some stay, so that what stores them stays too.
			<-t.Go(func() {
				for i := range n {
					obj := member(fmt.Sprint("o", i), 1, "all", fmt.Sprint("g", i/50), fmt.Sprint("own", i))
					_ = x.Add(obj)
					if i%3 == 0 {
						gone = append(gone, weak.Make(obj))
					}
				}
				x.List() // what was read may not be kept either
				_, _ = x.ByIndex(byGroup, "all")
				end(t, x, n)
				x.List()
			})
			kept := 0
			for range 5 { // a stale stack slot may hold one for a while
				runtime.GC()
				kept = 0
				for _, w := range gone {
					if w.Value() != nil {
						kept++
					}
				}
				if kept == 0 {
					break
				}
			}
			assert.Zero(t, kept, "objects of %d that are still referenced by a store of %d after %s", len(gone), n, name)
			runtime.KeepAlive(x)
		}
	}
}

// endings are the ways in which every third object leaves a store of n.
var endings = map[string]func(t *trial, x cache.Indexer, n int){
	"Delete": func(_ *trial, x cache.Indexer, n int) {
		for i := 0; i < n; i += 3 {
			_ = x.Delete(object(fmt.Sprint("o", i), 2))
		}
	},
	"Update": func(_ *trial, x cache.Indexer, n int) {
		for i := 0; i < n; i += 3 {
			_ = x.Update(member(fmt.Sprint("o", i), 2, "all", fmt.Sprint("g", i/50), fmt.Sprint("own", i)))
		}
	},
	"Update of the values": func(_ *trial, x cache.Indexer, n int) {
		for i := 0; i < n; i += 3 {
			_ = x.Update(member(fmt.Sprint("o", i), 2, "other"))
		}
	},
	"Replace": func(_ *trial, x cache.Indexer, n int) {
		var objs []any
		for i := range n {
			if i%3 != 0 {
				objs = append(objs, member(fmt.Sprint("o", i), 2, "all"))
			}
		}
		_ = x.Replace(objs, "2")
	},
	"Transaction": func(t *trial, x cache.Indexer, n int) {
		var txns []cache.Transaction
		for i := 0; i < n; i += 3 {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeDelete, Object: object(fmt.Sprint("o", i), 2)})
		}
		x.(transactor).Transaction(txns...)
	},
}
