package delay

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// verify checks the invariant of a table.
func (t *table[T, V]) verify(tb require.TestingT) {
	words := 0
	for i, word := range t.index {
		if word == 0 {
			continue
		}
		words++
		require.True(tb, t.holds(uint32(word)-1), "word %d names a free slot", i)
		for j := home(uint32(word>>32), len(t.index)); j != i; j = (j + 1) % len(t.index) {
			require.NotZero(tb, t.index[j], "word %d is cut off from its home", i)
		}
	}
	require.Equal(tb, t.words, words)
	require.LessOrEqual(tb, words, len(t.index)-len(t.index)/4)
	inOpen, vacant, live := map[uint32]int{}, 0, 0
	for _, c := range t.open {
		inOpen[c]++
	}
	for c := range t.chunks {
		for i := range uint32(chunkLen) {
			if t.holds(uint32(c)<<chunkBits | i) {
				live++
			}
		}
		want := 0
		if uint32(c) != t.current && t.free[c] != 0 {
			want = 1
			if t.chunks[c] != nil && t.free[c] == allFree {
				vacant++
			}
		}
		require.Equal(tb, want, inOpen[uint32(c)], "chunk %d in open", c)
	}
	require.Equal(tb, t.vacant, vacant)
	require.Equal(tb, t.live, live)
}

// The table beside a map, with few distinct hashes so that they are often equal.
func TestTableMatchesMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := newTable[int, int64](), map[int]uint32{}
		spread := rapid.SampledFrom([]uint32{0, 1, 1 << 31, 1 << 20, math.MaxUint32}).Draw(t, "hash bits")
		hash := func(key int) uint32 { return uint32(key) * 2654435769 & spread }
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			from, n := rapid.IntRange(0, 400).Draw(t, "from"), rapid.IntRange(1, 60).Draw(t, "keys")
			add := rapid.Bool().Draw(t, "add")
			for key := from; key < from+n; key++ {
				slot, waits := want[key]
				switch {
				case add:
					got, found := table.enter(hash(key), key)
					require.Equal(t, waits, found)
					if !found {
						*table.value(got) = int64(key)
						want[key] = got
					}
				case waits:
					table.remove(hash(key), slot)
					delete(want, key)
				}
			}
			table.verify(t)
			for key, slot := range want {
				require.Equal(t, key, table.item(slot))
				require.Equal(t, int64(key), *table.value(slot))
			}
		}
	})
}

func TestTableGivesMemoryBack(t *testing.T) {
	const n = 100_000
	table, slots := newTable[string, int64](), make([]uint32, n)
	key := func(i int) string { return fmt.Sprint("key", i) }
	for i := range slots {
		slots[i], _ = table.enter(table.hash(key(i)), key(i))
	}
	table.verify(t)
	chunks := func() (n int) {
		for _, c := range table.chunks {
			if c != nil {
				n++
			}
		}
		return n
	}
	require.LessOrEqual(t, chunks(), n/chunkLen+1)
	for i := range n - 100 {
		table.remove(table.hash(key(i)), slots[i])
	}
	table.verify(t)
	require.LessOrEqual(t, chunks(), vacancies+3)
	require.LessOrEqual(t, len(table.index), smallIndex)
	for i := n - 100; i < n; i++ {
		table.remove(table.hash(key(i)), slots[i])
	}
	table.verify(t)
	slot, found := table.enter(table.hash("again"), "again")
	require.False(t, found)
	require.Equal(t, "again", table.item(slot))
}

func TestTableTakesWhatDiffersFromItself(t *testing.T) {
	table := newTable[float64, int64]()
	var slots []uint32
	for range 100 {
		slot, found := table.enter(table.hash(math.NaN()), math.NaN())
		require.False(t, found)
		slots = append(slots, slot)
	}
	table.verify(t)
	for _, slot := range slots {
		table.remove(table.hash(math.NaN()), slot)
	}
	table.verify(t)
	require.Zero(t, table.live)
}
