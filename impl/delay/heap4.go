package delay

import (
	"slices"

	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*heap4[string])(nil)

// NewHeap4 makes a delaying queue whose schedule is a 4-ary heap of sixteen-byte
// nodes beside a table of keys: no object an item, no allocation once warm. Of
// many items only those that come next are in the heap. O(log n) an operation,
// amortised.
func NewHeap4[T comparable](config workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, newHeap4[T]())
}

// heap4 is a schedule of two parts that meet in slot numbers: the table says when
// each waiting item is ready, near is a heap of those that are ready before the
// horizon. Those behind it are in no order, for which most items never pay before
// they are near: when near is empty, a walk through the table finds about a
// quarter of the items for it. That is the two-list procedure of discrete event
// simulation (Blackstone, Hogg, Phillips: A two-list synchronization procedure for
// discrete event simulation, 1981).
//
// Re-scheduling pushes a second node for the slot; the first is then outdated and
// is skipped.
//
// Invariant: an item has a node {value, slot} in near ⇔ its time is before the
// horizon; the outdated nodes beyond these are counted, and never more than the
// others plus slack. No item of the table is ready before the first node and
// soonest, and horizon ≤ soonest.
type heap4[T comparable] struct {
	keys     keytable.Table[T, wait]
	intake   intake[T]
	near     dueheap.Heap
	outdated int
	horizon  int64 // never while every item is in near
	soonest  int64 // not after the time of any item behind the horizon
	most     int   // nodes that near may have before the horizon comes closer
	seq      uint32

	nodes [batch]dueheap.Node // of due, as slots
	slots [batch]uint32
}

// A wait says when an item is ready, and in which order it came. Twelve bytes,
// with the time in halves, so that none are lost to alignment.
type wait struct{ low, high, seq uint32 }

func (w *wait) at() int64 { return int64(uint64(w.high)<<32 | uint64(w.low)) }

const (
	// slack is how many outdated nodes are always tolerated.
	slack = 64
	// fewNear is how many nodes near may always have, sixteen kilobytes of them, and
	// manyNear how many it takes where they are due at once, a megabyte.
	fewNear  = 1000
	manyNear = 1 << 16
)

func newHeap4[T comparable]() *heap4[T] {
	h := &heap4[T]{horizon: never, soonest: never, most: fewNear}
	h.keys.InitWide()
	return h
}

func (h *heap4[T]) hash(item T) uint32 { return h.keys.Hash(item) }

func (h *heap4[T]) add(hash uint32, item T, _, at int64) {
	if h.keys.Len() < wideTable {
		h.set(hash, item, at)
	} else if h.intake.put(hash, item, at) {
		h.settle()
	}
}

// settle takes in the lot.
func (h *heap4[T]) settle() { settle(&h.intake, &h.keys, h.set) }

func (h *heap4[T]) set(hash uint32, item T, at int64) {
	slot, waits := h.keys.Enter(hash, item)
	w := h.keys.At(slot)
	if waits {
		before := w.at()
		if at >= before {
			return
		}
		if before < h.horizon {
			h.outdated++
		}
	}
	h.seq++
	*w = wait{uint32(at), uint32(at >> 32), h.seq}
	if at >= h.horizon {
		h.soonest = min(h.soonest, at)
		return
	}
	h.near.Put(dueheap.Node{At: at, Seq: h.seq, Slot: slot})
	h.tidy()
	if h.near.Len() > h.most {
		h.approach()
	}
}

// tidy drops the outdated nodes when they outnumber the others. Each is dropped
// once, so this costs O(1) a call in the long run.
func (h *heap4[T]) tidy() {
	if 2*h.outdated > h.near.Len()+slack {
		h.near.Filter(h.current)
		h.outdated = 0
	}
}

