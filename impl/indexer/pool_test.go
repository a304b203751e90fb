package indexer

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPoolKeepsPlaces compares a pool with a map of places, and expects it to give
// up what nobody uses.
func TestPoolKeepsPlaces(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewSource(seed))
	var p pool[refs]
	c := &clock{now: 1, quiet: true}
	want, taken := map[uint32]refs{}, []uint32{}
	for i := range uint32(5000) {
		if len(taken) == 0 || rnd.Intn(2000) < 1000-len(taken) {
			e := refs{{i, i}}
			place := p.take(e, c)
			require.NotContains(t, want, place, "seed %d", seed)
			want[place], taken = e, append(taken, place)
		} else {
			at, last := rnd.Intn(len(taken)), len(taken)-1
			p.give(taken[at], c)
			delete(want, taken[at])
			taken[at], taken = taken[last], taken[:last]
		}
		for place, e := range want {
			require.Equal(t, e, p.at(place), "seed %d", seed)
		}
	}
	for _, place := range taken {
		p.give(place, c)
	}
	require.Zero(t, p.n)
	require.Empty(t, p.free)
}
