package keytable

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// check verifies the invariants of index and slab.
func check[K comparable, V any](t require.TestingT, table *Table[K, V]) {
	refs, all := map[uint32]bool{}, 0
	for _, g := range table.groups {
		held := int(g.counts % onePassed)
		for i, ref := range g.refs {
			if i >= held {
				require.Zero(t, ref, "references are counted and packed to the front")
				require.Zero(t, g.tags[i])
				continue
			}
			require.NotZero(t, g.tags[i])
			slot := ref&table.slotMask - 1
			require.False(t, refs[slot], "slot %d is referred to twice (word %d)", slot, i)
			require.True(t, table.Holds(slot), "slot %d is free", slot)
			refs[slot] = true
			all++
		}
	}
	if table.small.Load() {
		require.Empty(t, refs)
		require.Zero(t, table.live)
		for _, g := range table.groups {
			require.Zero(t, g, "an empty index can be used as it is")
		}
	}
	require.Equal(t, all, table.used)
	if table.first == nil {
		require.True(t, table.small.Load())
		require.Empty(t, table.blocks)
		require.Zero(t, table.Len())
		return
	}
	require.Same(t, table.first, table.blocks[0].chunk)
	require.Zero(t, table.blocks[0].free&allFew, "the first slots are not given out by take")
	live, empty, indexed := 0, 0, 0
	partial, dropped, vacant := set(table.partial), set(table.dropped), set(table.vacant)
	for i, b := range table.blocks {
		n := uint32(i)
		live += bits.OnesCount64(table.taken(i))
		if b.chunk == nil {
			require.Equal(t, uint64(allFree), b.free)
			require.True(t, dropped[n], "block %d without a chunk can be found", i)
			continue
		}
		if b.free != 0 && n != table.current {
			require.True(t, partial[n], "block %d with a free slot can be found", i)
		}
		if b.free == uint64(allFree) && n != table.current {
			empty++
			require.True(t, vacant[n], "empty block %d can be dropped", i)
		}
		var zeroKey K
		for s := range chunkLen {
			if table.taken(i)&(1<<s) == 0 {
				require.Equal(t, zeroKey, b.chunk.keys[s], "a free slot holds no key")
			} else if key := b.chunk.keys[s]; key == key && !table.small.Load() {
				require.Equal(t, table.hashOf(key), b.chunk.hashes[s])
				require.True(t, refs[n*blockLen+uint32(s)], "slot %d is referred to", s)
				indexed++
			}
		}
	}
	require.Equal(t, indexed, table.used)
	require.Equal(t, live, table.Len())
	require.Equal(t, empty, table.empty)
}

func set(s []uint32) map[uint32]bool {
	m := map[uint32]bool{}
	for _, v := range s {
		m[v] = true
	}
	return m
}

// model drives a table beside a Go map.
type model struct {
	table *Table[int, int]
	slots map[int]uint32
}

func (m model) insert(t require.TestingT, key int) {
	h := m.table.Hash(key)
	find := m.table.Find
	if key%2 == 0 {
		find = m.table.Enter
	}
	slot, ok := find(h, key)
	want, wantOK := m.slots[key]
	require.Equal(t, wantOK, ok)
	if ok {
		require.Equal(t, want, slot)
		return
	}
	if key%2 != 0 {
		slot = m.table.Insert(h, key)
	}
	require.Zero(t, *m.table.At(slot), "the value of a new slot, which nobody else has")
	*m.table.At(slot) = key*10 + 1
	m.slots[key] = slot
}

func (m model) remove(t require.TestingT, key int) {
	h := m.table.Hash(key)
	slot, ok := m.table.Find(h, key)
	_, wantOK := m.slots[key]
	require.Equal(t, wantOK, ok)
	if ok {
		m.table.Remove(slot)
		delete(m.slots, key)
	}
}

