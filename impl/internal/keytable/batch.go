package keytable

import (
	"iter"
	"math/bits"
)

// Warm brings what Enter and Find of keys will read into the cache, if the table is
// large: each of them misses it there, and without anything between them these
// misses overlap.
func (t *Table[K, V]) Warm(hashes []uint32, keys []K) {
	if len(t.groups) < warmGroups {
		return
	}
	seen := uint32(0)
	for _, hash := range hashes {
		seen += t.groups[t.home(hash)].counts
	}
	low := t.slotMask
	for i, hash := range hashes {
		group := &t.groups[t.home(hash)]
		for m := group.match(tagOf(hash)); m != 0; m &= m - 1 {
			if ref := group.refs[at(m)]; ref^t.reference(hash, 0) <= low && t.Holds(ref&low-1) && t.Key(ref&low-1) == keys[i] {
				seen++
			}
		}
	}
	use(seen)
}

// use keeps the compiler from leaving reads out.
//
//go:noinline
func use(uint32) {}

// warmGroups is from which number of groups on there are misses to overlap.
const warmGroups = 4096

// RemoveAll removes the keys in slots and appends them to into. As in Warm, misses
// overlap.
func (t *Table[K, V]) RemoveAll(slots []uint32, into []K) []K {
	for _, slot := range slots {
		into = append(into, t.Key(slot))
	}
	if len(t.groups) >= warmGroups {
		seen := uint32(0)
		for _, key := range into[len(into)-len(slots):] {
			seen += t.hashOf(key) // what the key refers to, for those who use it next
		}
		if t.removals < removalsInRow {
			for _, slot := range slots {
				hash := t.blocks[slot/blockLen].chunk.hashes[slot%blockLen]
				seen += t.groups[t.home(hash)].counts
			}
		}
		use(seen)
	}
	for _, slot := range slots {
		t.Remove(slot)
	}
	return into
}

// Some yields about n occupied slots, at most n, and their values, from all over
// the table.
func (t *Table[K, V]) Some(n int) iter.Seq2[uint32, *V] {
	return func(yield func(uint32, *V) bool) {
		next := 0
		for i := range n {
			b := max(next, i*len(t.blocks)/n)
			for b < len(t.blocks) && t.taken(b) == 0 {
				b++
			}
			if b == len(t.blocks) {
				return
			}
			slot := bits.TrailingZeros64(t.taken(b))
			if !yield(uint32(b*blockLen+slot), &t.blocks[b].chunk.values[slot]) {
				return
			}
			next = b + 1
		}
	}
}

// Clear removes everything, and keeps no memory for it.
func (t *Table[K, V]) Clear() {
	t.slab = slab[K, V]{}
	t.index = index{wide: t.wide}
	t.begin()
}
