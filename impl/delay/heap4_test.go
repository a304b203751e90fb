package delay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/stretchr/testify/require"
)

// verify states the invariant of a heap4.
func (h *heap4[T]) verify(t *testing.T) {
	named := map[uint32]bool{}
	h.times.Filter(func(n dueheap.Node) bool {
		if h.times.Current(n) {
			named[n.Slot] = true
		}
		return true
	})
	require.Len(t, named, h.keys.Len())
	require.Equal(t, h.keys.Len(), h.times.N)
	require.LessOrEqual(t, h.times.Len(), 2*h.times.N+64)
}

// requireNext takes items out of the reference, in which each must be one that comes
// next: items of one time come in any order.
func requireNext(t *testing.T, want *binaryHeap[int], got []int) {
	for _, item := range got {
		next := want.next()
		at, waited := want.remove(0, item)
		require.True(t, waited)
		require.Equal(t, next, at)
	}
}

// A heap4 beside the reference heap, with items that are few or many and times
// that tie.
func TestHeap4MatchesHeap(t *testing.T) {
	times := map[string]func(rng *rand.Rand, now int64, step int) int64{
		"random":     func(rng *rand.Rand, now int64, _ int) int64 { return now + 1 + rng.Int64N(1<<30) },
		"exponents":  func(rng *rand.Rand, now int64, _ int) int64 { return now + 1 + rng.Int64N(1<<rng.IntN(50)) },
		"descending": func(_ *rand.Rand, now int64, step int) int64 { return max(now+1, 1<<30-int64(step)) },
		"constant":   func(_ *rand.Rand, now int64, _ int) int64 { return now + 1<<20 },
		"ties":       func(rng *rand.Rand, now int64, _ int) int64 { return max(now+1, rng.Int64N(4)<<28) },
		"two":        func(rng *rand.Rand, now int64, _ int) int64 { return now + 1 + rng.Int64N(2)*rng.Int64N(2)<<40 },
	}
	for name, at := range times {
		for _, keys := range []int{20, 3000, 20_000} {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("%s/keys=%d/seed=%d", name, keys, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 0))
				h, want := newHeap4[int](), newBinaryHeap[int]()
				now := int64(1)
				for step := range 3 * keys {
					key, at := rng.IntN(keys), at(rng, now, step)
					h.add(h.hash(key), key, now, at)
					want.add(0, key, now, at)
					if rng.IntN(20) == 0 {
						now = max(now, want.next())
						got := h.due(now, nil, 1+rng.IntN(keys/10))
						require.Equal(t, want.next() <= now, len(got) > 0)
						requireNext(t, want, got)
						require.LessOrEqual(t, h.next(), want.next())
					}
					if step%(keys/4) == 0 {
						h.verify(t)
					}
				}
				for want.next() != never {
					now = want.next() + 1<<rng.IntN(30)
					requireNext(t, want, allDue(h, now))
					require.Less(t, now, want.next())
				}
				h.verify(t)
				require.Equal(t, int64(never), h.next())
			})
		}
	}
}
