package indexer

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeyColumn compares a column of keys of many lengths, and snapshots of it that
// are held while it changes, with a slice.
func TestKeyColumn(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	var c clock
	var v keyColumn
	var model []string
	type held struct {
		w    keyView
		want []string
	}
	var snapshots []held
	for step := range 5_000 {
		c.now++
		c.quiet = c.live.Load() == 0
		key := strings.Repeat("k", rnd.IntN(2*long)) + string(rune('a'+rnd.IntN(26)))
		switch n := uint32(len(model)); {
		case n == 0 || rnd.IntN(5) < 2:
			v.push(keptOf(key), &c)
			model = append(model, key)
		case rnd.IntN(3) == 0:
			v.pop(&c)
			model = model[:n-1]
		default:
			i := rnd.Uint32N(n)
			v.set(i, keptOf(key), &c)
			model[i] = key
			require.Equal(t, key, v.at(i).key(), "seed %d", seed)
		}
		if step%50 == 0 {
			c.live.Add(1)
			snapshots = append(snapshots, held{v.snapshot(&c), append([]string{}, model...)})
		}
		if len(snapshots) > 3 {
			require.Equal(t, snapshots[0].want, snapshots[0].w.all(), "seed %d", seed)
			snapshots = snapshots[1:]
			c.live.Add(-1)
		}
	}
	for i, key := range model {
		require.Equal(t, key, v.snapshot(&c).key(uint32(i)), "seed %d", seed)
	}
}
