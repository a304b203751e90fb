package indexer

import "sync/atomic"

// A vector grows in leaves of leafLen elements, under nodes of nodeLen leaves,
// under one root: 4,096 elements for each pointer in the root.
const (
	leafLen = 32
	nodeLen = 64
	spanLen = leafLen * nodeLen
)

type (
	leaf[E any] = [leafLen]E
	node[E any] = [nodeLen]*leaf[E]
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
// Stamps are kept beside the tree, as they are the writer's alone: a leaf or
// node is private to the vector while its stamp is after the last snapshot, so
// a leaf is exactly its elements and copying a node is copying its pointers. A leaf
// of objects is 512 bytes, up to which Go's allocator adds nothing.
//
// The owner's lock guards all methods except peek, which may run beside a write.
// So pointers in the tree are stored and loaded atomically.
//
// Invariant: the elements from n on are zero, or an any without its value, so
// nothing is retained.
type vector[E any] struct {
	root     *root[E] // the leaves again, for snapshots
	n        int
	frozen   uint64      // the last snapshot's moment
	rootDate uint64      // when the root was made
	nodeDate []uint64    // when each node was made
	leafDate []uint64    // when each leaf was made
	leaves   *[]*leaf[E] // all leaves, and nil to the slice's end; for peek, last
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
	return &l[i%leafLen]
}

// look is element i for reading.
func (v *vector[E]) look(i uint32) *E {
	return &(*v.leaves)[i/leafLen][i%leafLen]
}

func (v *vector[E]) at(i uint32) E { return *v.look(i) }

// own is element i for writing.
func (v *vector[E]) own(i uint32, c *clock) *E {
	l := i / leafLen
	if v.leafDate[l] <= v.frozen && !c.quiet {
		v.copyLeaf(l, c)
	}
	return &(*v.leaves)[l][i%leafLen]
}

func (v *vector[E]) set(i uint32, e E, c *clock) { *v.own(i, c) = e }

func (v *vector[E]) copyLeaf(l uint32, c *clock) {
	fresh := new(leaf[E])
	*fresh = *(*v.leaves)[l]
	v.setLeaf(l, fresh, c)
}

func (v *vector[E]) setLeaf(l uint32, fresh *leaf[E], c *clock) {
	k := l / nodeLen
	if v.nodeDate[k] <= v.frozen && !c.quiet {
		nd := new(node[E])
		*nd = *(*v.root)[k]
		v.setNode(k, nd, c)
	}
	v.leafDate[l] = c.now
	(*v.root)[k][l%nodeLen] = fresh
	storePointer(&(*v.leaves)[l], fresh)
}

func (v *vector[E]) setNode(k uint32, nd *node[E], c *clock) {
	if v.rootDate <= v.frozen && !c.quiet {
		r := append(root[E](nil), *v.root...)
		v.rootDate = c.now
		v.root = &r
	}
	v.nodeDate[k] = c.now
	(*v.root)[k] = nd
}

// push appends e.
func (v *vector[E]) push(e E, c *clock) { *v.grow(c) = e }

// grow appends a zero element.
func (v *vector[E]) grow(c *clock) *E {
	i := uint32(v.n)
	if i%leafLen != 0 && c.quiet {
		v.n++
		return &(*v.leaves)[i/leafLen][i%leafLen]
	}
	if int(i/leafLen) == len(v.leafDate) {
		v.growLeaf(c)
	}
	v.n++
	return v.own(i, c)
}

// growLeaf appends a leaf.
func (v *vector[E]) growLeaf(c *clock) {
	l := v.extend(c)
	v.setLeaf(l, new(leaf[E]), c)
}

// fillLeaf appends a leaf to a vector that nobody reads, for its owner to fill.
func (v *vector[E]) fillLeaf(c *clock) *leaf[E] {
	l := v.extend(c)
	fresh := new(leaf[E])
	(*v.root)[l/nodeLen][l%nodeLen] = fresh
	(*v.leaves)[l] = fresh
	return fresh
}

// extend makes room for a leaf after the last one and returns its number.
func (v *vector[E]) extend(c *clock) uint32 {
	l := uint32(len(v.leafDate))
	if k := l / nodeLen; int(k) == len(v.nodeDate) {
		var r root[E]
		if v.root != nil {
			r = append(make(root[E], 0, k+1), *v.root...)
		}
		r = append(r, new(node[E]))
		v.rootDate = c.now
		v.nodeDate = append(v.nodeDate, c.now)
		v.root = &r
	}
	if v.leaves == nil || int(l) == len(*v.leaves) {
		v.setCapacity(l + l/4 + 4)
	}
	v.leafDate = append(v.leafDate, c.now)
	return l
}

// reserve makes room for n elements in an empty vector.
func (v *vector[E]) reserve(n int) {
	leaves := (n + leafLen - 1) / leafLen
	v.setCapacity(uint32(leaves))
	v.leafDate = make([]uint64, 0, leaves)
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
	last := len(v.leafDate) - 1
	if v.n > last*leafLen-leafLen/2 {
		return
	}
	v.setLeaf(uint32(last), nil, c)
	v.leafDate = shorter(v.leafDate, last)
	if n := len(*v.leaves); n > 64 && n > 4*last {
		v.setCapacity(2 * uint32(last))
	}
	if k := last / nodeLen; last%nodeLen == 0 {
		r := append(root[E](nil), (*v.root)[:k]...)
		v.rootDate = c.now
		v.root = &r
		v.nodeDate = shorter(v.nodeDate, k)
	}
}

// setCapacity makes room for n leaves.
func (v *vector[E]) setCapacity(n uint32) {
	all := make([]*leaf[E], n)
	if v.leaves != nil {
		copy(all, *v.leaves)
	}
	storePointer(&v.leaves, &all)
}

// shorter is s cut to n elements, in a smaller array if it is mostly unused.
func shorter[E any](s []E, n int) []E {
	if s = s[:n]; cap(s) > 64 && cap(s) > 4*n {
		return append(make([]E, 0, 2*n), s...)
	}
	return s
}

// A view is a vector's elements at one moment. Its reader counts as live in the
// clock until it is done.
type view[E any] struct {
	root root[E]
	n    int
}

// snapshot is the elements now.
func (v *vector[E]) snapshot(c *clock) view[E] {
	if v.n == 0 {
		return view[E]{}
	}
	v.frozen = c.now
	return view[E]{*v.root, v.n}
}

func (w view[E]) look(i uint32) *E { return &w.root[i/spanLen][i/leafLen%nodeLen][i%leafLen] }

func (w view[E]) leaf(l uint32) *leaf[E] { return w.root[l/nodeLen][l%nodeLen] }

// part is the elements of one leaf, which begins at element i.
func (w view[E]) part(i int) []E {
	return w.leaf(uint32(i) / leafLen)[:min(leafLen, w.n-i)]
}
