package indexer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// contentsOf is what a view shows.
func contentsOf(w view[int]) []int {
	out := []int{}
	for i := 0; i < w.n; i += leafLen {
		out = append(out, w.part(i)...)
	}
	return out
}

// TestVectorSnapshots makes random writes and compares each live snapshot with a
// copy that was made when it was taken.
func TestVectorSnapshots(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	type taken struct {
		view view[int]
		want []int
	}
	var (
		c     clock
		v     vector[int]
		model = []int{}
		live  []taken
	)
	for step := range 60_000 {
		c.now++
		c.quiet = c.live.Load() == 0
		growing := step/15_000%2 == 0 // to 5,000 elements and back, past a node's edge
		switch op := rnd.IntN(10); {
		case op < 2 && len(model) > 0:
			i := rnd.IntN(len(model))
			model[i] = step
			v.set(uint32(i), step, &c)
		case op < 4 == growing && len(model) > 0:
			model = model[:len(model)-1]
			v.pop(&c)
		default:
			model = append(model, step)
			v.push(step, &c)
		}
		if rnd.IntN(200) == 0 {
			c.live.Add(1)
			live = append(live, taken{v.snapshot(&c), slices.Clone(model)})
		}
		if len(live) > 3 || len(live) > 0 && rnd.IntN(100) == 0 {
			i := rnd.IntN(len(live))
			require.Equal(t, live[i].want, contentsOf(live[i].view), "snapshot at step %d, seed %d", step, seed)
			live = slices.Delete(live, i, i+1)
			c.live.Add(-1)
		}
	}
	require.Equal(t, model, contentsOf(v.snapshot(&c)), "seed %d", seed)
	for len(model) > 0 {
		model = model[1:]
		v.pop(&c)
	}
	require.EqualValues(t, 1, v.used, "leaves of an empty vector")
}

func TestSlotTable(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	table := newSlotTable(0)
	model := map[uint32]uint64{} // slot → hash
	find := func(h uint64, slot uint32) bool {
		for i := range table.n { // from home on, until nothing has passed
			c := table.chunk((table.home(h) + i) % table.n)
			for m := matches(c.tags, tagOf(h)); m != 0; m &= m - 1 {
				if at := place(m); c.slots[at] == slot && c.hash(at) == h&(1<<(tagBits+restBits)-1) {
					return true
				}
			}
			if c.lens&classOf(h) == 0 {
				return false
			}
		}
		return false
	}
	for step := range uint32(20_000) {
		if rnd.IntN(10) < 6 == (step < 10_000) || len(model) == 0 {
			h := uint64(uint32(rnd.IntN(3000)) * 0x9e3779b1) // some hashes are equal
			if table.full() {
				table = table.sized(table.larger())
			}
			model[step] = h
			table.insert(h, kept{}, step)
		} else {
			for slot, h := range model { // any
				delete(model, slot)
				to := slot + 1<<20
				table.move(h, slot, to)
				require.True(t, find(h, to), "moved entry, seed %d", seed)
				table.remove(h, to, func() {})
				require.False(t, find(h, to), "removed entry, seed %d", seed)
				break
			}
			if table.sparse() {
				table = table.sized(table.smaller())
			}
		}
		require.EqualValues(t, len(model), table.used, "seed %d", seed)
		if step%500 == 0 {
			for slot, h := range model {
				require.True(t, find(h, slot), "entry of slot %d, seed %d", slot, seed)
			}
		}
	}
	for slot, h := range model {
		table.remove(h, slot, func() {})
	}
	for i := range table.n {
		require.Zero(t, table.chunk(i).lens&passed, "what has passed chunk %d of an empty table, seed %d", i, seed)
	}
}

// inRow finds the slots that lie in a row in one leaf, and no others.
func TestInRow(t *testing.T) {
	v, c := vector[any]{}, clock{now: 1, quiet: true}
	for i := range 3 * leafLen {
		v.push(i, &c)
	}
	all := v.snapshot(&c)
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(0, 2*leafLen).Draw(t, "first")
		slots := make([]uint32, rapid.IntRange(1, leafLen).Draw(t, "slots"))
		for i := range slots {
			slots[i] = uint32(first + i)
		}
		if rapid.Bool().Draw(t, "astray") {
			slots[rapid.IntRange(0, len(slots)-1).Draw(t, "which")] = uint32(rapid.IntRange(0, 3*leafLen-1).Draw(t, "where"))
		}
		first = int(slots[0])
		var want []any
		for i := range min(len(slots), leafLen-first%leafLen) {
			if want = append(want, first+i); int(slots[i]) != first+i {
				want = nil
				break
			}
		}
		require.Equal(t, want, inRow(slots, all))
	})
}