// current tells a node from an outdated one. The slot of an outdated node may
// have passed to another item, but insertions are numbered.
func (h *heap4[T]) current(n dueheap.Node) bool {
	if !h.keys.Holds(n.Slot) {
		return false
	}
	w := h.keys.At(n.Slot)
	return w.seq == n.Seq && w.at() == n.At
}

// approach brings the horizon so close that about a quarter of the nodes remain.
// As many as are dropped, or remain, must be pushed before it is called again.
func (h *heap4[T]) approach() {
	horizon := h.near.Quantile(0.25)
	h.near.Filter(func(n dueheap.Node) bool { return n.At < horizon && h.current(n) })
	h.outdated = 0
	h.horizon = horizon
	h.soonest = min(h.soonest, horizon)
	h.most = max(fewNear, h.keys.Len()/4, 2*h.near.Len())
}

// recede fills near, which is empty, at now, and moves the horizon behind what it
// takes: all of a few items, else a quarter or more, so that a walk through n of
// them is paid for by the next n/8 that become ready. Of what is due it takes all,
// or half of very many items.
func (h *heap4[T]) recede(now int64) {
	h.near.Clear()
	h.outdated = 0
	n := h.keys.Len()
	var nodes []dueheap.Node
	for _, share := range []float64{0.25, 0.6, 1} {
		h.horizon, h.soonest = h.quantile(share), never
		if due := now + 1; n <= manyNear {
			h.horizon = max(h.horizon, due)
		} else if h.horizon < due {
			h.horizon = min(h.quantile(0.5), due)
		}
		nodes = slices.Grow(nodes[:0], int(share*float64(n)))
		for slot, w := range h.keys.All() {
			if at := w.at(); at < h.horizon {
				nodes = append(nodes, dueheap.Node{At: at, Seq: w.seq, Slot: slot})
			} else {
				h.soonest = min(h.soonest, at)
			}
		}
		if len(nodes) >= n/8 {
			break
		}
	}
	h.near.Load(nodes)
	h.most = max(fewNear, n/2, 2*len(nodes))
}

// quantile is a time that about the given share of the items are before; of few
// items, and of a share of one, it is never.
func (h *heap4[T]) quantile(share float64) int64 {
	if share == 1 || h.keys.Len() <= fewNear {
		return never
	}
	var times [64]int64
	found := 0
	for _, w := range h.keys.Some(len(times)) {
		times[found] = w.at()
		found++
	}
	return dueheap.Quantile(times[:found], share)
}

func (h *heap4[T]) due(now int64, into []T, limit int) []T {
	h.settle()
	slots := h.slots[:0]
	for len(slots) == 0 && h.ready(now) {
		// Two passes: looking a node up in a large table misses the cache, and
		// without the pops between them these misses overlap.
		nodes := h.nodes[:0]
		for len(nodes) < min(limit, batch) && h.near.Len() > 0 && h.near.Min().At <= now {
			nodes = append(nodes, h.near.Pop())
		}
		for _, n := range nodes {
			if h.current(n) {
				slots = append(slots, n.Slot)
			} else {
				h.outdated--
			}
		}
	}
	into = h.keys.RemoveAll(slots, into)
	if h.keys.Len() == 0 {
		h.clear()
	}
	h.tidy()
	return into
}

// ready tells whether the first node is due.
func (h *heap4[T]) ready(now int64) bool {
	if h.near.Len() == 0 && h.soonest <= now {
		h.recede(now)
	}
	return h.near.Len() > 0 && h.near.Min().At <= now
}

func (h *heap4[T]) next() int64 {
	if h.near.Len() > 0 {
		return h.near.Min().At
	}
	return h.soonest
}

// clear forgets all that is known of items.
func (h *heap4[T]) clear() {
	h.near.Clear()
	h.outdated = 0
	h.horizon, h.soonest, h.most = never, never, fewNear
}

func (h *heap4[T]) drop() {
	h.keys.Clear()
	h.intake = intake[T]{}
	h.near = dueheap.Heap{}
	h.clear()
}
