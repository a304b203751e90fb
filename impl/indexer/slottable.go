package indexer

// A slotTable is an open-addressing hash table from the hash of a key to the
// slot that holds the key: 8 bytes an entry, the hash's lower half and the slot
// number plus one; 0 is no entry. Probing is linear, and a removal closes the
// gap, so there are no tombstones.
type slotTable struct {
	entries []uint64 // a power of two, at most 13/16 full
	used    int
}

// find is the slot of key, whose hash is h. keys must not change beside it,
// except in slots that other tables know.
func (t *slotTable) find(h uint64, key string, keys *vector[string]) (slot uint32, ok bool) {
	if t.used == 0 {
		return 0, false
	}
	mask := uint32(len(t.entries) - 1)
	for i := uint32(h) & mask; ; i = (i + 1) & mask {
		e := t.entries[i&mask]
		if e == 0 {
			return 0, false
		}
		if uint32(e>>32) == uint32(h) {
			if slot := uint32(e) - 1; keys.load(slot) == key {
				return slot, true
			}
		}
	}
}

func (t *slotTable) insert(h uint64, slot uint32) {
	if t.used >= len(t.entries)/16*13 {
		t.resize(max(2*len(t.entries), 16))
	}
	t.used++
	t.place(h<<32 | uint64(slot+1))
}

func (t *slotTable) place(e uint64) {
	mask := uint32(len(t.entries) - 1)
	i := uint32(e>>32) & mask
	for t.entries[i] != 0 {
		i = (i + 1) & mask
	}
	t.entries[i] = e
}

func (t *slotTable) resize(n int) {
	old := t.entries
	t.entries = make([]uint64, n)
	for _, e := range old {
		if e != 0 {
			t.place(e)
		}
	}
}

// reserve makes room for n entries.
func (t *slotTable) reserve(n int) {
	size := 16
	for size/16*13 < n {
		size *= 2
	}
	if size > len(t.entries) {
		t.resize(size)
	}
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
	t.entries[t.where(h, slot)] = h<<32 | uint64(to+1)
}

// remove takes out the entry that leads from h to slot.
func (t *slotTable) remove(h uint64, slot uint32) {
	mask := uint32(len(t.entries) - 1)
	gap := t.where(h, slot)
	for i := (gap + 1) & mask; t.entries[i] != 0; i = (i + 1) & mask {
		home := uint32(t.entries[i]>>32) & mask
		if (i-home)&mask >= (i-gap)&mask {
			t.entries[gap] = t.entries[i]
			gap = i
		}
	}
	t.entries[gap] = 0
	t.used--
	if n := len(t.entries); n > 64 && t.used < n/8 {
		t.resize(n / 4)
	}
}
