package probe

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A Queue counts the traffic of one work queue. The hooks call it from the queue's
// metrics, some of them under its lock.
type Queue struct {
	// Timed says that a hook calls Waited and Worked, and the times of Get and Done are
	// not wanted.
	Timed bool

	depth             atomic.Int64
	adds, gets, dones atomic.Int64
	added, got        atomic.Int64 // since the reset
	wait, work        Histogram
}

// Depth notes that n more items are queued.
func (q *Queue) Depth(n int64) { q.depth.Add(n) }

// Add counts an item that was added.
func (q *Queue) Add() {
	q.adds.Add(1)
	q.added.Add(1)
}

// Get notes that an item was handed out after so many seconds.
func (q *Queue) Get(seconds float64) {
	q.gets.Add(1)
	q.got.Add(1)
	if !q.Timed {
		q.Waited(seconds)
	}
}

// Done notes that its processing took so many seconds.
func (q *Queue) Done(seconds float64) {
	q.dones.Add(1)
	if !q.Timed {
		q.Worked(seconds)
	}
}

// Waited notes how long an item waited.
func (q *Queue) Waited(seconds float64) { q.wait.Observe(seconds) }

// Worked notes how long an item was worked on.
func (q *Queue) Worked(seconds float64) { q.work.Observe(seconds) }

// busy reports whether something is queued or in processing.
func (q *Queue) busy() bool { return q.depth.Load() > 0 || q.gets.Load() > q.dones.Load() }

func (q *Queue) reset() {
	q.added.Store(0)
	q.got.Store(0)
	q.wait.reset()
	q.work.reset()
}

// Traffic is what a Queue saw since the load began.
type Traffic struct {
	Adds int64         `json:"adds"`
	Gets int64         `json:"gets"`
	P50  time.Duration `json:"waitP50Nanoseconds"`
	P99  time.Duration `json:"waitP99Nanoseconds"`
	Work time.Duration `json:"workP50Nanoseconds"`
}

func (q *Queue) traffic() Traffic {
	return Traffic{Adds: q.added.Load(), Gets: q.got.Load(), P50: q.wait.Quantile(0.5), P99: q.wait.Quantile(0.99), Work: q.work.Quantile(0.5)}
}

// A Histogram of times with sixteen buckets to each doubling, so that a quantile is
// off by a sixteenth at most.
type Histogram struct {
	buckets [64 * perDoubling]atomic.Int64
}

const perDoubling = 16

// Observe counts one time.
func (h *Histogram) Observe(seconds float64) { h.buckets[bucketOf(seconds)].Add(1) }

func bucketOf(seconds float64) int {
	ns := uint64(max(seconds*1e9, 0))
	if ns < perDoubling {
		return int(ns)
	}
	exponent := bits.Len64(ns) - 5 // its upper five bits are 1xxxx
	return min((exponent+1)*perDoubling+int(ns>>exponent)-perDoubling, 64*perDoubling-1)
}

// begins is the smallest time of a bucket.
func begins(bucket int) time.Duration {
	if bucket < perDoubling {
		return time.Duration(bucket)
	}
	return time.Duration(perDoubling+bucket%perDoubling) << (bucket/perDoubling - 1)
}

// Quantile is the middle of the bucket that the quantile is in; 0 without times.
func (h *Histogram) Quantile(q float64) time.Duration {
	total := h.count()
	rank := int64(q * float64(total))
	for i := range h.buckets {
		n := h.buckets[i].Load()
		if rank < n {
			return (begins(i) + begins(i+1)) / 2
		}
		rank -= n
	}
	return 0
}

func (h *Histogram) count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

func (h *Histogram) reset() {
	for i := range h.buckets {
		h.buckets[i].Store(0)
	}
}
