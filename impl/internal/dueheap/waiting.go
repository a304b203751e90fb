package dueheap

// slack is how many outdated nodes are always tolerated.
const slack = 64

// Waiting is a Heap of slots whose owner keeps their times too: a node is outdated
// once that time is another one. The slot of an outdated node may have passed to
// another key that is ready at the same time: then either node stands for it.
//
// Invariant: for each of N waiting slots there is a node, and beyond these are no
// more than N outdated ones and slack.
type Waiting struct {
	Heap
	N int
	// Current tells a node from an outdated one.
	Current func(Node) bool
}

// Add makes a slot wait, whose node becomes outdated if it waits already.
func (w *Waiting) Add(at int64, slot uint32, waits bool) {
	if !waits {
		w.N++
	}
	w.Push(at, slot)
	w.tidy()
}

// Remove counts a slot that does not wait any more, and whose node is outdated.
func (w *Waiting) Remove() {
	w.N--
	w.tidy()
}

// tidy drops the outdated nodes when they outnumber the others. Each is dropped
// once, so this costs O(1) a call in the long run.
func (w *Waiting) tidy() {
	if w.Len() > 2*w.N+slack {
		w.Filter(w.Current)
	}
}

// Due removes the first node of a slot that is ready at now, if there is one.
// Call Gather first where many may be.
func (w *Waiting) Due(now int64) (n Node, ok bool) {
	for w.Len() > 0 && w.Min().At <= now {
		if n = w.Pop(); w.Current(n) {
			w.N--
			return n, true
		}
	}
	if w.N == 0 {
		w.Clear()
	}
	w.tidy()
	return n, false
}

// First is the first node of a slot that waits, if there is one.
func (w *Waiting) First() (n Node, ok bool) {
	for w.Len() > 0 {
		if n = w.Min(); w.Current(n) {
			return n, true
		}
		w.Pop()
	}
	return n, false
}

// Next is a time before which no slot is ready, of those for which there is a
// node; never without.
func (w *Waiting) Next(never int64) int64 {
	if w.Len() == 0 {
		return never
	}
	return w.Min().At
}
