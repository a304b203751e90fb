package fifo

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeyed compares a keyed FIFO with a map and a slice, across the wrap-around
// of positions and with tags that collide.
func TestKeyed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var k keyed[int]
	k.slots.head = ^position(0) &^ (segmentLen - 1) // the last segment before the wrap-around
	k.slots.tail = k.slots.head
	// Few tags, so that probes run over each other's cells.
	tag := func(key string) uint32 { return tagOf(uint64(key[len(key)-1]%5) << 33) }
	var order []string
	values := map[string]int{}
	for step := range 20_000 {
		grow := step%4000 < 2500
		if key := fmt.Sprint("key-", rnd.IntN(300)); grow && rnd.IntN(3) > 0 || len(order) == 0 {
			_, s := k.find(tag(key), []byte(key))
			require.Equal(t, values[key] != 0, s != nil, "find %s", key)
			if s == nil {
				s = k.push(tag(key), []byte(key))
				order = append(order, key)
			}
			s.value, values[key] = step+1, step+1
			continue
		}
		at := k.slots.head
		s := k.slots.at(at)
		require.Equal(t, order[0], string(k.key(at)))
		require.Equal(t, values[order[0]], s.value)
		delete(values, order[0])
		order = order[1:]
		k.index.remove(s.tag, at)
		k.slots.drop()
		require.Equal(t, len(order), k.slots.len())
		require.Equal(t, len(order), k.index.used)
	}
}

// TestBurstGivesMemoryBack fills and drains: what is left fits a batch.
func TestBurstGivesMemoryBack(t *testing.T) {
	const burst = 100_000
	k := keyed[int]{seed: maphash.MakeSeed()}
	for i := range burst {
		key := fmt.Appendf(nil, "key-%d", i)
		k.push(k.tag(key), key)
	}
	require.Len(t, k.slots.dir, burst/segmentLen+1)
	for range burst {
		at := k.slots.head
		k.index.remove(k.slots.at(at).tag, at)
		k.slots.drop()
	}
	require.LessOrEqual(t, cap(k.slots.dir), 2*segmentLen, "the directory")
	require.LessOrEqual(t, len(k.index.cells), keptCells, "the index")
	require.LessOrEqual(t, k.slots.spares, maxSpares)
	segments := 0
	for s := k.slots.spare; s != nil; s = s.next {
		segments++
	}
	require.Equal(t, k.slots.spares, segments)
}
