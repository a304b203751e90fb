package dueheap

import (
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
			for i := root + 1; i < len(h.nodes); i++ {
				require.False(t, h.nodes[i].before(h.nodes[i/4+2]), "node %d is before its parent", i)
			}
		}
		for _, n := range want {
			require.Equal(t, n.Slot, h.Pop().Slot)
		}
	})
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
