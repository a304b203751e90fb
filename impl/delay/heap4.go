package delay

import (
	"math"

	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*heap4[string])(nil)

// NewHeap4 makes a delaying queue whose schedule is a 4-ary heap of sixteen-byte
// nodes beside a table of keys: no object an item, no allocation once warm.
// O(log n) an operation.
func NewHeap4[T comparable](config workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, &heap4[T]{table: newTable[T, int64]()})
}

// heap4 is a schedule of two parts that meet in slot numbers: the table says when
// each waiting item is ready, order says which is next. Re-scheduling pushes a
// second node for the slot; the first is then outdated and is skipped.
//
// Invariant: for every slot of the table there is a node {value, slot} in order;
// the outdated nodes beyond these are counted, and never more than the items plus
// slack.
type heap4[T comparable] struct {
	table[T, int64] // when each is ready
	intake          intake[T]
	order           dueheap.Heap
	outdated        int

	nodes [batch]dueheap.Node // of due, as slots
	slots [batch]uint32
}

// gone is the ready time of a key that is about to be removed. No node has it.
const gone = math.MinInt64

// slack is how many outdated nodes are always tolerated.
const slack = 64

func (h *heap4[T]) add(hash uint32, item T, _, at int64) int64 {
	if len(h.index) < wideIndex {
		h.set(hash, item, at)
	} else if h.intake.put(hash, item, at) {
		h.settle()
	}
	return h.next()
}

// settle takes in the lot.
func (h *heap4[T]) settle() {
	h.warm(h.intake.lot)
	for i := range h.intake.lot {
		a := &h.intake.lot[i]
		h.set(a.hash, a.item, a.at)
	}
	h.intake.empty()
}

func (h *heap4[T]) set(hash uint32, item T, at int64) {
	slot, waits := h.enter(hash, item)
	ready := h.value(slot)
	if waits && at >= *ready {
		return
	}
	*ready = at
	h.order.Push(at, slot)
	if waits {
		h.outdated++
		h.tidy()
	}
}

// tidy drops the outdated nodes when they outnumber the others. Each is dropped
// once, so this costs O(1) a call in the long run.
func (h *heap4[T]) tidy() {
	if h.outdated > h.live+slack {
		h.order.Filter(h.current)
		h.outdated = h.order.Len() - h.live
	}
}

// current tells a node from an outdated one. The slot of an outdated node may
// have passed to another key, even one that is ready at the same time: then
// either node stands for it, and the other is outdated.
func (h *heap4[T]) current(n dueheap.Node) bool {
	return h.holds(n.Slot) && *h.value(n.Slot) == n.At
}

func (h *heap4[T]) due(now int64, into []T, limit int) []T {
	h.settle()
	slots := h.slots[:0]
	h.order.Gather(now)
	for len(slots) == 0 && h.order.Len() > 0 && h.order.Min().At <= now {
		// Two passes: looking a node up in a large table misses the cache, and
		// without the pops between them these misses overlap.
		nodes := h.nodes[:0]
		for len(nodes) < min(limit, batch) && h.order.Len() > 0 && h.order.Min().At <= now {
			nodes = append(nodes, h.order.Pop())
		}
		for _, n := range nodes {
			if !h.current(n) {
				h.outdated--
				continue
			}
			*h.value(n.Slot) = gone // so a second node of the same time is outdated
			slots = append(slots, n.Slot)
		}
	}
	into = h.removeAll(slots, into)
	if h.live == 0 {
		h.order.Clear()
		h.outdated = 0
	}
	h.tidy()
	return into
}

func (h *heap4[T]) next() int64 {
	if h.order.Len() == 0 {
		return h.intake.before(never)
	}
	return h.intake.before(h.order.Min().At)
}

func (h *heap4[T]) drop() {
	h.table.drop()
	h.intake.empty()
	h.order = dueheap.Heap{}
	h.outdated = 0
}
