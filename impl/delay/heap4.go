package delay

import (
	"math"

	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*heap4[string])(nil)

// NewHeap4 makes a delaying queue whose schedule is a 4-ary heap of sixteen-byte
// nodes beside a table of keys: no object an item, no allocation once warm.
// O(log n) an operation.
func NewHeap4[T comparable](config workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, &heap4[T]{keys: keytable.New[T, int64]()})
}

// heap4 is a schedule of two parts that meet in slot numbers: keys says when
// each waiting key is ready, order says which is next. Re-scheduling pushes a
// second node for the slot; the first is then outdated and is skipped.
//
// Invariant: for every slot in keys there is a node {keys[slot], slot} in order;
// the outdated nodes beyond these are counted, and never more than the keys plus
// slack.
type heap4[T comparable] struct {
	keys     *keytable.Table[T, int64]
	order    dueheap.Heap
	outdated int

	slots  [batch]uint32 // of due
	hashes [batch]uint64
}

// gone is the ready time of a key that is about to be removed. No node has it.
const gone = math.MinInt64

// slack is how many outdated nodes are always tolerated.
const slack = 64

func (h *heap4[T]) add(item T, _, at int64) {
	hash := h.keys.Hash(item)
	slot, waits := h.keys.Find(hash, item)
	if !waits {
		slot = h.keys.Insert(hash, item)
		*h.keys.At(slot) = at
		h.order.Push(at, slot)
		return
	}
	if ready := h.keys.At(slot); at < *ready {
		*ready = at
		h.order.Push(at, slot)
		h.outdated++
		h.tidy()
	}
}

// tidy drops the outdated nodes when they outnumber the others. Each is dropped
// once, so this costs O(1) a call in the long run.
func (h *heap4[T]) tidy() {
	if h.outdated > h.keys.Len()+slack {
		h.order.Filter(h.current)
		h.outdated = h.order.Len() - h.keys.Len()
	}
}

// current tells a node from an outdated one. The slot of an outdated node may
// have passed to another key, even one that is ready at the same time: then
// either node stands for it, and the other is outdated.
func (h *heap4[T]) current(n dueheap.Node) bool {
	return h.keys.Holds(n.Slot) && *h.keys.At(n.Slot) == n.At
}

// due works in three passes over a batch, each a short loop of independent
// memory accesses: in a large queue each of them misses the cache, and so they
// overlap.
func (h *heap4[T]) due(now int64, into []T, limit int) []T {
	slots := h.slots[:0]
	for len(slots) < min(limit, batch) && h.order.Len() > 0 && h.order.Min().At <= now {
		n := h.order.Pop()
		if !h.current(n) {
			h.outdated--
			continue
		}
		*h.keys.At(n.Slot) = gone // so a second node of the same time is outdated
		slots = append(slots, n.Slot)
	}
	from := len(into)
	for _, slot := range slots {
		into = append(into, h.keys.Key(slot))
	}
	for i, item := range into[from:] {
		h.hashes[i] = h.keys.Hash(item)
	}
	for i, slot := range slots {
		h.keys.Remove(h.hashes[i], slot)
	}
	if h.keys.Len() == 0 {
		h.order.Clear()
		h.outdated = 0
	}
	h.tidy()
	return into
}

func (h *heap4[T]) next() int64 {
	if h.order.Len() == 0 {
		return never
	}
	return h.order.Min().At
}
