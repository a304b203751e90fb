package keytable

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is removed together is what was removed one by one, in small tables and in
// those where it is read beforehand.
func TestRemoveAll(t *testing.T) {
	for _, n := range []int{3, 100, 10 * warmGroups} {
		table := New[int, int]()
		slots, hashes, keys := make([]uint32, n), make([]uint32, n), make([]int, n)
		for i := range n {
			keys[i], hashes[i] = i, table.Hash(i)
		}
		for i := range n {
			slots[i], _ = table.Enter(hashes[i], i)
			*table.At(slots[i]) = i
		}
		table.Warm(hashes, keys)
		check(t, table)
		const kept = 2
		removed := table.RemoveAll(slots[kept:], []int{-1})
		require.Equal(t, append([]int{-1}, keys[kept:]...), removed)
		check(t, table)
		require.Equal(t, kept, table.Len())
		for i := range n {
			_, found := table.Find(table.Hash(i), i)
			require.Equal(t, i < kept, found)
		}
	}
}

func TestSome(t *testing.T) {
	table := New[int, int]()
	some := func(n int) (values []int) {
		seen := map[uint32]bool{}
		for slot, value := range table.Some(n) {
			require.False(t, seen[slot], "slot %d comes twice", slot)
			require.Equal(t, *value, table.Key(slot))
			seen[slot] = true
			values = append(values, *value)
		}
		return values
	}
	require.Empty(t, some(10))
	const n = 64 * blockLen
	slots := make([]uint32, n)
	for i := range n {
		slots[i], _ = table.Enter(table.Hash(i), i)
		*table.At(slots[i]) = i
	}
	values := some(32)
	require.Len(t, values, 32)
	require.Less(t, values[0], n/16)
	require.Greater(t, values[31], n-n/16, "from all over the table")
	table.RemoveAll(slots[:n-10], nil)
	for _, value := range some(32) {
		require.GreaterOrEqual(t, value, n-10)
	}
	require.NotEmpty(t, some(1))
}

func TestClear(t *testing.T) {
	for _, n := range []int{3, 1000} {
		table := New[int, int]()
		hash := table.Hash(1 << 20)
		for i := range n {
			table.Enter(table.Hash(i), i)
		}
		full := table.Hash(1 << 20)
		table.Clear()
		check(t, table)
		require.Zero(t, table.Len())
		for _, hash := range []uint32{hash, full} { // of callers that came before
			slot, found := table.Enter(hash, 1<<20)
			require.False(t, found)
			require.Zero(t, *table.At(slot))
			table.Remove(slot)
		}
		check(t, table)
	}
}
