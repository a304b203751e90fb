package queue

import (
	"slices"

	"k8s.io/client-go/util/workqueue"
)

var (
	_ workqueue.Queue[string] = (*sliceStorage[string])(nil)
	_ workqueue.Queue[string] = (*ringStorage[string])(nil)
)

// sliceStorage is the plain reference of the storage seam.
//
// Invariant: items is the content, oldest first; cut items were before it when it was
// copied for the last time, no more than it has and manyCut.
type sliceStorage[T comparable] struct {
	items []T
	cut   int
}

const manyCut = 1024

// NewSliceStorage makes a storage that appends and cuts the front off.
func NewSliceStorage[T comparable]() workqueue.Queue[T] { return &sliceStorage[T]{} }

func (s *sliceStorage[T]) Touch(T)     {}
func (s *sliceStorage[T]) Push(item T) { s.items = append(s.items, item) }
func (s *sliceStorage[T]) Len() int    { return len(s.items) }

func (s *sliceStorage[T]) Pop() T {
	item := s.items[0]
	clear(s.items[:1]) // a popped item is not kept alive
	s.items = s.items[1:]
	if s.cut++; s.cut > len(s.items)+manyCut { // what was cut off is kept until then
		s.items, s.cut = slices.Clone(s.items), 0
	}
	return item
}

// ringStorage is a circular buffer whose length is a power of two.
//
// Invariant: the content is buf[first&mask] … buf[(last-1)&mask] with
// mask = len(buf)-1 and last-first ≤ len(buf); every other element is zero.
type ringStorage[T comparable] struct {
	buf         []T
	first, last uint // count pops and pushes, and may wrap around
}

// minRing is the length to which a ring shrinks: a queue that is filled and emptied
// all the time keeps its buffer, as it keeps as many free entries in its table.
const minRing = 4096

// NewRingStorage makes a storage that re-uses its buffer: nothing is allocated
// in the steady state, and a buffer of more than 4,096 that is an eighth full is halved.
func NewRingStorage[T comparable]() workqueue.Queue[T] { return &ringStorage[T]{} }

func (r *ringStorage[T]) Touch(T)  {}
func (r *ringStorage[T]) Len() int { return int(r.last - r.first) }

func (r *ringStorage[T]) Push(item T) {
	if r.Len() == len(r.buf) {
		r.resize(max(8, 2*len(r.buf)))
	}
	r.buf[r.last&uint(len(r.buf)-1)] = item
	r.last++
}

// Pop takes the oldest item. As upstream's storage it must not be called when
// Len is zero.
func (r *ringStorage[T]) Pop() T {
	var zero T
	i := r.first & uint(len(r.buf)-1)
	item := r.buf[i]
	r.buf[i] = zero
	r.first++
	if len(r.buf) > minRing && r.Len() <= len(r.buf)/8 {
		r.resize(len(r.buf) / 2)
	}
	return item
}

func (r *ringStorage[T]) resize(n int) {
	buf := make([]T, n)
	length := r.Len()
	if length > 0 {
		i := int(r.first & uint(len(r.buf)-1))
		k := copy(buf[:length], r.buf[i:])
		copy(buf[k:length], r.buf)
	}
	r.buf, r.first, r.last = buf, 0, uint(length)
}
