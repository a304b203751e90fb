package delay

import (
	"container/heap"
	"hash/maphash"
	"slices"

	"github.com/informerbench/informerbench/impl/internal/core"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*binaryHeap[string])(nil)

// NewHeap makes the reference delaying queue: a binary heap of item pointers
// and a map from key to item, both plain. O(log n) an operation.
func NewHeap[T comparable](config workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, newBinaryHeap[T]())
}

// A waiter is one waiting item.
type waiter[T comparable] struct {
	item  T
	at    int64
	seq   uint64 // order of insertion, which breaks ties
	index int    // in the heap
}

// binaryHeap is the schedule of the reference.
//
// Invariant: byKey says w of w.item and heap[w.index] == w for every w of either,
// and no waiter is due before its parent.
type binaryHeap[T comparable] struct {
	heap  waiters[T]
	byKey core.Map[T, *waiter[T]]
	seq   uint64
}

func newBinaryHeap[T comparable]() *binaryHeap[T] {
	return &binaryHeap[T]{byKey: core.Map[T, *waiter[T]]{M: map[T]*waiter[T]{}}}
}

// hash is not needed, but an item that cannot be hashed must panic outside the
// lock. To compare it with itself does not tell: that ends at a NaN.
func (h *binaryHeap[T]) hash(item T) uint32 {
	return uint32(maphash.Comparable(seed, item))
}

var seed = maphash.MakeSeed()

func (h *binaryHeap[T]) add(_ uint32, item T, _, at int64) {
	h.seq++
	w, waits := h.byKey.M[item]
	if !waits {
		w = &waiter[T]{item: item, at: at, seq: h.seq}
		h.byKey.M[item] = w
		heap.Push(&h.heap, w)
	} else if at < w.at {
		w.at, w.seq = at, h.seq
		heap.Fix(&h.heap, w.index)
	}
}

func (h *binaryHeap[T]) remove(_ uint32, item T) (at int64, waited bool) {
	w, waited := h.byKey.M[item]
	if !waited {
		return 0, false
	}
	heap.Remove(&h.heap, w.index)
	h.byKey.Delete(item)
	return w.at, true
}

func (h *binaryHeap[T]) due(now int64, into []T, limit int) []T {
	for len(h.heap) > 0 && h.heap[0].at <= now && len(into) < limit {
		w := heap.Pop(&h.heap).(*waiter[T])
		h.byKey.Delete(w.item)
		into = append(into, w.item)
	}
	return into
}

func (h *binaryHeap[T]) next() int64 {
	if len(h.heap) == 0 {
		return never
	}
	return h.heap[0].at
}

func (h *binaryHeap[T]) drop() { *h = *newBinaryHeap[T]() }

// waiters implements heap.Interface.
type waiters[T comparable] []*waiter[T]

func (h waiters[T]) Len() int { return len(h) }

func (h waiters[T]) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].seq < h[j].seq
}

func (h waiters[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *waiters[T]) Push(x any) {
	w := x.(*waiter[T])
	w.index = len(*h)
	*h = append(*h, w)
}

func (h *waiters[T]) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if cap(*h) > 4*last+1024 {
		*h = slices.Clone(*h) // a burst is over
	}
	return w
}
