package dueheap

import (
	"math"
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
// large heap misses the cache on several levels; so where an eighth of the nodes
// or more are due they leave the heap together, sorted into a run, from which
// Pop takes them: O(n) where their times are spread evenly, else O(n log n).
// Nodes that are pushed later may still come before them.
func (h *Heap) Gather(now int64) {
	if h.end-root < gatherLen {
		return
	}
	due, least, most := 0, int64(math.MaxInt64), int64(math.MinInt64)
	for i := range samples {
		if at := h.node(root + i*(h.end-root)/samples).At; at <= now {
			due++
			least, most = min(least, at), max(most, at)
		}
	}
	if due < samples/8 {
		return
	}
	run := make([]Node, 0, due*(h.end-root)/samples)
	h.eachDue(now, func(n *Node) { run = append(run, *n) })
	run = sorted(run, least, most)
	h.run = nil
	h.Filter(func(n Node) bool { return n.At > now })
	h.run = run
}

// sorted sorts nodes: they are put into buckets of even parts of the time from
// least to most, then sorted in each. Few are outside of that time, so that a few
// odd ones do not put all others into one bucket.
func sorted(nodes []Node, least, most int64) []Node {
	span := uint64(most - least)
	shift := max(0, bits.Len64(span)-bits.Len(uint(min(len(nodes)/4, maxBuckets-1))))
	ends := make([]uint32, span>>shift+1)
	bucket := func(n *Node) *uint32 { return &ends[uint64(min(max(n.At, least), most)-least)>>shift] }
	for i := range nodes {
		*bucket(&nodes[i])++
	}
	sum := uint32(0)
	for b, size := range ends {
		ends[b] = sum // where it begins, until it is filled
		sum += size
	}
	run := make([]Node, sum)
	for i := range nodes {
		end := bucket(&nodes[i])
		run[*end] = nodes[i]
		*end++
	}
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
