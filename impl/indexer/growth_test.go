package indexer_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/informerbench/informerbench/impl/indexer"
	"k8s.io/client-go/tools/cache"
)

// BenchmarkGrowth shows how the cost of a key grows with their number, apart
// from what objects cost: an object is its key, in an index with a thousand
// members a value. Keys come in random order. live-B/key is without the keys.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000} {
		var keys []string
		for _, impl := range []struct {
			name string
			make func(cache.Indexers) cache.ThreadSafeStore
		}{
			{"client-go", func(i cache.Indexers) cache.ThreadSafeStore { return cache.NewThreadSafeStore(i, cache.Indices{}) }},
			{"snapshot", func(i cache.Indexers) cache.ThreadSafeStore { return indexer.NewSnapshotStore(i) }},
		} {
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, impl.name), func(b *testing.B) {
				if n > 1_000_000 && testing.Short() {
					b.Skip("takes gigabytes")
				}
				if keys == nil {
					keys = randomKeys(n)
				}
				before := liveHeap()
				s := impl.make(cache.Indexers{"group": func(obj any) ([]string, error) {
					key := *obj.(*string)
					return []string{key[:len(key)-3]}, nil
				}})
				for i := range keys {
					s.Add(keys[i], &keys[i])
				}
				live := liveHeap() - before
				for _, op := range []struct {
					name string
					call func(i int)
				}{
					{"get", func(i int) { s.Get(keys[i]) }},
					{"update", func(i int) { s.Update(keys[i], &keys[i]) }},
				} {
					b.Run("op="+op.name, func(b *testing.B) {
						for i := 0; b.Loop(); i++ {
							op.call(i % n)
						}
						b.ReportMetric(float64(live)/float64(n), "live-B/key")
					})
				}
				runtime.KeepAlive(s)
			})
		}
	}
}

func randomKeys(n int) []string {
	keys := make([]string, n)
	for to, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys[to] = fmt.Sprintf("object-%08d", i)
	}
	return keys
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