func (m model) check(t require.TestingT) {
	check(t, m.table)
	require.Equal(t, len(m.slots), m.table.Len())
	seen := map[int]uint32{}
	for slot, v := range m.table.All() {
		key := m.table.Key(slot)
		require.Equal(t, key*10+1, *v)
		seen[key] = slot
	}
	require.Equal(t, m.slots, seen)
}

func TestTableMatchesMap(t *testing.T) {
	hashes := map[string]func(int) uint32{
		"seeded":    nil,
		"one group": func(k int) uint32 { return uint32(k) * 0x9e3779b1 >> 10 },
		"equal":     func(int) uint32 { return math.MaxUint32 },
		"few":       func(k int) uint32 { return uint32(k%7) * 0x24924924 },
	}
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := model{New[int, int](), map[int]uint32{}}
				m.table.hash = hash
				keys := rapid.IntRange(1, 300).Draw(t, "keys")
				for _, op := range rapid.SliceOfN(rapid.IntRange(-keys, keys), 0, 600).Draw(t, "ops") {
					if op >= 0 {
						m.insert(t, op)
					} else {
						m.remove(t, -op)
					}
				}
				m.check(t)
			})
		})
	}
}

// seeded is a random source whose seed is told if the test fails.
func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rnd
}

// Long histories around the sizes at which the index grows, overflows and is
// left for the small table.
func TestLongHistoriesMatchMap(t *testing.T) {
	rnd := seeded(t)
	for round := range 60 {
		m := model{New[int, int](), map[int]uint32{}}
		keys := []int{6, 13, 26, 30, 120, 1000}[round%6]
		if round%2 == 1 { // crowd the ends of the hash space
			m.table.hash = func(k int) uint32 { return uint32(k%3) << 30 }
		}
		for range 4 {
			fill := 1 + rnd.IntN(9)
			for range 500 {
				if key := rnd.IntN(keys); rnd.IntN(10) < fill {
					m.insert(t, key)
				} else {
					m.remove(t, key)
				}
			}
			m.check(t)
		}
	}
}

// Whatever comes after many removals in a row, no key is lost or found that is gone, and
// the index stays in proportion.
func TestLongRunsMatchMap(t *testing.T) {
	rnd := seeded(t)
	const keys = 5000
	for round := range 4 {
		m := model{New[int, int](), map[int]uint32{}}
		if round%4 > 1 { // groups that overflow, and references alike
			m.table.hash = func(k int) uint32 { return uint32(k%keys/20) * 0x9e3779b1 }
		}
		for k := range keys {
			m.insert(t, k)
		}
		for k := range keys / 2 {
			m.remove(t, k)
		}
		for range 10 {
			run, first := 1+rnd.IntN(keys/2), rnd.IntN(keys)
			step := m.insert
			if rnd.IntN(2) == 0 {
				step = m.remove
			}
			for i := range run {
				step(t, (first+i*7)%keys)
			}
			m.check(t)
			require.LessOrEqual(t, len(m.table.groups), 8*keys/maxMean)
		}
		for k := range keys {
			m.remove(t, k)
		}
		m.check(t)
		require.Zero(t, m.table.used)
		require.True(t, m.table.small.Load())
	}
}

// Keys that come and go in turns do not make the index larger and larger.
func TestIndexIsBounded(t *testing.T) {
	const held, turn = 5000, 1000
	m := model{New[int, int](), map[int]uint32{}}
	for k := range held {
		m.insert(t, k)
	}
	size := 0
	for k := held; k < 30*held; k += turn {
		for i := range turn {
			m.insert(t, k+i)
		}
		for i := range turn {
			m.remove(t, k+i)
		}
		size = max(size, len(m.table.groups))
	}
	require.LessOrEqual(t, size*maxMean, 4*(held+turn))
	m.check(t)
}

