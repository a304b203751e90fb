package delay

import (
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*heap4[string])(nil)

// NewHeap4 makes a delaying queue whose schedule is a 4-ary heap of sixteen-byte
// nodes beside a table of keys: no object an item, no allocation once warm.
// O(log n) an operation, amortised.
func NewHeap4[T comparable](config workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, newHeap4[T]())
}

// heap4 is a schedule of two parts that meet in slot numbers: the table says when
// each waiting item is ready, and the heap orders them. Re-scheduling pushes a
// second node for the slot; the first is then outdated.
//
// Invariant: that of dueheap.Waiting.
type heap4[T comparable] struct {
	keys  keytable.Table[T, wait]
	times dueheap.Waiting
}

// A wait says when an item is ready. The time is in halves, so that it takes no more
// than its eight bytes beside a key.
type wait struct{ low, high uint32 }

func (w *wait) at() int64 { return int64(uint64(w.high)<<32 | uint64(w.low)) }

func newHeap4[T comparable]() *heap4[T] {
	h := &heap4[T]{}
	h.keys.Init()
	h.times.Current = func(n dueheap.Node) bool {
		return h.keys.Holds(n.Slot) && h.keys.At(n.Slot).at() == n.At
	}
	return h
}

func (h *heap4[T]) hash(item T) uint32 { return h.keys.Hash(item) }

func (h *heap4[T]) add(hash uint32, item T, _, at int64) {
	slot, waits := h.keys.Enter(hash, item)
	w := h.keys.At(slot)
	if waits && at >= w.at() {
		return
	}
	*w = wait{uint32(at), uint32(at >> 32)}
	h.times.Add(at, slot, waits)
}

func (h *heap4[T]) remove(hash uint32, item T) (at int64, waited bool) {
	slot, waited := h.keys.Find(hash, item)
	if waited {
		at = h.keys.At(slot).at()
		h.keys.Remove(slot)
		h.times.Remove()
	}
	return at, waited
}

func (h *heap4[T]) due(now int64, into []T, limit int) []T {
	h.times.Gather(now)
	for len(into) < limit {
		n, ok := h.times.Due(now)
		if !ok {
			break
		}
		into = append(into, h.keys.Key(n.Slot))
		h.keys.Remove(n.Slot)
	}
	return into
}

func (h *heap4[T]) next() int64 { return h.times.Next(never) }

func (h *heap4[T]) drop() {
	h.keys.Clear()
	h.times = dueheap.Waiting{Current: h.times.Current}
}
