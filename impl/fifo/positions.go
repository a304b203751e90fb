package fifo

// segmentLen is the number of slots in a segment, a power of two: small enough
// for the hundreds of idle queues of a controller manager, large enough that
// the directory stays short.
const segmentLen = 64

// A position numbers a slot from the first push on. It wraps around; live
// positions lie within half of its range.
type position = uint32

// slots is a FIFO of T in fixed segments. A slot never moves, so growth copies
// nothing and a drained burst gives its memory back; a few drained segments are
// kept for the next pushes, so the steady state allocates nothing. A slot is
// reused as its user left it.
type slots[T any] struct {
	dir    []*segment[T] // dir[first:] are the segments from head's to tail's
	first  int
	spare  *segment[T] // drained segments, linked by next
	spares int
	head   position // the oldest slot
	tail   position // the next slot to push
}

// A segment has room for the keys of its slots too: one buffer for all of them
// spares each an allocation and a pointer.
type segment[T any] struct {
	slots [segmentLen]T
	keys  []byte
	next  *segment[T]
}

const (
	// maxSpares is how many drained segments are kept: a batch of 1,000.
	maxSpares = 16
	// keptKeys is the largest buffer of keys that a drained segment keeps.
	keptKeys = segmentLen * 128
)

func (s *slots[T]) len() int { return int(s.tail - s.head) }

// segment is the segment of a position between head and tail.
func (s *slots[T]) segment(p position) *segment[T] {
	return s.dir[s.first+int((p-s.head&^(segmentLen-1))/segmentLen)]
}

// at is the slot at a position between head and tail.
func (s *slots[T]) at(p position) *T { return &s.segment(p).slots[p%segmentLen] }

// push makes a slot at the tail, in the returned segment. The caller fills it.
func (s *slots[T]) push() (position, *segment[T]) {
	p := s.tail
	if p%segmentLen == 0 {
		fresh := s.spare
		if fresh == nil {
			fresh = new(segment[T])
		} else {
			s.spare, fresh.next = fresh.next, nil
			s.spares--
		}
		s.dir = append(s.dir, fresh)
	}
	s.tail++
	return p, s.dir[len(s.dir)-1]
}

// drop gives up the oldest slot, which the caller has cleared of references.
func (s *slots[T]) drop() {
	s.head++
	if s.head%segmentLen != 0 {
		return
	}
	drained := s.dir[s.first]
	s.dir[s.first] = nil
	if drained.keys = drained.keys[:0]; cap(drained.keys) > keptKeys {
		drained.keys = nil
	}
	if s.spares < maxSpares {
		drained.next, s.spare = s.spare, drained
		s.spares++
	}
	if s.first++; 2*s.first < len(s.dir) {
		return
	}
	// More than half of the directory is used up: move the rest to its front,
	// and to a smaller one when a burst is over.
	rest := s.dir[s.first:]
	if cap(s.dir) > 4*len(rest)+segmentLen {
		s.dir = append(make([]*segment[T], 0, 2*len(rest)), rest...)
	} else {
		n := copy(s.dir, rest)
		clear(s.dir[n:])
		s.dir = s.dir[:n]
	}
	s.first = 0
}

// An index finds the position of a key by the key's hash: open addressing with
// linear probing in 8-byte cells without pointers, which the garbage collector
// skips. Keys stay in the slots; the user compares them.
type index struct {
	cells []cell // a power of two, at most half full
	used  int
}

// A cell is empty when its tag is 0.
type cell struct {
	tag uint32
	at  position
}

const (
	minCells = 32
	// keptCells is the largest index that is kept when it empties, for about as
	// many keys as there are slots in the segments that are kept.
	keptCells = 2048
)

// tagOf takes the hash bits that a cell holds.
func tagOf(hash uint64) uint32 { return uint32(hash>>32) | 1 }

// home is the cell where the search for a tag starts; next follows it.
func (x *index) home(tag uint32) uint32  { return (tag >> 1) & uint32(len(x.cells)-1) }
func (x *index) next(cell uint32) uint32 { return (cell + 1) & uint32(len(x.cells)-1) }

// add notes a key that is not in the index.
func (x *index) add(tag uint32, at position) {
	if 2*(x.used+1) > len(x.cells) {
		x.resize(max(minCells, 2*len(x.cells)))
	}
	x.used++
	x.place(cell{tag, at})
}

func (x *index) place(c cell) {
	i := x.home(c.tag)
	for x.cells[i].tag != 0 {
		i = x.next(i)
	}
	x.cells[i] = c
}

// move notes that the key at one position is found at another now.
func (x *index) move(tag uint32, from, to position) { x.cells[x.find(tag, from)].at = to }

// remove forgets the key at a position.
func (x *index) remove(tag uint32, at position) {
	hole := x.find(tag, at)
	// Close the gap, so that no search ends too soon: a later cell moves into
	// the hole unless its home lies behind the hole.
	for i := x.next(hole); x.cells[i].tag != 0; i = x.next(i) {
		mask := uint32(len(x.cells) - 1)
		if (i-x.home(x.cells[i].tag))&mask >= (i-hole)&mask {
			x.cells[hole] = x.cells[i]
			hole = i
		}
	}
	x.cells[hole] = cell{}
	x.used--
	if len(x.cells) > keptCells && 8*x.used < len(x.cells) {
		x.resize(len(x.cells) / 2)
	}
}

func (x *index) find(tag uint32, at position) uint32 {
	i := x.home(tag)
	for x.cells[i] != (cell{tag, at}) {
		i = x.next(i)
	}
	return i
}

// reserve makes room for more keys at once.
func (x *index) reserve(more int) {
	size := max(minCells, len(x.cells))
	for 2*(x.used+more) > size {
		size *= 2
	}
	if size > len(x.cells) {
		x.resize(size)
	}
}

func (x *index) resize(size int) {
	old := x.cells
	x.cells = make([]cell, size)
	for _, c := range old {
		if c.tag != 0 {
			x.place(c)
		}
	}
}
