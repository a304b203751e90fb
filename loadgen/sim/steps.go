package sim

import "time"

// stepHeap is a binary heap of the workers' next steps, by time and then by
// insertion. It holds as many as workers are busy.
type stepHeap struct {
	steps []workerStep
	seq   uint32
}

type workerStep struct {
	at   time.Duration
	seq  uint32
	slot uint32
}

func (s workerStep) before(t workerStep) bool {
	// By distance, since the sequence wraps.
	return s.at < t.at || s.at == t.at && int32(s.seq-t.seq) < 0
}

// first is when the first step is to be made; never without one.
func (h *stepHeap) first() time.Duration {
	if len(h.steps) == 0 {
		return never
	}
	return h.steps[0].at
}

func (h *stepHeap) push(at time.Duration, slot uint32) {
	h.seq++
	s := workerStep{at, h.seq, slot}
	h.steps = append(h.steps, s)
	i := len(h.steps) - 1
	for i > 0 && s.before(h.steps[(i-1)/2]) {
		h.steps[i] = h.steps[(i-1)/2]
		i = (i - 1) / 2
	}
	h.steps[i] = s
}

func (h *stepHeap) pop() (slot uint32) {
	slot = h.steps[0].slot
	last := len(h.steps) - 1
	s := h.steps[last]
	h.steps = h.steps[:last]
	if last == 0 {
		return slot
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && h.steps[child+1].before(h.steps[child]) {
			child++
		}
		if !h.steps[child].before(s) {
			break
		}
		h.steps[i] = h.steps[child]
		i = child
	}
	h.steps[i] = s
	return slot
}
