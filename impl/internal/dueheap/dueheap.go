// Package dueheap is a 4-ary heap of ready times, the order behind delaying
// queues that keep their keys in a table: a node is sixteen bytes and names its
// key by slot, so the heap holds no pointers and the collector never scans it.
//
// There is no way to move or remove a node. Whoever re-schedules a key pushes a
// second node, skips the outdated one when it comes up and calls Filter when
// outdated nodes pile up. That spares every swap a random write of the moved
// key's position, which on large heaps costs more than the order itself.
package dueheap

import "slices"

// A Node says that the key in Slot is ready at At.
type Node struct {
	At   int64
	Seq  uint32 // order of insertion among equal times
	Slot uint32
}

func (n Node) before(m Node) bool {
	// The sequence wraps, so it is compared by distance: right as long as fewer
	// than 2³¹ insertions lie between two nodes of the same time.
	return n.At < m.At || n.At == m.At && int32(n.Seq-m.Seq) < 0
}

// The root is at index 3 and the children of i at 4(i-2)…4(i-2)+3: with an
// array that begins on a cache line, the four children share one.
const root = 3

// Nodes are stored in chunks, so that a growing heap is not copied and has room
// for at most a chunk more than it needs. Only the first chunk begins small.
const (
	chunkBits = 11
	chunkLen  = 1 << chunkBits
	chunkMask = chunkLen - 1
)

// A Heap orders nodes by time, then by insertion. The zero value is empty.
//
// Invariant: node i is not before node i/4+2 for every root < i < end; chunks
// have room for these and no more than two chunks beyond. Run is sorted.
type Heap struct {
	chunks [][]Node
	end    int // root or less when empty
	seq    uint32
	run    []Node // nodes that Gather took out
}

// Len is the number of nodes, outdated ones included.
func (h *Heap) Len() int { return max(0, h.end-root) + len(h.run) }

// Min is the first node of a heap that is not empty.
func (h *Heap) Min() Node {
	if h.runFirst() {
		return h.run[0]
	}
	return h.chunks[0][root]
}

// runFirst tells that the first node is in run.
func (h *Heap) runFirst() bool {
	return len(h.run) > 0 && (h.end <= root || h.run[0].before(h.chunks[0][root]))
}

func (h *Heap) node(i int) *Node { return &h.chunks[i>>chunkBits][i&chunkMask] }

// Push adds a node in O(log n), O(1) when times come in random order.
func (h *Heap) Push(at int64, slot uint32) {
	h.seq++
	h.Put(Node{At: at, Seq: h.seq, Slot: slot})
}

// Put is Push for users that number insertions themselves.
func (h *Heap) Put(n Node) {
	i := max(h.end, root)
	if c := i >> chunkBits; c >= len(h.chunks) || i&chunkMask >= len(h.chunks[c]) {
		h.grow()
	}
	h.end = i + 1
	h.up(i, n)
}

// grow makes room for one more node.
func (h *Heap) grow() {
	switch {
	case len(h.chunks) == 0:
		h.chunks = append(h.chunks, make([]Node, 16))
	case len(h.chunks[0]) < chunkLen:
		first := make([]Node, 2*len(h.chunks[0]))
		copy(first, h.chunks[0])
		h.chunks[0] = first
	default:
		h.chunks = append(h.chunks, make([]Node, chunkLen))
	}
}

// up places n at i or where an ancestor of i was.
func (h *Heap) up(i int, n Node) {
	place := h.node(i)
	for i > root {
		i = i/4 + 2
		parent := h.node(i)
		if !n.before(*parent) {
			break
		}
		*place = *parent
		place = parent
	}
	*place = n
}

// Pop removes the first node of a heap that is not empty, in O(log n).
func (h *Heap) Pop() Node {
	first := h.Min()
	if h.runFirst() {
		if h.run = h.run[1:]; len(h.run) == 0 {
			h.run = nil
		}
		return first
	}
	h.end--
	n := *h.node(h.end)
	if h.end > root {
		h.up(h.hole(root), n)
	}
	if c := len(h.chunks) - 1; c > 0 && h.end <= (c-1)<<chunkBits {
		h.chunks[c] = nil
		h.chunks = h.chunks[:c]
	}
	return first
}

// hole moves the earliest child up, level by level, and returns the leaf that
// becomes free. The node that fills it came from the bottom and mostly stays
// there, so this takes a compare less per level than sifting it down.
func (h *Heap) hole(i int) int {
	place := h.node(i)
	for {
		child := 4 * (i - 2)
		if child+3 < h.end {
			at := child & chunkMask
			four := h.chunks[child>>chunkBits][at : at+4 : at+4]
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
			*place = four[left]
			i, place = child+left, &four[left]
			continue
		}
		if child >= h.end {
			return i
		}
		least := child
		for c := child + 1; c < h.end; c++ {
			if h.node(c).before(*h.node(least)) {
				least = c
			}
		}
		*place = *h.node(least)
		return least // its children would lie beyond the end
	}
}

// Clear drops every node, and the memory of a large heap.
func (h *Heap) Clear() {
	if len(h.chunks) > 2 {
		h.chunks = nil
	}
	h.end, h.run = 0, nil
}

// Filter drops the nodes that keep refuses, in O(n).
func (h *Heap) Filter(keep func(Node) bool) {
	h.run = slices.DeleteFunc(h.run, func(n Node) bool { return !keep(n) })
	end := root
	for i := root; i < h.end; i++ {
		if n := *h.node(i); keep(n) {
			*h.node(end) = n
			end++
		}
	}
	if h.end <= root {
		return
	}
	h.end = end
	if c := (end-1)>>chunkBits + 2; c < len(h.chunks) {
		clear(h.chunks[c:])
		h.chunks = h.chunks[:c]
	}
	for i := (end-1)/4 + 2; i >= root; i-- {
		h.down(i, *h.node(i))
	}
}

// down places n at i or where a descendant of i was.
func (h *Heap) down(i int, n Node) {
	for {
		least, first := i, n
		child := 4 * (i - 2)
		for c := child; c < min(child+4, h.end); c++ {
			if n := *h.node(c); n.before(first) {
				least, first = c, n
			}
		}
		*h.node(i) = first
		if least == i {
			return
		}
		i = least
	}
}