// In an index of few groups references may have passed over every group; the
// search for a key that is not there must end all the same.
func TestSearchEndsWhenEveryGroupOverflowed(t *testing.T) {
	table := New[int, int]()
	home := uint32(0)
	table.hash = func(k int) uint32 { return home<<31 | uint32(k) }
	slots := map[int]uint32{}
	insert := func(from, to int) {
		for k := from; k < to; k++ {
			slots[k] = table.Insert(table.Hash(k), k)
		}
	}
	insert(0, 8)
	table.rebuild(2)
	table.limit = 2 * maxMean
	insert(8, groupLen+1) // one passes from the first group into the second
	require.Len(t, table.groups, 2)
	for k := range 8 {
		table.Remove(slots[k])
	}
	home = 1
	insert(16, 16+groupLen) // and one from the second into the first
	require.GreaterOrEqual(t, table.groups[0].counts, uint32(onePassed))
	require.GreaterOrEqual(t, table.groups[1].counts, uint32(onePassed))
	for _, home = range []uint32{0, 1} {
		_, ok := table.Find(table.hashOf(99), 99)
		require.False(t, ok)
	}
}

// A match is every reference with the tag, perhaps another one, but never an
// empty place.
func TestMatchFindsEveryTag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfN(rapid.Map(rapid.Uint32Range(0, 6), func(h uint32) uint8 { return tagOf(h << 8) }), 0, groupLen).Draw(t, "tags")
		tag := tagOf(rapid.Uint32Range(0, 6).Draw(t, "hash") << 8)
		var g group
		copy(g.tags[:], tags)
		found := map[int]bool{}
		for m := g.match(tag); m != 0; m &= m - 1 {
			require.Less(t, at(m), len(tags))
			found[at(m)] = true
		}
		for i := range tags {
			if tags[i] == tag {
				require.True(t, found[i], "place %d", i)
			}
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("0123456789\x80\x81\x82"), uint8(1))
	f.Fuzz(func(t *testing.T, ops []byte, spread uint8) {
		m := model{New[int, int](), map[int]uint32{}}
		m.table.hash = func(k int) uint32 { return uint32(k%(int(spread)+1)) << 24 }
		for _, op := range ops {
			if op < 0x80 {
				m.insert(t, int(op))
			} else {
				m.remove(t, int(op&0x7f))
			}
		}
		m.check(t)
	})
}

// A burst grows index and slab, and ends with both small again, whatever the
// order of removal; keys that stay are still found.
func TestMemoryIsGivenBack(t *testing.T) {
	const n = 60_000
	orders := map[string]func(i int) int{
		"first in first out": func(i int) int { return i },
		"last in first out":  func(i int) int { return n - 1 - i },
		"scattered":          func(i int) int { return i * 7919 % n },
	}
	for name, order := range orders {
		for _, stay := range []int{0, 100} {
			t.Run(fmt.Sprintf("%s/stay=%d", name, stay), func(t *testing.T) {
				table := New[int, uint32]()
				for i := range n {
					table.Insert(table.Hash(i), i)
				}
				check(t, table)
				require.LessOrEqual(t, len(table.groups)*groupLen, n*2)
				for i := range n - stay {
					k := order(i)
					h := table.Hash(k)
					slot, ok := table.Find(h, k)
					if !ok {
						t.Fatalf("key %d is lost", k)
					}
					table.Remove(slot)
				}
				check(t, table)
				for i := n - stay; i < n; i++ {
					_, ok := table.Find(table.Hash(order(i)), order(i))
					require.True(t, ok)
				}
				chunks := 0
				for _, b := range table.blocks {
					if b.chunk != nil {
						chunks++
					}
				}
				require.LessOrEqual(t, chunks, 2*spare/blockLen+stay+1)
				require.LessOrEqual(t, len(table.groups), minGroups)
				for i := range n { // and it can grow again
					if _, ok := table.Find(table.Hash(i), i); !ok {
						table.Insert(table.Hash(i), i)
					}
				}
				check(t, table)
				require.Equal(t, n, table.Len())
			})
		}
	}
}

