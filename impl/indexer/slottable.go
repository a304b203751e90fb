package indexer

import "sync/atomic"

// A slotTable is an open-addressing hash table from the hash of a key to the
// slot that holds the key: 8 bytes an entry, the hash's lower half and the slot
// number plus one; 0 is no entry. Probing is linear, and a removal closes the
// gap, so there are no tombstones. One goroutine writes while others may read.
type slotTable struct {
	entries []uint64 // a power of two, at most 13/16 full
	used    int
}

// minEntries is the least number of entries of a table.
const minEntries = 8

func newSlotTable(entries int) *slotTable {
	return &slotTable{entries: make([]uint64, entries)}
}

// room is the number of entries of a table for n keys.
func room(n int) int {
	size := minEntries
	for size*13/16 < n {
		size *= 2
	}
	return size
}

// next is the first slot from position i on that may hold the key of hash h, and
// the position after it. It is ok unless the table has no more.
func (t *slotTable) next(h uint64, i uint32) (slot, after uint32, ok bool) {
	mask := uint32(len(t.entries) - 1)
	for ; ; i++ {
		switch e := atomic.LoadUint64(&t.entries[i&mask]); {
		case e == 0:
			return 0, 0, false
		case uint32(e>>32) == uint32(h):
			return uint32(e) - 1, i + 1, true
		}
	}
}

// with is the table with an entry from h to slot, and a larger one if it was
// full.
func (t *slotTable) with(h uint64, slot uint32) *slotTable {
	if t.used >= len(t.entries)*13/16 {
		t = t.sized(2 * len(t.entries))
	}
	t.used++
	t.place(h<<32 | uint64(slot+1))
	return t
}

func (t *slotTable) place(e uint64) {
	mask := uint32(len(t.entries) - 1)
	i := uint32(e>>32) & mask
	for t.entries[i] != 0 {
		i = (i + 1) & mask
	}
	atomic.StoreUint64(&t.entries[i], e)
}

// sized is a table of n entries with those of t.
func (t *slotTable) sized(n int) *slotTable {
	u := newSlotTable(n)
	u.used = t.used
	mask := uint32(n - 1)
	for _, e := range t.entries {
		if e != 0 {
			i := uint32(e>>32) & mask
			for u.entries[i] != 0 {
				i = (i + 1) & mask
			}
			u.entries[i] = e
		}
	}
	return u
}

// where is the position of the entry that leads from h to slot.
func (t *slotTable) where(h uint64, slot uint32) uint32 {
	e := h<<32 | uint64(slot+1)
	mask := uint32(len(t.entries) - 1)
	i := uint32(h) & mask
	for t.entries[i] != e {
		i = (i + 1) & mask
	}
	return i
}

// move makes the entry that leads from h to slot lead to another slot.
func (t *slotTable) move(h uint64, slot, to uint32) {
	atomic.StoreUint64(&t.entries[t.where(h, slot)], h<<32|uint64(to+1))
}

// without is the table without the entry that leads from h to slot, and a
// smaller one if it was nearly empty.
func (t *slotTable) without(h uint64, slot uint32) *slotTable {
	mask := uint32(len(t.entries) - 1)
	gap := t.where(h, slot)
	for i := (gap + 1) & mask; t.entries[i] != 0; i = (i + 1) & mask {
		home := uint32(t.entries[i]>>32) & mask
		if (i-home)&mask >= (i-gap)&mask {
			atomic.StoreUint64(&t.entries[gap], t.entries[i])
			gap = i
		}
	}
	atomic.StoreUint64(&t.entries[gap], 0)
	t.used--
	if n := len(t.entries); n > 4*minEntries && t.used < n/8 {
		return t.sized(n / 4)
	}
	return t
}
