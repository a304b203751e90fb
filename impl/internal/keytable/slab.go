package keytable

import (
	"math/bits"
	"time"
)

const (
	// blockLen is the number of slot numbers in a block: one bit each in a word.
	blockLen = 64
	// chunkLen is how many of them are used: with 63 entries of 24 bytes and the
	// allocator's own word a chunk just fills a size class.
	chunkLen = blockLen - 1
	allFree  = 1<<chunkLen - 1
	// spare is the number of free slots whose memory is always kept.
	spare = 4096
	// fewLen is the number of first slots that are kept out of the blocks' books.
	fewLen = 4
	allFew = 1<<fewLen - 1
)

// A slab stores keys and values in blocks that never move, so a *V stays valid
// until its slot is removed. Keys and values lie apart: a 4-byte value beside a
// string costs 4 bytes, not 8.
//
// The first fewLen slots are special: take never gives them out and their bits
// in the first block are never free, so that block keeps its chunk for ever.
// A table that holds a few keys occupies them at the cost of one bit in few. One
// that never held a key has no block.
//
// Invariant: every block that has a chunk and a free slot is current or in
// partial; every block without a chunk is in dropped; every block other than
// current that has a chunk and no occupied slot is in vacant and counted in
// empty. The stacks may hold outdated entries, which taking from them skips.
type slab[K comparable, V any] struct {
	first   *chunk[K, V] // of block 0, or nil before the first key
	few     uint32       // bit i is set when slot i < fewLen is occupied
	blocks  []block[K, V]
	current uint32   // the block that slots are taken from
	partial []uint32 // blocks that had a free slot when pushed
	dropped []uint32 // blocks that had no chunk when pushed
	vacant  []uint32 // blocks that had no occupied slot when pushed
	live    int      // occupied slots that take gave out
	timed   bool     // chunks have times
	empty   int      // blocks in vacant that are not outdated
}

type block[K comparable, V any] struct {
	free   uint64 // bit i is set when slot i is free
	chunk  *chunk[K, V]
	vacant bool // it is in the stack of that name
}

type chunk[K comparable, V any] struct {
	keys   [chunkLen]K
	values [chunkLen]V
	hashes [chunkLen]uint32 // not of a small table
	times  *[chunkLen]Times // of a queue with metrics
}

// Times are moments of a key that its owner sets before it reads them.
type Times struct{ Added, Started time.Duration }

// KeepTimes makes an empty table one that has Times of each key. They lie apart,
// so that one without them has smaller chunks.
func (s *slab[K, V]) KeepTimes() { s.timed = true }

// Times are those of the key in slot. The pointer is valid until the slot is removed.
func (s *slab[K, V]) Times(slot uint32) *Times {
	return &s.blocks[slot/blockLen].chunk.times[slot%blockLen]
}

func (s *slab[K, V]) newChunk() *chunk[K, V] {
	c := new(chunk[K, V])
	if s.timed {
		c.times = new([chunkLen]Times)
	}
	return c
}

// open gives the slab its first block.
func (s *slab[K, V]) open() { s.reset(s.newChunk()) }

// reset makes a slab of one block.
func (s *slab[K, V]) reset(first *chunk[K, V]) {
	*s = slab[K, V]{first: first, few: s.few, timed: s.timed, blocks: []block[K, V]{{free: allFree &^ allFew, chunk: first}}}
}

// Key is the key in slot.
func (s *slab[K, V]) Key(slot uint32) K {
	return s.blocks[slot/blockLen].chunk.keys[slot%blockLen]
}

// At is the value in slot. The pointer is valid until the slot is removed.
func (s *slab[K, V]) At(slot uint32) *V {
	return &s.blocks[slot/blockLen].chunk.values[slot%blockLen]
}

// Holds reports whether slot is occupied, for users that keep slot numbers past
// Remove.
func (s *slab[K, V]) Holds(slot uint32) bool {
	b := slot / blockLen
	return b < uint32(len(s.blocks)) && s.taken(int(b))>>(slot%blockLen)&1 != 0
}

// taken tells which slots of a block are occupied, a bit each.
func (s *slab[K, V]) taken(b int) uint64 {
	taken := allFree &^ s.blocks[b].free
	if b == 0 {
		taken = taken&^allFew | uint64(s.few)
	}
	return taken
}

// take occupies a free slot.
func (s *slab[K, V]) take() uint32 {
	if s.blocks[s.current].free == 0 {
		s.advance()
	}
	b := &s.blocks[s.current]
	i := bits.TrailingZeros64(b.free)
	b.free &= b.free - 1
	s.live++
	return s.current*blockLen + uint32(i)
}

// advance makes a block with a free slot current: one that has its chunk, else
// one that lost it, else a new one.
func (s *slab[K, V]) advance() {
	for n := len(s.partial); n > 0; n = len(s.partial) {
		b := s.partial[n-1]
		s.partial = s.partial[:n-1]
		if block := &s.blocks[b]; block.chunk != nil && block.free != 0 {
			if block.free == allFree {
				s.empty--
			}
			s.current = b
			return
		}
	}
	for n := len(s.dropped); n > 0; n = len(s.dropped) {
		b := s.dropped[n-1]
		s.dropped = s.dropped[:n-1]
		if block := &s.blocks[b]; block.chunk == nil {
			block.chunk = s.newChunk()
			s.current = b
			return
		}
	}
	s.blocks = append(s.blocks, block[K, V]{free: allFree, chunk: s.newChunk()})
	s.current = uint32(len(s.blocks) - 1)
}

// release clears a slot, so that nothing it referred to is kept alive, and
// frees it.
func (s *slab[K, V]) release(slot uint32) {
	b := slot / blockLen
	block := &s.blocks[b]
	var key K
	var value V
	block.chunk.keys[slot%blockLen] = key
	block.chunk.values[slot%blockLen] = value
	if block.free == 0 && b != s.current {
		s.partial = append(s.partial, b)
	}
	block.free |= 1 << (slot % blockLen)
	s.live--
	if block.free == allFree || s.live == 0 {
		s.vacate(b)
	}
}

// takeFew occupies a free one of the first slots. There must be one,
// and the block.
func (s *slab[K, V]) takeFew(key K) (slot uint32) {
	slot = uint32(bits.TrailingZeros32(^s.few)) % blockLen
	s.few |= 1 << slot
	s.first.keys[slot] = key
	return slot
}

// releaseFew is release for one of the first slots.
func (s *slab[K, V]) releaseFew(slot uint32) {
	var key K
	var value V
	s.first.keys[slot%blockLen] = key
	s.first.values[slot%blockLen] = value
	s.few &^= 1 << slot
}

// vacate gives memory back when a block or the slab lost its last key: free
// slots may take half as much as the occupied ones, and the spare.
func (s *slab[K, V]) vacate(b uint32) {
	if s.live == 0 && len(s.blocks) > 2*spare/blockLen {
		s.reset(s.first) // a burst is over: the directory goes too
		return
	}
	if b != s.current && b != 0 {
		s.empty++
		if !s.blocks[b].vacant {
			s.blocks[b].vacant = true
			s.vacant = append(s.vacant, b)
		}
	}
	for s.empty*blockLen > s.live/2+spare {
		n := len(s.vacant) - 1
		b := s.vacant[n]
		s.vacant = s.vacant[:n]
		block := &s.blocks[b]
		block.vacant = false
		if b != s.current && block.chunk != nil && block.free == allFree {
			block.chunk = nil
			s.empty--
			s.dropped = append(s.dropped, b)
		}
	}
}