func TestKeysThatDifferFromThemselves(t *testing.T) {
	type pair struct {
		name string
		load float64
	}
	table := New[pair, int]()
	nan := pair{"a", math.NaN()}
	var slots []uint32
	for range 1000 {
		slot, ok := table.Enter(table.Hash(nan), nan)
		require.False(t, ok)
		slots = append(slots, slot)
		_, ok = table.Find(table.Hash(nan), nan)
		require.False(t, ok)
	}
	same := pair{"a", 1}
	table.Insert(table.Hash(same), same)
	check(t, table)
	require.Equal(t, 1001, table.Len())
	for _, s := range slots {
		table.Remove(s)
	}
	check(t, table)
	require.Equal(t, 1, table.Len())
	_, ok := table.Find(table.Hash(same), same)
	require.True(t, ok)
}

// TestEnter fills a table by Enter alone, past every width of its slot numbers.
func TestEnter(t *testing.T) {
	table := New[int, int]()
	const n = 20_000
	for _, there := range []bool{false, true} {
		seen := map[uint32]bool{}
		for k := range n {
			slot, found := table.Enter(table.Hash(k), k)
			require.Equal(t, there, found)
			require.Equal(t, k, table.Key(slot))
			seen[slot] = true
		}
		check(t, table)
		require.Len(t, seen, n)
		require.Equal(t, n, table.Len())
	}
}

func TestRemovedKeysAreNotKeptAlive(t *testing.T) {
	table := New[*[64]int, *int]()
	const n = 300
	collected := make(chan struct{}, n)
	func() {
		for range n {
			key := new([64]int)
			runtime.AddCleanup(key, func(struct{}) { collected <- struct{}{} }, struct{}{})
			h := table.Hash(key)
			slot := table.Insert(h, key)
			*table.At(slot) = &key[0]
			table.Remove(slot)
		}
	}()
	runtime.GC()
	for range n {
		<-collected
	}
	runtime.KeepAlive(table)
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	table := New[string, uint32]()
	keys := make([]string, 5000)
	for i := range keys {
		keys[i] = fmt.Sprintf("default/pod-%d", i)
	}
	window := func() {
		for _, k := range keys[:4000] {
			table.Insert(table.Hash(k), k)
		}
		for _, k := range keys[:4000] {
			h := table.Hash(k)
			slot, _ := table.Find(h, k)
			table.Remove(slot)
		}
	}
	window()
	require.Zero(t, testing.AllocsPerRun(10, window))
}

func TestUnhashableKeyPanicsAsInAMap(t *testing.T) {
	table := New[any, int]()
	require.Panics(t, func() { table.Hash([]int{1}) })
	require.NotPanics(t, func() { table.Hash(1) })
}

func TestClear(t *testing.T) {
	table := New[int, int]()
	seed := table.seed
	for range 2 {
		for i := range 1000 {
			table.Insert(table.Hash(i), i)
		}
		hash := table.Hash(7)
		table.Clear()
		check(t, table)
		require.Equal(t, 0, table.Len())
		require.Empty(t, table.blocks)
		_, found := table.Find(hash, 7)
		require.False(t, found)
		slot, found := table.Enter(hash, 7)
		require.False(t, found)
		require.Equal(t, 7, table.Key(slot))
		table.Clear()
	}
	require.Equal(t, seed, table.seed, "who hashed before Clear may still pass that hash")
}

// A table that holds nothing yet has no memory for keys, and answers all the same.
func TestUnusedTable(t *testing.T) {
	table := New[string, int]()
	check(t, table)
	require.Nil(t, table.first)
	_, found := table.Find(table.Hash("a"), "a")
	require.False(t, found)
	require.False(t, table.Holds(0))
	for range table.All() {
		t.Fatal("an entry")
	}
	slot, found := table.Enter(table.Hash("a"), "a")
	require.False(t, found)
	require.Equal(t, "a", table.Key(slot))
	check(t, table)
}
