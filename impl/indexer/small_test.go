package indexer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestSmallVectorSnapshots grows vectors from nothing while there are snapshots of
// them, as the first leaf is another each time it grows.
func TestSmallVectorSnapshots(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var c clock
		var v vector[int]
		var views []view[int]
		var want [][]int
		model := []int{}
		for step := range 100 {
			c.now++
			c.quiet = c.live.Load() == 0
			switch i := rnd.IntN(10); {
			case i < 6:
				model = append(model, step)
				v.push(step, &c)
			case i < 8 && len(model) > 0:
				at := rnd.IntN(len(model))
				model[at] = step
				v.set(uint32(at), step, &c)
			case len(model) > 0:
				model = model[:len(model)-1]
				v.pop(&c)
			}
			if rnd.IntN(8) == 0 {
				c.live.Add(1)
				views, want = append(views, v.snapshot(&c)), append(want, slices.Clone(model))
			}
		}
		for i := range views {
			require.Equal(t, want[i], contentsOf(views[i]), "seed %d", seed)
		}
		require.Equal(t, model, contentsOf(v.snapshot(&c)), "seed %d", seed)
	}
}

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
		small := x.store.data.Load()
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
		require.NotZero(t, small.numbered(0).seq.Load()%2, "a Get that has come by the small contents begins again")
		d := x.store.data.Load()
		require.EqualValues(t, stripeCount-1, d.stripes)
		for i := range d.stripes + 1 {
			require.Zero(t, d.numbered(i).seq.Load()%2, "stripe %d", i)
		}
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
