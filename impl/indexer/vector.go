package indexer

import (
	"slices"
	"sync/atomic"
)

// A vector is an array of which a snapshot costs one pointer. Its elements lie in
// leaves of leafLen, the leaves in nodes of nodeLen, the nodes in a spine. A write
// that a snapshot must not see copies the leaf first, at most once a snapshot, with
// the node and the spine above it: these never change, so that readers hold them
// without a lock.
const (
	leafLen = 128
	nodeLen = 32
	spanLen = leafLen * nodeLen
)

type (
	// A leaf is some elements and the write in which it was made. Only the first leaf
	// of a vector may have room for fewer than leafLen, as many vectors are of a few.
	leaf[E any] struct {
		elems []E
		made  uint64
	}
	spine[E any] [][]leaf[E]
)

// A moment is the write that is under way.
type moment struct {
	now uint64 // its number; a snapshot is of the moment before the next write
	// quiet is whether nobody read a snapshot when it began, so that it may write
	// anywhere: no snapshot begins during a write.
	quiet bool
}

// The owner's lock guards all methods but at, which those may call who know by
// another lock that nobody changes the element.
//
// Invariant: the elements from n on are zero, so that nothing is retained.
type vector[E any] struct {
	spine  atomic.Pointer[spine[E]] // nil of a vector that never had an element
	n      int
	frozen atomic.Uint64 // the last write that a snapshot has seen
}

// at is element i for reading.
func (v *vector[E]) at(i uint32) *E { return v.spine.Load().at(i) }

func (s spine[E]) at(i uint32) *E {
	return &s[i/spanLen][i/leafLen%nodeLen].elems[i%leafLen]
}

// own is element i for writing.
func (v *vector[E]) own(i uint32, w moment) *E {
	l := &(*v.spine.Load())[i/spanLen][i/leafLen%nodeLen]
	if !w.quiet && l.made <= v.frozen.Load() {
		elems := v.put(i/leafLen, slices.Clone(l.elems), w)
		return &elems[i%leafLen]
	}
	return &l.elems[i%leafLen]
}

// put makes elems leaf l, which is a new one if there is none.
func (v *vector[E]) put(l uint32, elems []E, w moment) []E {
	var next spine[E]
	if old := v.spine.Load(); old != nil {
		next = append(make(spine[E], 0, len(*old)+1), *old...)
	}
	k := l / nodeLen
	if int(k) == len(next) {
		next = append(next, nil)
	}
	node := slices.Clone(next[k])
	if fresh := (leaf[E]{elems, w.now}); int(l%nodeLen) == len(node) {
		node = append(node, fresh)
	} else {
		node[l%nodeLen] = fresh
	}
	next[k] = node
	v.spine.Store(&next)
	return elems
}

// leaves is how many there are.
func (v *vector[E]) leaves() int {
	s := v.spine.Load()
	if s == nil || len(*s) == 0 {
		return 0
	}
	return (len(*s)-1)*nodeLen + len((*s)[len(*s)-1])
}

// push appends a zero element, which nobody but the caller knows of yet.
func (v *vector[E]) push(w moment) *E {
	i := uint32(v.n)
	v.n++
	switch l := i / leafLen; {
	case i%leafLen == 0 && int(l) == v.leaves():
		room := leafLen
		if i == 0 {
			room = 4
		}
		v.put(l, make([]E, room), w)
	case l == 0:
		if first := (*v.spine.Load())[0][0].elems; int(i) == len(first) {
			v.put(0, append(make([]E, 0, min(4*len(first), leafLen)), first...)[:min(4*len(first), leafLen)], w)
		}
	}
	return v.own(i, w)
}

// reserve makes room for the first of n elements in an empty vector.
func (v *vector[E]) reserve(n int) {
	if n > 0 {
		v.put(0, make([]E, min(n, leafLen)), moment{now: 1, quiet: true})
	}
}

// cut removes the last element, which is zero already. One leaf is kept in reserve
// until half the one before it is empty too, so that a vector at a leaf's edge does
// not allocate at every step.
func (v *vector[E]) cut() {
	v.n--
	last := v.leaves() - 1
	if v.n > (last-1)*leafLen+leafLen/2 {
		return
	}
	next := slices.Clone(*v.spine.Load())
	k := last / nodeLen
	if next[k] = slices.Clone(next[k][:last%nodeLen]); len(next[k]) == 0 {
		next = slices.Clone(next[:k])
	}
	v.spine.Store(&next)
}

// A view is a vector's elements at one moment.
type view[E any] struct {
	spine spine[E]
	n     int
}

// snapshot is the elements now, after the write of that number. Its reader counts
// as live until it is done.
func (v *vector[E]) snapshot(now uint64) view[E] {
	if v.n == 0 {
		return view[E]{}
	}
	v.frozen.Store(now)
	return view[E]{*v.spine.Load(), v.n}
}

// part is the elements of the leaf that begins at element i.
func (w view[E]) part(i int) []E {
	part := w.spine[i/spanLen][i/leafLen%nodeLen].elems
	return part[:min(len(part), w.n-i)]
}
