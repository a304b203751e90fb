package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl"
)

// A spread is how objects lie in namespaces: many small ones, some large ones.
type spread struct{ namespaces, each int }

// spreads are those of the API server's benchmark of its store's writes.
var spreads = []spread{{10_000, 15}, {50, 3_000}, {100, 1_100}}

func (s spread) objects() int { return s.namespaces * s.each }

// pods are made for one case: to keep them beside the usual ones takes too much memory.
func (s spread) pods() []*corev1.Pod {
	list := makePods(s.objects())
	for i, p := range list {
		p.Namespace = s.namespace(i)
	}
	return list
}

func (s spread) namespace(i int) string { return fmt.Sprintf("shop-%d", i/s.each) }

// near tells whether a list holds what it should while one object may be on its way from
// being deleted to being created.
func near(found, expected int) bool { return found == expected || found == expected-1 }

// lists reads all objects, or through the index one namespace after the other.
func (s spread) lists(indexed bool) func(cache.Indexer, int, int) bool {
	if !indexed {
		return func(store cache.Indexer, n, _ int) bool { return near(len(store.List()), n) }
	}
	return func(store cache.Indexer, n, turn int) bool {
		found, err := store.ByIndex(cache.NamespaceIndex, s.namespace(turn*s.each%n))
		return err == nil && near(len(found), s.each)
	}
}

// recreate deletes an object and creates its next version.
func (x *contest) recreate() {
	_ = x.store.Delete(x.list[x.at]) // the key function knows pods
	_ = x.store.Add(x.next[x.at])
	if x.at++; x.at == x.n {
		x.at = 0
		x.list, x.next = x.next, x.list
	}
}

// storeWriteCases are the dimensions of the API server's benchmark of its store's writes,
// with an indexer in the store's place: how an object changes, who lists meanwhile, whether
// there is an index, and how objects lie in namespaces. What watchers are to that store
// handlers are to an informer, whose cases have them.
func storeWriteCases() []Case {
	var all []indexerQuestion
	for _, s := range spreads {
		var questions []indexerQuestion
		for _, indexed := range []bool{false, true} {
			for _, listers := range []int{0, 10} {
				c := contention{n: s.objects(), readers: listers, made: s.pods, read: s.lists(indexed), pause: 10 * time.Millisecond}
				if indexed {
					c.indices = 1
				}
				shape := fmt.Sprintf("/listers=%d/indices=%d/namespaces=%s/each=%s", listers, c.indices, human(s.namespaces), human(s.each))
				created := c
				created.change = (*contest).recreate
				questions = append(questions,
					indexerQuestion{
						name: "op=store-write/change=patch" + shape, unit: wallTime,
						summary: "next versions are stored beside goroutines that list, each 10 ms, a namespace or, without an index, all",
						run:     c.write,
					},
					indexerQuestion{
						name: "op=store-write/change=delete-create" + shape, unit: wallTime,
						summary: "objects are deleted and created beside the same goroutines",
						run:     created.write,
					})
			}
		}
		questions = append(questions, indexerQuestion{
			name: fmt.Sprintf("op=replace/listers=10/namespaces=%s/each=%s", human(s.namespaces), human(s.each)), unit: wallTime,
			summary: "a full list replaces the contents beside goroutines that list a namespace each 10 ms",
			run:     contention{n: s.objects(), indices: 1, readers: 10, made: s.pods, read: s.lists(true), pause: 10 * time.Millisecond}.replace,
		})
		all = append(all, withNull(newNullIndexerOf(s.objects(), s.each), questions...)...)
	}
	return component[impl.NewIndexer]{"indexer", "client-go", impl.Indexers()}.cases(all...)
}

// replace measures Replace beside the readers.
func (c contention) replace(b *testing.B, v indexerVariant) {
	x := c.begin(v)
	versions := [2][]any{make([]any, c.n), make([]any, c.n)}
	for i := range c.n {
		versions[0][i], versions[1][i] = x.next[i], x.list[i]
	}
	turn := 0
	measured(b, c.n, true, func() {
		_ = x.store.Replace(slices.Clone(versions[turn%2]), "1") // the key function knows pods
		turn++
	})
	x.end(b)
}
