package indexer

import (
	"sync/atomic"
	"unsafe"
)

// A vector grows in leaves of leafLen elements. Snapshots see the leaves under nodes
// of nodeLen leaves, under one root: 2,048 elements for each pointer in the root.
const (
	leafLen = 32
	nodeLen = 64
	spanLen = leafLen * nodeLen
)

type (
	node[E any] = [nodeLen]*E // the first elements of leaves
	root[E any] = []*node[E]
)

// A clock orders the snapshots and the writes of one store.
type clock struct {
	// now is the number of the write under way. A snapshot is of the moment
	// before the next write.
	now uint64
	// live is the number of snapshots that somebody may still read.
	live atomic.Int64
	// quiet is true during a write that began with no live snapshot: it may
	// write anywhere. No snapshot begins during a write.
	quiet bool
}

// A vector is an array of which a snapshot costs two words. A write copies what
// a live snapshot may still see: the leaf, its node and the root, each at most
// once a snapshot, and everything else is written in place.
//
// A leaf is known by its first element. Only the first leaf may have room for fewer
// than leafLen elements, as many vectors are of a few, and it never shrinks: peek
// may look for an element that was there. A leaf of objects is 512 bytes, up to
// which Go's allocator adds nothing.
//
// The owner's lock guards all methods except peek, which may run beside a write.
// So pointers to leaves are stored and loaded atomically.
//
// Invariant: the elements from n on are zero, or an any without its value, so
// nothing is retained.
type vector[E any] struct {
	leaves *[]*E // all leaves, and nil to the slice's end
	n      int
	used   uint32    // how many leaves there are
	first  uint32    // how many elements the first has room for
	shown  *shown[E] // what snapshots need, once there was one
}

// shown is the leaves of a vector as snapshots see them. Stamps are kept beside the
// tree, as they are the writer's alone: a leaf or node is private to the vector
// while its stamp is after the last snapshot, so a leaf is exactly its elements and
// copying a node is copying its pointers.
type shown[E any] struct {
	root     root[E]
	frozen   uint64   // the last snapshot's moment
	rootDate uint64   // when the root was made
	nodeDate []uint64 // when each node was made
	leafDate []uint64 // when each leaf was made
}

// elem is an element of a leaf.
func elem[E any](leaf *E, i uint32) *E {
	return (*E)(unsafe.Add(unsafe.Pointer(leaf), uintptr(i%leafLen)*unsafe.Sizeof(*leaf)))
}

// peek is element i, or nil if there is none any more, beside a write.
func (v *vector[E]) peek(i uint32) *E {
	all := *loadPointer(&v.leaves)
	at := int(i / leafLen)
	if at >= len(all) {
		return nil
	}
	l := loadPointer(&all[at])
	if l == nil {
		return nil
	}
	return elem(l, i)
}

// look is element i for reading.
func (v *vector[E]) look(i uint32) *E { return elem((*v.leaves)[i/leafLen], i) }

func (v *vector[E]) at(i uint32) E { return *v.look(i) }

// own is element i for writing.
func (v *vector[E]) own(i uint32, c *clock) *E {
	l := i / leafLen
	if s := v.shown; !c.quiet && s != nil && s.leafDate[l] <= s.frozen {
		v.copyLeaf(l, v.roomOf(l), c)
	}
	return elem((*v.leaves)[l], i)
}

func (v *vector[E]) set(i uint32, e E, c *clock) { *v.own(i, c) = e }

// roomOf is how many elements a leaf has room for.
func (v *vector[E]) roomOf(l uint32) uint32 {
	if l == 0 {
		return v.first
	}
	return leafLen
}

// copyLeaf puts a copy with another room, at least the old one, in a leaf's place.
func (v *vector[E]) copyLeaf(l, room uint32, c *clock) {
	fresh := newLeaf[E](room)
	copy(unsafe.Slice(fresh, room), unsafe.Slice((*v.leaves)[l], v.roomOf(l)))
	v.setLeaf(l, fresh, c)
}

// newLeaf makes a leaf. Of a whole one the compiler knows the length.
func newLeaf[E any](room uint32) *E {
	if room == leafLen {
		return &new([leafLen]E)[0]
	}
	var e E
	const word = unsafe.Sizeof(uintptr(0))
	whole := (uintptr(room)*unsafe.Sizeof(e) + word - 1) &^ (word - 1) // for touch
	return unsafe.SliceData(make([]E, whole/unsafe.Sizeof(e)))
}

func (v *vector[E]) setLeaf(l uint32, fresh *E, c *clock) {
	if v.shown != nil {
		v.shown.setLeaf(l, fresh, c)
	}
	storePointer(&(*v.leaves)[l], fresh)
}

