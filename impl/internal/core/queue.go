// Package core is what the work queues of one lock have in common.
//
//  1. Workers is the lock, those who wait at it, and shutdown.
//  2. Sets are the entries of the keys, and lists of them.
//  3. Meter feeds the metrics.
//  4. Queue is a work queue of these: the compact queue as it is, and what the
//     fused one adds delays and failures to.
package core

import (
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*Queue[string, struct{}])(nil)

// A Queue is one mutex around one table: an entry a key, which is linked to the
// next one in the queue. Without metrics it runs no code of the user's.
//
// Invariant: those of Workers and Sets; the entries that are dirty and not in
// processing form Ready, in queue order.
type Queue[T, X comparable] struct {
	Workers
	Sets[T, X]
	Ready List
}

// Init makes the zero Queue usable, with a meter or nil.
func (q *Queue[T, X]) Init(m *Meter) {
	q.Workers.Init(m)
	q.Keys.Init()
	if m != nil {
		q.Keys.KeepTimes()
	}
}

// Run starts the goroutine that metrics need.
func (q *Queue[T, X]) Run() {
	if q.Meter != nil {
		q.Meter.Run(q.update)
	}
}

// Ignores reports whether an Add is ignored whatever its item is, as upstream even
// one that can't be hashed.
func (q *Queue[T, X]) Ignores() bool { return !q.Keys.Lazy() && q.Closed.Load() }

// Add queues item, unless it is dirty or in processing.
func (q *Queue[T, X]) Add(item T) {
	if q.Ignores() {
		return
	}
	hash := q.Keys.Hash(item) // may panic, as in a map, but not under the lock
	q.Lock()
	switch {
	case q.Closed.Load():
	case q.Meter != nil:
		q.addCounted(hash, item)
	default:
		slot, found := q.Keys.Enter(hash, item)
		e := q.Keys.At(slot)
		if found && e.Word != 0 {
			e.Word |= Dirty
			q.Unlock()
			return
		}
		q.Push(&q.Ready, slot, e)
		if q.Alone() {
			q.Unlock()
			return
		}
	}
	q.Leave(q.Ready.Len)
}

// addCounted is Add with metrics, which come before any change but the entry.
func (q *Queue[T, X]) addCounted(hash uint32, item T) {
	slot, _ := q.Keys.Enter(hash, item)
	e := q.Keys.At(slot)
	if e.Word&Dirty != 0 {
		return
	}
	times := q.Keys.Times(slot)
	q.counting = true
	defer q.uncounted(slot, e)
	times.Added = q.Meter.Add()
	q.counting = false
	q.Mark(slot)
}

// uncounted ends an Add whose metrics panicked.
func (q *Queue[T, X]) uncounted(slot uint32, e *Entry[X]) {
	if q.counting {
		q.Release(slot, e)
		q.counted(q.Ready.Len)
	}
}

// Mark makes an entry dirty. One in processing will be queued by Done.
func (q *Queue[T, X]) Mark(slot uint32) {
	if e := q.Keys.At(slot); e.Word == 0 {
		q.Push(&q.Ready, slot, e)
	} else {
		e.Word |= Dirty
	}
}

// MarkCounted is Mark with metrics, if there are any.
func (q *Queue[T, X]) MarkCounted(slot uint32) {
	if q.Meter != nil && q.Keys.At(slot).Word&Dirty == 0 {
		q.Keys.Times(slot).Added = q.Meter.Add()
	}
	q.Mark(slot)
}

// Len is the number of queued items.
func (q *Queue[T, X]) Len() int {
	q.Lock()
	n := q.Ready.Len
	q.Unlock()
	return n
}

// Get hands out the oldest queued item.
func (q *Queue[T, X]) Get() (item T, shutdown bool) {
	q.Lock()
	for q.Ready.Len == 0 {
		if q.Closed.Load() {
			q.Unlock()
			return item, true
		}
		q.Sleep()
	}
	item = q.hand()
	return item, false
}

// TryGet is Get that reports false in place of waiting.
func (q *Queue[T, X]) TryGet() (item T, ok bool) {
	q.Lock()
	if q.Ready.Len == 0 {
		q.Unlock()
		return item, false
	}
	return q.hand(), true
}

// hand hands out the oldest queued item and releases the lock.
func (q *Queue[T, X]) hand() (item T) {
	slot := q.Ready.Head
	item = q.Keys.Key(slot)
	if q.Meter != nil {
		q.countGet(slot, item == item)
	}
	e := q.Keys.At(slot)
	q.Ready.Shift(e.Word)
	e.Hand()
	q.Handed()
	if q.Alone() {
		q.Unlock()
		return item
	}
	q.Leave(q.Ready.Len)
	return item
}

// Done ends the processing of item; one that is not in processing is ignored.
func (q *Queue[T, X]) Done(item T) {
	hash := q.Keys.Hash(item)
	q.Lock()
	slot, e := q.Held(hash, item)
	if e == nil {
		q.Unlock()
		return
	}
	if q.Meter != nil {
		q.countDone(slot)
	}
	q.Finished()
	if e.Return() {
		q.Push(&q.Ready, slot, e)
		q.Leave(q.Ready.Len)
		return
	}
	q.Release(slot, e)
	q.Unlock() // nobody has to come for that
}

func (q *Queue[T, X]) countGet(slot uint32, known bool) {
	q.counting = true
	defer q.counted(q.Ready.Len)
	q.Meter.Get(q.Keys.Times(slot), known)
	q.counting = false
}

func (q *Queue[T, X]) countDone(slot uint32) {
	q.counting = true
	defer q.counted(q.Ready.Len)
	q.Meter.Done(q.Keys.Times(slot))
	q.counting = false
}

func (q *Queue[T, X]) update() {
	q.Lock()
	defer q.Unlock()
	if !q.Closed.Load() {
		q.Meter.Unfinished(q.Started)
	}
}
