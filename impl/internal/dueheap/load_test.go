package dueheap

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Loaded nodes come in the order of their times and numbers, among those that are
// put in later.
func TestLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		last := rapid.SampledFrom([]int64{0, 3, 1000, 1 << 40, math.MaxInt64 - 1}).Draw(t, "last")
		nodes := make([]Node, rapid.IntRange(0, 500).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i] = Node{At: rng.Int64N(last + 1), Seq: uint32(i), Slot: uint32(i)}
		}
		want := append([]Node(nil), nodes...)
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		var h Heap
		h.Load(nodes)
		require.Equal(t, len(want), h.Len())
		for i := range rapid.IntRange(0, 50).Draw(t, "later") {
			n := Node{At: rng.Int64N(last + 1), Seq: uint32(len(want)), Slot: uint32(i)}
			want = append(want, n)
			h.Put(n)
		}
		if len(want) > 0 {
			require.LessOrEqual(t, h.Min().At, h.Quantile(0.25))
		}
		sort.SliceStable(want, func(i, j int) bool { return want[i].At < want[j].At })
		for _, n := range want {
			require.Equal(t, n, h.Min())
			require.Equal(t, n, h.Pop())
		}
		require.Zero(t, h.Len())
	})
}

func TestQuantile(t *testing.T) {
	require.Equal(t, int64(3), Quantile([]int64{9, 1, 3, 7}, 0.25))
	require.Equal(t, int64(5), Quantile([]int64{5}, 0.9))
}