func (s *shown[E]) setLeaf(l uint32, fresh *E, c *clock) {
	k := l / nodeLen
	if s.nodeDate[k] <= s.frozen && !c.quiet {
		nd := new(node[E])
		*nd = *s.root[k]
		s.ownRoot(c)
		s.nodeDate[k] = c.now
		s.root[k] = nd
	}
	s.leafDate[l] = c.now
	s.root[k][l%nodeLen] = fresh
}

func (s *shown[E]) ownRoot(c *clock) {
	if s.rootDate <= s.frozen && !c.quiet {
		s.root = append(root[E](nil), s.root...)
		s.rootDate = c.now
	}
}

// push appends e.
func (v *vector[E]) push(e E, c *clock) { *v.grow(c) = e }

// grow appends a zero element.
func (v *vector[E]) grow(c *clock) *E {
	i := uint32(v.n)
	if i%leafLen == 0 || i < leafLen {
		v.makeRoom(i, c)
	}
	v.n++
	if c.quiet {
		return v.look(i)
	}
	return v.own(i, c)
}

// makeRoom makes room for element i, if there is none.
func (v *vector[E]) makeRoom(i uint32, c *clock) {
	switch l := i / leafLen; {
	case l == v.used:
		room := uint32(leafLen)
		if i == 0 {
			room = fewest
			v.first = room
		}
		v.extend(newLeaf[E](room), c)
	case l == 0 && i == v.first:
		room := min(4*v.first, leafLen)
		v.copyLeaf(0, room, c)
		v.first = room
	}
}

// fewest is the room of the first leaf at first.
const fewest = 4

// fillLeaf appends a leaf to a vector that nobody has seen, for its owner to fill. If
// it is the first it has room for so many elements.
func (v *vector[E]) fillLeaf(room uint32) []E {
	if v.used == 0 {
		v.first = room
	} else {
		room = leafLen
	}
	fresh := newLeaf[E](room)
	v.extend(fresh, nil)
	return unsafe.Slice(fresh, room)
}

// extend appends a leaf.
func (v *vector[E]) extend(fresh *E, c *clock) {
	l := v.used
	if v.leaves == nil || int(l) == len(*v.leaves) {
		v.setCapacity(max(l+l/4+4*min(l, 1), 1))
	}
	v.used++
	if s := v.shown; s != nil {
		if k := l / nodeLen; int(k) == len(s.nodeDate) {
			s.root = append(append(make(root[E], 0, k+1), s.root...), new(node[E]))
			s.rootDate = c.now
			s.nodeDate = append(s.nodeDate, c.now)
		}
		s.leafDate = append(s.leafDate, c.now)
	}
	v.setLeaf(l, fresh, c)
}

// reserve makes room for the leaves of n elements in an empty vector.
func (v *vector[E]) reserve(n int) {
	if leaves := (n + leafLen - 1) / leafLen; v.leaves == nil || len(*v.leaves) < leaves {
		v.setCapacity(uint32(leaves))
	}
}

// pop removes the last element.
func (v *vector[E]) pop(c *clock) {
	var zero E
	*v.own(uint32(v.n-1), c) = zero
	v.cut(c)
}

// cut removes the last element, which holds nothing any more. One leaf is kept in reserve until
// half the one before it is empty too, so that a vector at a leaf's edge does
// not allocate at every step.
func (v *vector[E]) cut(c *clock) {
	v.n--
	last := v.used - 1
	if v.n > int(last)*leafLen-leafLen/2 {
		return
	}
	v.setLeaf(last, nil, c)
	v.used = last
	if n := uint32(len(*v.leaves)); n > 64 && n > 4*last {
		v.setCapacity(2 * last)
	}
	if s := v.shown; s != nil {
		s.leafDate = shorter(s.leafDate, int(last))
		if k := int(last / nodeLen); last%nodeLen == 0 {
			s.root = append(root[E](nil), s.root[:k]...)
			s.rootDate = c.now
			s.nodeDate = shorter(s.nodeDate, k)
		}
	}
}

// setCapacity makes room for n leaves.
func (v *vector[E]) setCapacity(n uint32) {
	all := pointers[E](n)
	if v.leaves != nil {
		copy(*all, *v.leaves)
	}
	storePointer(&v.leaves, all)
}

// A oneLeaf is a slice of one leaf together with its header.
type oneLeaf[E any] struct {
	all []*E
	one [1]*E
}

func (o *oneLeaf[E]) slice() *[]*E {
	o.all = o.one[:]
	return &o.all
}

// pointers makes a slice of n leaves.
func pointers[E any](n uint32) *[]*E {
	if n == 1 {
		return new(oneLeaf[E]).slice()
	}
	all := make([]*E, n)
	return &all
}

// shorter is s cut to n elements, in a smaller array if it is mostly unused.
func shorter[E any](s []E, n int) []E {
	if s = s[:n]; cap(s) > 64 && cap(s) > 4*n {
		return append(make([]E, 0, 2*n), s...)
	}
	return s
}
