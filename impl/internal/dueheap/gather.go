package dueheap

import (
	"math/bits"
	"slices"
)

const (
	// gatherLen is how many nodes are worth gathering: a heap of fewer lies in the
	// cache, where popping is no slower than sorting.
	gatherLen = chunkLen
	samples   = 64
	// maxBuckets bounds the memory that tells buckets apart.
	maxBuckets = 1 << 16
)

// Gather prepares a heap for the removal of all that is due at now. A Pop of a
// large heap misses the cache on several levels; so where many nodes are due at
// once they leave the heap together, sorted into a run, from which Pop takes
// them: O(n) where their times are spread evenly, else O(n log n). Nodes that
// are pushed later may still come before them.
func (h *Heap) Gather(now int64) {
	if h.end-root < gatherLen || !h.manyDue(now) {
		return
	}
	run := h.sorted(now)
	h.run = nil
	h.Filter(func(n Node) bool { return n.At > now })
	h.run = run
}

// manyDue estimates whether an eighth of the nodes are due.
func (h *Heap) manyDue(now int64) bool {
	due := 0
	for i := range samples {
		if h.node(root+i*(h.end-root)/samples).At <= now {
			due++
		}
	}
	return due >= samples/8
}

// sorted are the nodes that are due, of which there must be one, and those of the
// run: put into buckets by time, then sorted in each.
func (h *Heap) sorted(now int64) []Node {
	n, least, most := 0, now, h.Min().At
	h.eachDue(now, func(node *Node) {
		n++
		least, most = min(least, node.At), max(most, node.At)
	})
	shift := max(0, bits.Len64(uint64(most-least))-min(bits.Len(uint(n/4)), bits.Len(maxBuckets-1)))
	ends := make([]uint32, uint64(most-least)>>shift+1)
	h.eachDue(now, func(node *Node) { ends[uint64(node.At-least)>>shift]++ })
	sum := uint32(0)
	for b, size := range ends {
		ends[b] = sum // where it begins, until it is filled
		sum += size
	}
	run := make([]Node, n)
	h.eachDue(now, func(node *Node) {
		end := &ends[uint64(node.At-least)>>shift]
		run[*end] = *node
		*end++
	})
	begin := uint32(0)
	for _, end := range ends {
		if end-begin > 1 {
			slices.SortFunc(run[begin:end], compare)
		}
		begin = end
	}
	return run
}

// compare orders distinct nodes.
func compare(n, m Node) int {
	if n.before(m) {
		return -1
	}
	return 1
}

// eachDue calls f with every node that is due or in the run, in no order.
func (h *Heap) eachDue(now int64, f func(*Node)) {
	for i := range h.run {
		f(&h.run[i])
	}
	for i := root; i < h.end; i++ {
		if n := h.node(i); n.At <= now {
			f(n)
		}
	}
}
