package dueheap

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The heap beside a slice kept in stable order, with few distinct times so that
// ties are common.
func TestHeapMatchesSortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap
		var want []Node
		slot := uint32(0)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 6:
				at := rapid.Int64Range(0, 20).Draw(t, "at")
				slot++
				h.Push(at, slot)
				want = append(want, Node{At: at, Slot: slot})
				sort.SliceStable(want, func(i, j int) bool { return want[i].At < want[j].At })
			case op < 9:
				if len(want) == 0 {
					continue
				}
				require.Equal(t, want[0].Slot, h.Min().Slot)
				require.Equal(t, want[0].At, h.Pop().At)
				want = want[1:]
			default:
				bit := rapid.Uint32Range(0, 1).Draw(t, "parity kept")
				h.Filter(func(n Node) bool { return n.Slot%2 == bit })
				kept := want[:0]
				for _, n := range want {
					if n.Slot%2 == bit {
						kept = append(kept, n)
					}
				}
				want = kept
			}
			require.Equal(t, len(want), h.Len())
			for i := root + 1; i < h.end; i++ {
				require.False(t, h.node(i).before(*h.node(i/4 + 2)), "node %d is before its parent", i)
			}
		}
		for _, n := range want {
			require.Equal(t, n.Slot, h.Pop().Slot)
		}
	})
}

// Gathered nodes come in order among those that are pushed later and before,
// and those of one time in the order of insertion; Filter and Len know them.
func TestGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Heap{seq: rapid.SampledFrom([]uint32{0, 1<<31 - 500, ^uint32(0) - 500}).Draw(t, "seq")}
		last := rapid.SampledFrom([]int64{0, 3, 1000, 1 << 40}).Draw(t, "last")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var want []Node
		slot := uint32(0)
		push := func(n int) {
			for range n {
				at := rng.Int64N(2*last+1) - last
				h.Push(at, slot)
				want = append(want, Node{At: at, Slot: slot})
				slot++
			}
			sort.SliceStable(want, func(i, j int) bool { return want[i].At < want[j].At })
		}
		pop := func(n int) {
			for range min(n, h.Len()) {
				require.Equal(t, want[0].Slot, h.Min().Slot)
				require.Equal(t, want[0].Slot, h.Pop().Slot)
				want = want[1:]
			}
		}
		push(2 * gatherLen)
		for range 3 {
			h.Gather(rng.Int64N(2*last+1) - last)
			require.Equal(t, len(want), h.Len())
			pop(rng.IntN(200))
			push(rng.IntN(gatherLen))
			pop(rng.IntN(200))
			h.Filter(func(n Node) bool { return n.Slot%5 != 0 })
			want = slices.DeleteFunc(want, func(n Node) bool { return n.Slot%5 == 0 })
		}
		push(gatherLen)
		h.Gather(last)
		require.Equal(t, len(want), len(h.run), "all are due")
		pop(len(want))
		require.Zero(t, h.Len())
	})
}

// A heap of several chunks, filled and emptied in part, keeps order and gives
// chunks back.
func TestLargeHeap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var h Heap
	for range 3 {
		for slot := range uint32(10 * chunkLen) {
			h.Push(rng.Int64N(1<<40), slot)
		}
		last := int64(0)
		for h.Len() > 6*chunkLen {
			at := h.Pop().At
			require.GreaterOrEqual(t, at, last)
			last = at
		}
		h.Filter(func(n Node) bool { return n.Slot%3 == 0 })
		require.LessOrEqual(t, len(h.chunks), h.Len()/chunkLen+3)
		for last = 0; h.Len() > chunkLen/2; last = h.Min().At {
			require.GreaterOrEqual(t, h.Pop().At, last)
		}
		require.LessOrEqual(t, len(h.chunks), 2)
	}
	h.Clear()
	require.Zero(t, h.Len())
	h.Push(1, 1)
	require.Equal(t, uint32(1), h.Pop().Slot)
}

func TestSequenceWraps(t *testing.T) {
	h := Heap{seq: ^uint32(0) - 1}
	for slot := range uint32(4) {
		h.Push(7, slot)
	}
	for slot := range uint32(4) {
		require.Equal(t, slot, h.Pop().Slot)
	}
}
