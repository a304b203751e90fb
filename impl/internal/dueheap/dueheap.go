// Package dueheap is a 4-ary heap of ready times, the order behind delaying
// queues that keep their keys in a table: a node is sixteen bytes and names its
// key by slot, so the heap holds no pointers and the collector never scans it.
//
// There is no way to move or remove a node. Whoever re-schedules a key pushes a
// second node, skips the outdated one when it comes up and calls Filter when
// outdated nodes pile up. That spares every swap a random write of the moved
// key's position, which on large heaps costs more than the order itself.
package dueheap

// A Node says that the key in Slot is ready at At.
type Node struct {
	At   int64
	seq  uint32 // order of insertion among equal times
	Slot uint32
}

func (n Node) before(m Node) bool {
	// The sequence wraps, so it is compared by distance: right as long as fewer
	// than 2³¹ insertions lie between two nodes of the same time.
	return n.At < m.At || n.At == m.At && int32(n.seq-m.seq) < 0
}

// The root is at index 3 and the children of i at 4(i-2)…4(i-2)+3: with an
// array that begins on a cache line, the four children share one.
const root = 3

// A Heap orders nodes by time, then by insertion. The zero value is empty.
//
// Invariant: nodes[i] is not before nodes[i/4+2] for every i > root.
type Heap struct {
	nodes []Node
	seq   uint32
}

// Len is the number of nodes, outdated ones included.
func (h *Heap) Len() int { return max(0, len(h.nodes)-root) }

// Min is the first node of a heap that is not empty.
func (h *Heap) Min() Node { return h.nodes[root] }

// Push adds a node in O(log n), O(1) when times come in random order.
func (h *Heap) Push(at int64, slot uint32) {
	if len(h.nodes) == 0 {
		h.nodes = make([]Node, root, 16)
	}
	h.seq++
	n := Node{At: at, seq: h.seq, Slot: slot}
	h.nodes = append(h.nodes, n)
	h.up(len(h.nodes)-1, n)
}

// up places n at i or where an ancestor of i was.
func (h *Heap) up(i int, n Node) {
	nodes := h.nodes
	for i > root {
		parent := i/4 + 2
		if !n.before(nodes[parent]) {
			break
		}
		nodes[i] = nodes[parent]
		i = parent
	}
	nodes[i] = n
}

// Pop removes the first node of a heap that is not empty, in O(log n).
func (h *Heap) Pop() Node {
	nodes := h.nodes
	first := nodes[root]
	last := len(nodes) - 1
	n := nodes[last]
	h.nodes = nodes[:last]
	if last > root {
		h.up(h.hole(root), n)
	}
	return first
}

// hole moves the earliest child up, level by level, and returns the leaf that
// becomes free. The node that fills it came from the bottom and mostly stays
// there, so this takes a compare less per level than sifting it down.
func (h *Heap) hole(i int) int {
	nodes := h.nodes
	for {
		child := 4 * (i - 2)
		if child+3 < len(nodes) {
			four := nodes[child : child+4 : child+4]
			left, right := 0, 2
			if four[1].before(four[0]) {
				left = 1
			}
			if four[3].before(four[2]) {
				right = 3
			}
			if four[right].before(four[left]) {
				left = right
			}
			nodes[i] = four[left]
			i = child + left
			continue
		}
		if child >= len(nodes) {
			return i
		}
		least := child
		for c := child + 1; c < len(nodes); c++ {
			if nodes[c].before(nodes[least]) {
				least = c
			}
		}
		nodes[i] = nodes[least]
		i = least
	}
}

// Clear drops every node, and the memory of a large heap.
func (h *Heap) Clear() {
	if cap(h.nodes) > 4096 {
		h.nodes = nil
		return
	}
	h.nodes = h.nodes[:min(root, len(h.nodes))]
}

// Filter drops the nodes that keep refuses, in O(n).
func (h *Heap) Filter(keep func(Node) bool) {
	if len(h.nodes) == 0 {
		return
	}
	kept := h.nodes[:root]
	for _, n := range h.nodes[root:] {
		if keep(n) {
			kept = append(kept, n)
		}
	}
	h.nodes = kept
	if len(kept) <= root {
		return
	}
	for i := (len(kept)-1)/4 + 2; i >= root; i-- {
		n := kept[i]
		h.down(i, n)
	}
}

// down places n at i or where a descendant of i was.
func (h *Heap) down(i int, n Node) {
	nodes := h.nodes
	for {
		least, first := i, n
		child := 4 * (i - 2)
		for c := child; c < min(child+4, len(nodes)); c++ {
			if nodes[c].before(first) {
				least, first = c, nodes[c]
			}
		}
		nodes[i] = first
		if least == i {
			return
		}
		i = least
	}
}
