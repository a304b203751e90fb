package indexer

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// A slotTable is a hash table from the hash of a key to the key and the slot that
// holds it. One goroutine writes while others may read.
//
// It is an array of chunks, each two neighbouring cache lines with up to eight
// entries. An entry leads to the key's bytes itself, so that a search waits for
// the key and the slot's object at the same time, and not for one after the other.
//
// An entry that finds its chunk full goes to a later one, and all chunks that it
// has passed know its class, a few bits of its hash: a search goes on only where
// something of its class has passed. A removal takes back what passed for it
// alone, so there are no tombstones. (Something may pass every chunk: a search
// ends where it began.)
type slotTable struct {
	chunks *chunk // the first of n
	n      uint32
	used   uint32
}

// A chunk's entries are kept field by field, a byte each or more. A tag is 0x80
// with the lowest bits of the hash, 0 for no entry. A length is seven bits; of a
// key that is not shorter than long there is a pointer to the string. The eighth
// bits of lens are the classes that have passed. Only the key is in the second
// cache line.
type chunk struct {
	tags  uint64
	lens  uint64
	rest  [2]uint64 // the hash's next 16 bits, by the byte
	slots [chunkLen]uint32
	keys  [chunkLen]unsafe.Pointer
}

const (
	chunkLen = 8
	fullest  = 7.25 // the most entries a chunk, on average: a search goes on from few
	tagBits  = 7
	restBits = 16
)

