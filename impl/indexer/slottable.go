package indexer

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// A slotTable is a hash table from the hash of a key to the slot that holds the
// key. One goroutine writes while others may read.
//
// It is an array of chunks, each a cache line with up to seven entries, so that
// nearly every search reads one line, and one branch of it is not foreseen. An
// entry that finds its chunk full goes to a later one, and all chunks that it
// has passed count it (as F14's do in Facebook's folly): a search goes on only
// where something has passed, and a removal leaves no tombstones. (After many
// removals something may have passed every chunk: a search ends where it began.)
type slotTable struct {
	chunks *chunk // the first of n
	n      uint32
	used   uint32
}

// A chunk's word 0 is eight bytes: how many entries have passed, at most 255,
// and the tags of the entries in words 1 to 7. An entry is the hash's lower half
// and the slot. Its tag is 0x80 with the lowest bits of the hash; 0 is no entry.
type chunk [1 + chunkLen]uint64

const (
	chunkLen = 7
	fullest  = 6 // the most entries a chunk, on average
)

const (
	eachByte = 0x0101_0101_0101_0101
	eachTag  = 0x8080_8080_8080_8000
	passed   = 0xff
)

// noChunk is the chunk of all tables without one, for Get to look at.
var noChunk chunk

func newSlotTable(n uint32) slotTable {
	if n == 0 {
		return slotTable{chunks: &noChunk}
	}
	// As many chunks as the allocator has room for.
	chunks := append([]chunk(nil), make([]chunk, n)...)
	chunks = chunks[:cap(chunks)]
	return slotTable{chunks: &chunks[0], n: uint32(len(chunks))}
}

// room is the number of chunks for a stripe's share of so many keys. Stripes
// don't get exactly the same: three deviations are added.
func room(keys int) uint32 {
	share := float64(keys) / stripeCount
	return 1 + uint32((share+3*math.Sqrt(share))/fullest)
}

// chunk is chunk i.
func (t slotTable) chunk(i uint32) *chunk {
	return (*chunk)(unsafe.Add(unsafe.Pointer(t.chunks), uintptr(i)*unsafe.Sizeof(chunk{})))
}

// home is where the search for an entry begins: the upper bits of the hash's
// lower half choose the chunk, as the lowest are the tag.
func (t slotTable) home(h uint64) uint32 { return uint32(uint64(uint32(h)) * uint64(t.n) >> 32) }

// after is the chunk after chunk i.
func (t *slotTable) after(i uint32) uint32 {
	if i++; i == t.n {
		return 0
	}
	return i
}

func tagOf(h uint64) uint64 { return h&0x7f | 0x80 }

// matches has the highest bit set of each byte that is tag, and perhaps of
// others.
func matches(tags, tag uint64) uint64 {
	x := tags ^ tag*eachByte
	return (x - eachByte) &^ x & eachTag
}

// of is whether entry e belongs to hash h.
func of(e, h uint64) bool { return uint32(e>>32) == uint32(h) }

// entry is the word of the lowest match.
func (c *chunk) entry(match uint64) *uint64 { return &c[bits.TrailingZeros64(match)/8%8] }

// insert adds an entry from h to slot; the table is not full.
func (t *slotTable) insert(h uint64, slot uint32) {
	i := t.home(h)
	c := t.chunk(i)
	for c[0]&eachTag == eachTag {
		if c[0]&passed < passed {
			atomic.StoreUint64(&c[0], c[0]+1)
		}
		i = t.after(i)
		c = t.chunk(i)
	}
	free := bits.TrailingZeros64(^c[0]&eachTag) / 8
	atomic.StoreUint64(&c[free%8], h<<32|uint64(slot))
	atomic.StoreUint64(&c[0], c[0]|tagOf(h)<<(free*8))
	t.used++
}

func (t *slotTable) full() bool { return t.used >= t.n*fullest }

// sparse is whether a much smaller table would do.
func (t *slotTable) sparse() bool { return t.n > 4 && t.used < t.n }

// sized is a table of n chunks with the entries of t.
func (t *slotTable) sized(n uint32) slotTable {
	u := newSlotTable(n)
	for i := range t.n {
		c := t.chunk(i)
		for m := c[0] & eachTag; m != 0; m &= m - 1 {
			e := *c.entry(m)
			u.insert(e>>32, uint32(e))
		}
	}
	return u
}

// replace makes next's entries t's, beside readers who may take what they see of
// t for one table only if nothing has changed meanwhile.
func (t *slotTable) replace(next slotTable) {
	storePointer(&t.chunks, next.chunks)
	atomic.StoreUint32(&t.n, next.n)
	t.used = next.used
}

// where is the chunk with the entry that leads from h to slot, and the entry's
// place there.
func (t *slotTable) where(h uint64, slot uint32) (i uint32, place int) {
	e := h<<32 | uint64(slot)
	for i = t.home(h); ; i = t.after(i) {
		c := t.chunk(i)
		for m := matches(c[0], tagOf(h)); m != 0; m &= m - 1 {
			if *c.entry(m) == e {
				return i, bits.TrailingZeros64(m) / 8
			}
		}
	}
}

// move makes the entry that leads from h to slot lead to another slot.
func (t *slotTable) move(h uint64, slot, to uint32) {
	i, place := t.where(h, slot)
	atomic.StoreUint64(&t.chunk(i)[place], h<<32|uint64(to))
}

// remove removes the entry that leads from h to slot.
func (t *slotTable) remove(h uint64, slot uint32) {
	at, place := t.where(h, slot)
	for i := t.home(h); i != at; i = t.after(i) {
		if c := t.chunk(i); c[0]&passed < passed {
			atomic.StoreUint64(&c[0], c[0]-1)
		}
	}
	c := t.chunk(at)
	atomic.StoreUint64(&c[0], c[0]&^(0xff<<(place*8)))
	t.used--
}
