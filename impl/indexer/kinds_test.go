package indexer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// ours are all indexers of this package.
var ours = map[string]func(cache.KeyFunc, cache.Indexers) cache.Indexer{
	"locked":   asIndexer(NewLocked),
	"sharded":  asIndexer(NewSharded),
	"snapshot": asIndexer(NewSnapshot),
}

// valid checks the invariants of an indexer that can tell them.
func valid(t *testing.T, x cache.Indexer) {
	if s, ok := x.(*Snapshot); ok {
		require.NoError(t, s.store.validate())
	}
}

func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryIsBoundedByWhatIsStored lets objects come and go in each pattern, of
// values that many share and of one an object, and expects what is left to take about
// as much as it does in a store that never held more.
func TestMemoryIsBoundedByWhatIsStored(t *testing.T) {
	const n, left = 15_000, 40
	indexers := cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"name":               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil },
		"several": func(obj any) ([]string, error) {
			return []string{"all", obj.(*corev1.Pod).Name, obj.(*corev1.Pod).Namespace}, nil
		},
	}
	seed := rand.Uint64()
	patterns := map[string]func(x cache.Indexer, pods []any){
		"oldest first": func(x cache.Indexer, pods []any) {
			for _, p := range pods {
				_ = x.Delete(p)
			}
		},
		"newest first": func(x cache.Indexer, pods []any) {
			for i := range pods {
				_ = x.Delete(pods[len(pods)-1-i])
			}
		},
		"at random": func(x cache.Indexer, pods []any) {
			for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(pods)) {
				_ = x.Delete(pods[i])
			}
		},
		"by transactions": func(x cache.Indexer, pods []any) {
			for _, p := range pods {
				x.(cache.TransactionStore).Transaction(cache.Transaction{Type: cache.TransactionTypeDelete, Object: p})
			}
		},
		"twice": func(x cache.Indexer, pods []any) {
			for range 2 {
				for _, p := range pods {
					_ = x.Delete(p)
					_ = x.Add(p)
				}
			}
			for _, p := range pods {
				_ = x.Delete(p)
			}
		},
	}
	pods := make([]any, n)
	for i := range pods {
		pods[i] = pod(i, 1)
	}
	for name, new := range ours {
		for pattern, drop := range patterns {
			for _, keep := range []int{0, n - left} { // the first or the last stay
				t.Run(fmt.Sprintf("%s/%s/keep=%d", name, pattern, keep), func(t *testing.T) {
					stay := pods[keep : keep+left]
					before := liveBytes()
					small := new(cache.MetaNamespaceKeyFunc, indexers)
					for _, p := range stay {
						_ = small.Add(p)
					}
					needed := liveBytes() - before
					x := new(cache.MetaNamespaceKeyFunc, indexers)
					for _, p := range pods {
						_ = x.Add(p)
					}
					drop(x, append(append([]any{}, pods[:keep]...), pods[keep+left:]...))
					assert.Less(t, liveBytes()-before-needed, 4*needed+64<<10, "bytes of %d objects left, %d are needed, seed %d", left, needed, seed)
					assert.ElementsMatch(t, stay, x.List())
					valid(t, x)
					runtime.KeepAlive(small)
					runtime.KeepAlive(x)
				})
			}
		}
	}
}

// TestAddIndexersRunsTheAddedOnly counts the calls of index functions.
func TestAddIndexersRunsTheAddedOnly(t *testing.T) {
	for name, new := range ours {
		t.Run(name, func(t *testing.T) {
			calls := map[string]int{}
			counting := func(name string) cache.Indexers {
				return cache.Indexers{name: func(obj any) ([]string, error) {
					calls[name]++
					return []string{obj.(*corev1.Pod).Namespace, name}, nil
				}}
			}
			x := new(cache.MetaNamespaceKeyFunc, counting("old"))
			for i := range 100 {
				require.NoError(t, x.Add(pod(i, 1)))
			}
			before := calls["old"]
			require.NoError(t, x.AddIndexers(counting("new")))
			assert.Equal(t, before, calls["old"], "calls of the function that was there")
			assert.Equal(t, 100, calls["new"], "calls of the added function")
			assert.Error(t, x.AddIndexers(counting("old")))
			for _, index := range []string{"old", "new"} {
				objs, err := x.ByIndex(index, index)
				require.NoError(t, err)
				assert.Len(t, objs, 100, index)
			}
			valid(t, x)
		})
	}
}

// TestSharedBetweenBubbles contends for one indexer inside several synctest bubbles
// and outside of them.
func TestSharedBetweenBubbles(t *testing.T) {
	for name, new := range ours {
		t.Run(name, func(t *testing.T) {
			x := new(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			contend := func(*testing.T) {
				done := make(chan struct{})
				for g := range 4 {
					go func() {
						defer func() { done <- struct{}{} }()
						for i := range 500 {
							_ = x.Update(pod((i*4+g)%300, i))
							x.List()
							_, _ = x.ByIndex(cache.NamespaceIndex, "ns1")
							_, _, _ = x.GetByKey("ns1/pod1")
							_ = x.Delete(pod(i%300, i))
						}
					}()
				}
				for range 4 {
					<-done
				}
			}
			var outside sync.WaitGroup
			outside.Go(func() { contend(t) })
			for range 3 {
				synctest.Test(t, contend)
			}
			outside.Wait()
			valid(t, x)
		})
	}
}