const (
	eachByte = 0x0101_0101_0101_0101
	eachTag  = 0x8080_8080_8080_8080
	passed   = eachTag // in lens
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
// don't get exactly the same: two deviations are added, and few have to grow.
func room(keys, stripes int) uint32 {
	share := float64(keys) / float64(stripes)
	if stripes > 1 {
		share += 2 * math.Sqrt(share)
	}
	return uint32(math.Ceil(share / fullest))
}

// chunk is chunk i.
func (t slotTable) chunk(i uint32) *chunk {
	return (*chunk)(unsafe.Add(unsafe.Pointer(t.chunks), uintptr(i)*unsafe.Sizeof(chunk{})))
}

// home is where the search for an entry begins. It follows from the bits of the
// hash that an entry has, the tag's last.
func (t slotTable) home(h uint64) uint32 {
	const kept = tagBits + restBits
	return uint32(h & (1<<kept - 1) * uint64(t.n) >> kept)
}

// after is the chunk after chunk i.
func (t *slotTable) after(i uint32) uint32 {
	if i++; i == t.n {
		return 0
	}
	return i
}

func tagOf(h uint64) uint64 { return h&(1<<tagBits-1) | 0x80 }

// classOf is the bit of lens that is set where an entry from h has passed.
func classOf(h uint64) uint64 { return 0x80 << (h % 8 * 8) }

// matches has the highest bit set of each byte that is tag, and perhaps of
// others above the first.
func matches(tags, tag uint64) uint64 {
	x := tags ^ tag*eachByte
	return (x - eachByte) &^ x & eachTag
}

// place is the entry of the lowest match.
func place(match uint64) int { return bits.TrailingZeros64(match) / 8 % chunkLen }

// keyOf is what is kept of an entry's key.
func keyOf(data unsafe.Pointer, lens uint64, at int) kept {
	return kept{data, uint8(lens >> (at * 8) & long)}
}

// restIs is whether an entry may be from h, by eight bits that its tag has not. It
// spares most keys that are not stored the wait for another key with their tag.
func restIs(rest uint64, at int, h uint64) bool { return uint8(rest>>(at*8)) == uint8(h>>tagBits) }

// lenIs is whether a key is as long as an entry's, which is not long.
func lenIs(lens uint64, at int, key string) bool {
	return len(key) < long && lens>>(at*8)&long == uint64(len(key))
}

// hash is what is known of the hash of the entry at a place.
func (c *chunk) hash(at int) uint64 {
	rest := c.rest[1]>>(at*8)&0xff<<8 | c.rest[0]>>(at*8)&0xff
	return rest<<tagBits | c.tags>>(at*8)&(1<<tagBits-1)
}

func withBits(word uint64, shift int, mask, to uint64) uint64 {
	return word&^(mask<<shift) | to&mask<<shift
}

// insert adds an entry from h to slot, which holds the key; the table is not full.
func (t *slotTable) insert(h uint64, k kept, slot uint32) {
	c := t.chunk(t.home(h))
	for i := t.home(h); c.tags&eachTag == eachTag; c = t.chunk(i) {
		setWord(&c.lens, c.lens|classOf(h))
		i = t.after(i)
	}
	at := place(^c.tags & eachTag)
	atomic.StorePointer(&c.keys[at], k.data)
	if c.slots[at] != slot {
		atomic.StoreUint32(&c.slots[at], slot)
	}
	setWord(&c.lens, withBits(c.lens, at*8, long, uint64(k.len)))
	rest := c.restWith(at, h)
	setWord(&c.rest[0], rest[0])
	c.rest[1] = rest[1]                                                 // which no reader looks at
	atomic.StoreUint64(&c.tags, withBits(c.tags, at*8, 0xff, tagOf(h))) // makes it an entry
	t.used++
}

// fill is insert into a table that nobody else has yet.
func (t *slotTable) fill(h uint64, k kept, slot uint32) {
	c := t.chunk(t.home(h))
	for i := t.home(h); c.tags&eachTag == eachTag; c = t.chunk(i) {
		c.lens |= classOf(h)
		i = t.after(i)
	}
	at := place(^c.tags & eachTag)
	c.keys[at], c.slots[at] = k.data, slot
	c.lens |= uint64(k.len) << (at * 8)
	c.rest = c.restWith(at, h)
	c.tags |= tagOf(h) << (at * 8)
	t.used++
}

// restWith is the rest of the hash of all entries, one of which is from h.
func (c *chunk) restWith(at int, h uint64) [2]uint64 {
	return [2]uint64{withBits(c.rest[0], at*8, 0xff, h>>tagBits), withBits(c.rest[1], at*8, 0xff, h>>(tagBits+8))}
}

func (t *slotTable) full() bool { return 4*t.used >= t.n*(4*fullest) }

// larger and smaller are how many chunks a table gets that is full or sparse.
// Small tables grow in long steps, which take less time, large ones in short
// ones, which leave less room unused.
func (t *slotTable) larger() uint32 {
	if t.n < 32 {
		return 2*t.n + 1
	}
	return t.n + t.n/3
}

func (t *slotTable) smaller() uint32 { return t.n / 3 }

// sparse is whether a much smaller table would do.
func (t *slotTable) sparse() bool { return t.n > 4 && t.used < t.n }

// sized is a table of n chunks with the entries of t.
func (t *slotTable) sized(n uint32) slotTable {
	u := newSlotTable(n)
	for i := range t.n {
		c := t.chunk(i)
		for m := c.tags & eachTag; m != 0; m &= m - 1 {
			at := place(m)
			u.fill(c.hash(at), keyOf(c.keys[at], c.lens, at), c.slots[at])
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
func (t *slotTable) where(h uint64, slot uint32) (i uint32, at int) {
	for i = t.home(h); ; i = t.after(i) {
		c := t.chunk(i)
		for m := matches(c.tags, tagOf(h)); m != 0; m &= m - 1 {
			if at = place(m); c.slots[at] == slot {
				return i, at
			}
		}
	}
}

// touch reads the chunk in which the search for h begins.
func (t *slotTable) touch(h uint64) {
	c := t.chunk(t.home(h))
	touch(&c.tags)
	touch(&c.keys[0])
}

// move makes the entry that leads from h to slot lead to another slot.
func (t *slotTable) move(h uint64, slot, to uint32) {
	i, at := t.where(h, slot)
	atomic.StoreUint32(&t.chunk(i).slots[at], to)
}

// remove removes the entry that leads from h to slot. Readers who have seen the
// entry may look for its key until unseen, which is called before it goes.
func (t *slotTable) remove(h uint64, slot uint32, unseen func()) {
	last, at := t.where(h, slot)
	c := t.chunk(last)
	atomic.StoreUint64(&c.tags, withBits(c.tags, at*8, 0xff, 0))
	unseen()
	atomic.StorePointer(&c.keys[at], nil)
	for i := t.home(h); i != last; i = t.after(i) {
		t.recall(i)
	}
	t.used--
}

// recall finds again which classes have passed chunk i: those of later entries
// that come from it or from before it. Whatever has passed a later chunk too is
// in one where nothing passes any more, or before.
func (t *slotTable) recall(i uint32) {
	var classes uint64
	for at := t.after(i); at != i; at = t.after(at) {
		c := t.chunk(at)
		for m := c.tags & eachTag; m != 0; m &= m - 1 {
			if h := c.hash(place(m)); t.steps(t.home(h), at) >= t.steps(i, at) {
				classes |= classOf(h)
			}
		}
		if c.lens&passed == 0 {
			break
		}
	}
	c := t.chunk(i)
	setWord(&c.lens, c.lens&^passed|classes)
}

// steps is how far chunk to is behind chunk from.
func (t *slotTable) steps(from, to uint32) uint32 {
	if to < from {
		to += t.n
	}
	return to - from
}
