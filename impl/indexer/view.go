package indexer

import "unsafe"

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
	if v.shown == nil {
		v.shown = newShown((*v.leaves)[:v.used])
	}
	v.shown.frozen = c.now
	return view[E]{v.shown.root, v.n}
}

// newShown makes the tree over leaves. Their dates are before all snapshots.
func newShown[E any](leaves []*E) *shown[E] {
	nodes := (len(leaves) + nodeLen - 1) / nodeLen
	s := &shown[E]{root: make(root[E], nodes), nodeDate: make([]uint64, nodes), leafDate: make([]uint64, len(leaves))}
	for k := range s.root {
		s.root[k] = new(node[E])
		copy(s.root[k][:], leaves[k*nodeLen:])
	}
	return s
}

func (w view[E]) look(i uint32) *E { return elem(w.leaf(i/leafLen), i) }

// leaf is the first element of leaf l.
func (w view[E]) leaf(l uint32) *E { return w.root[l/nodeLen][l%nodeLen] }

// part is the elements of one leaf, which begins at element i.
func (w view[E]) part(i int) []E {
	return unsafe.Slice(w.leaf(uint32(i)/leafLen), min(leafLen, w.n-i))
}
