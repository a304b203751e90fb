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
	near, nodes := map[uint32]bool{}, 0
	h.near.Filter(func(n dueheap.Node) bool {
		nodes++
		if h.current(n) {
			require.False(t, near[n.Slot], "two nodes of one item")
			near[n.Slot] = true
		}
		return true
	})
	require.Equal(t, h.outdated, nodes-len(near))
	require.LessOrEqual(t, h.outdated, len(near)+slack)
	require.LessOrEqual(t, h.horizon, h.soonest)
	for slot, w := range h.keys.All() {
		require.Equal(t, w.at() < h.horizon, near[slot])
		if !near[slot] {
			require.LessOrEqual(t, h.soonest, w.at())
		}
	}
}

// A heap4 beside the reference heap, with few items and with so many that most
// are behind the horizon, and with times that bring it closer or tie.
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
				h, want := newHeap4[int](), &binaryHeap[int]{byKey: map[int]*waiter[int]{}}
				now := int64(1)
				for step := range 3 * keys {
					key, at := rng.IntN(keys), at(rng, now, step)
					h.add(h.hash(key), key, now, at)
					want.add(0, key, now, at)
					if rng.IntN(20) == 0 {
						now = max(now, want.next())
						got := h.due(now, nil, 1+rng.IntN(keys/10))
						require.Equal(t, want.next() <= now, len(got) > 0)
						require.Equal(t, got, want.due(now, nil, len(got)))
						require.LessOrEqual(t, h.next(), want.next())
					}
					if step%(keys/4) == 0 {
						h.verify(t)
					}
				}
				for want.next() != never {
					now = want.next() + 1<<rng.IntN(30)
					require.Equal(t, allDue(want, now), allDue(h, now))
				}
				h.verify(t)
				require.Equal(t, int64(never), h.next())
			})
		}
	}
}
