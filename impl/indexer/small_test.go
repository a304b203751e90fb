package indexer

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestGetBesideGrowth looks up objects that stay while a store grows from one stripe
// to many, by single writes and by transactions, and is replaced by few again.
func TestGetBesideGrowth(t *testing.T) {
	const few, many = 5, 600
	objs := make([]any, many)
	for i := range objs {
		objs[i] = pod(i, i)
	}
	key := func(i int) string { return fmt.Sprintf("ns%d/pod%d", i%4, i) }
	x := podsIndexer(t, 0)
	require.NoError(t, x.Replace(objs[:few], "1"))
	var reading sync.WaitGroup
	var done atomic.Bool
	for reader := range 2 {
		reading.Go(func() {
			for i := reader; !done.Load(); i = (i + 1) % many {
				obj, exists, _ := x.GetByKey(key(i))
				if i < few && !exists || exists && obj != objs[i] {
					t.Errorf("%v, %t were found under %s", obj, exists, key(i))
					return
				}
			}
		})
	}
	for round := range 30 {
		small := x.store.contents.Load()
		for begin, end := few, few; begin < many; begin = end {
			end = min(begin+1+round%3*50, many)
			var txns []cache.Transaction
			for _, obj := range objs[begin:end] {
				txns = append(txns, cache.Transaction{Type: cache.TransactionTypeAdd, Object: obj})
			}
			require.Nil(t, x.Transaction(txns...))
			require.NoError(t, x.Delete(objs[begin]))
			require.NoError(t, x.Add(objs[begin]))
		}
		require.ElementsMatch(t, objs, x.List())
		require.True(t, small.stripes[0].stale, "a Get that has come by the small contents begins again")
		require.Len(t, x.store.contents.Load().stripes, manyStripes)
		require.NoError(t, x.store.validate())
		require.NoError(t, x.Replace(objs[:few], "1"))
	}
	done.Store(true)
	reading.Wait()
}

// TestSnapshotOutlivesGrowth iterates over a small store that grows meanwhile.
func TestSnapshotOutlivesGrowth(t *testing.T) {
	for _, n := range []int{1, 4, 5, 16, 31, 33, 200} {
		x := podsIndexer(t, n)
		byIndex, err := x.AllByIndex(cache.NamespaceIndex, "ns0")
		require.NoError(t, err)
		for name, all := range map[string]func(func(any) bool){"All": x.All(), "AllByIndex": byIndex} {
			seen, next := 0, 1000
			for obj := range all {
				seen++
				assert.Equal(t, "1", obj.(*corev1.Pod).ResourceVersion, "%s of %d", name, n)
				for range 300 {
					require.NoError(t, x.Add(pod(next, 2)))
					next++
				}
			}
			want := n
			if name == "AllByIndex" {
				want = (n + 3) / 4
			}
			assert.Equal(t, want, seen, "%s of %d", name, n)
			for i := 1000; i < next; i++ {
				_, exists, _ := x.GetByKey(fmt.Sprintf("ns%d/pod%d", i%4, i))
				require.True(t, exists)
				require.NoError(t, x.Delete(pod(i, 3)))
			}
			require.Len(t, x.List(), n)
		}
	}
}
