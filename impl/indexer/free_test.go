package indexer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// TestFreeSlot makes random calls on a snapshot indexer and on the reference. All
// objects are listed seldom, so that deletions, new objects, growth and snapshots find
// a slot free, which is at times the last one.
func TestFreeSlot(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	indexers := cache.Indexers{"parity": func(obj any) ([]string, error) {
		if p, ok := obj.(*corev1.Pod); ok {
			return p.Finalizers, nil
		}
		return []string{"node"}, nil
	}}
	values := [][]string{nil, {"even"}, {"odd"}, {"even", "odd"}, {"node", "odd"}}
	for round := range 20 {
		x, want := NewSnapshot(cache.MetaNamespaceKeyFunc, indexers), NewLocked(cache.MetaNamespaceKeyFunc, indexers)
		n := []int{3, 40, 600}[round%3]
		both := func(call func(cache.Indexer)) { call(x); call(want) }
		for step := range 3000 {
			meta := metav1.ObjectMeta{
				Name: fmt.Sprint(rnd.IntN(n)), ResourceVersion: fmt.Sprint(step), Finalizers: values[rnd.IntN(len(values))],
			}
			var object any = &corev1.Pod{ObjectMeta: meta}
			if rnd.IntN(4) == 0 {
				object = &corev1.Node{ObjectMeta: meta}
			}
			switch kind := rnd.IntN(100); {
			case kind < 45 == (step/1000%2 == 0):
				both(func(i cache.Indexer) { require.NoError(t, i.Update(object)) })
			case kind < 90:
				both(func(i cache.Indexer) { require.NoError(t, i.Delete(object)) })
			case kind < 94:
				got, exists, _ := x.GetByKey(meta.Name)
				expected, known, _ := want.GetByKey(meta.Name)
				require.True(t, exists == known && got == expected, "%s at step %d, seed %d", meta.Name, step, seed)
			case kind < 98:
				value := []string{"even", "odd", "node"}[rnd.IntN(3)]
				got, _ := x.ByIndex("parity", value)
				expected, _ := want.ByIndex("parity", value)
				require.ElementsMatch(t, expected, got, "%s at step %d, seed %d", value, step, seed)
			case kind < 99:
				require.ElementsMatch(t, want.ListKeys(), x.ListKeys(), "step %d, seed %d", step, seed)
			default:
				require.NoError(t, x.store.validate(), "step %d, seed %d", step, seed)
				var got []any
				for o := range x.All() {
					got = append(got, o)
				}
				require.ElementsMatch(t, want.List(), got, "step %d, seed %d", step, seed)
			}
		}
		added := cache.Indexers{"name": func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }}
		both(func(i cache.Indexer) { require.NoError(t, i.AddIndexers(added)) })
		require.ElementsMatch(t, want.ListIndexFuncValues("name"), x.ListIndexFuncValues("name"), "seed %d", seed)
		require.ElementsMatch(t, want.List(), x.List(), "seed %d", seed)
		require.NoError(t, x.store.validate(), "seed %d", seed)
	}
}

// TestSpread lets stores outgrow the one table of a small store. The table that then
// takes the next key is full already in one store of thirty or so.
func TestSpread(t *testing.T) {
	for range 300 {
		x := NewSnapshot(cache.MetaNamespaceKeyFunc, nil)
		for i := range 300 {
			require.NoError(t, x.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}))
		}
		for i := range 300 {
			_, exists, err := x.GetByKey(fmt.Sprint(i))
			require.NoError(t, err)
			require.True(t, exists, "node %d", i)
		}
	}
}
