package queue

import (
	"time"

	"github.com/informerbench/informerbench/impl/internal/gate"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*ringQueue[string])(nil)

// ringQueue keeps one entry a key in a table, where client-go keeps the key in
// two sets, and a ring for the order.
//
// Invariant: an item has an entry ⇔ it is dirty or in processing; it is in
// queue, once, ⇔ its entry says dirty and not processing.
type ringQueue[T comparable] struct {
	gate.Gate
	queue   workqueue.Queue[T]
	entries keytable.Table[T, ringEntry]
	times   map[T]ringTimes // of the entries, with metrics
}

type ringEntry struct{ dirty, processing bool }

// ringTimes are valid while dirty and while processing, which is repeated here
// because a key that differs from itself can't be looked up.
type ringTimes struct {
	added, started time.Duration
	processing     bool
}

// NewRing makes a queue with one table entry a key. Its storage is config.Queue
// if that is set, else a ring.
func NewRing[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	q := &ringQueue[T]{queue: config.Queue, times: map[T]ringTimes{}}
	q.entries.Init()
	if q.queue == nil {
		q.queue = NewRingStorage[T]()
	}
	q.Gate.Init(newMeter(config), q.update)
	return q
}

// leave ends an operation.
func (q *ringQueue[T]) leave() { q.Gate.Leave(q.queue.Len()) }

func (q *ringQueue[T]) Add(item T) {
	if !q.entries.Lazy() && q.Closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	hash := q.entries.Hash(item) // may panic, as in a map, but not under the lock
	q.Lock()
	defer q.leave()
	if q.Closed.Load() {
		return
	}
	var e ringEntry
	slot, found := q.entries.Find(hash, item)
	if found {
		e = *q.entries.At(slot)
	}
	if e.dirty {
		if !e.processing {
			q.queue.Touch(item)
		}
		return
	}
	if q.Meter != nil {
		times := q.times[item]
		times.added = q.Meter.Add()
		q.times[item] = times
	}
	if !found {
		slot = q.entries.Insert(hash, item)
	}
	q.entries.At(slot).dirty = true
	if !e.processing {
		q.queue.Push(item)
	}
}

func (q *ringQueue[T]) Len() int {
	q.Lock()
	defer q.Unlock()
	return q.queue.Len()
}

func (q *ringQueue[T]) Get() (item T, shutdown bool) {
	q.Lock()
	defer q.leave()
	for q.queue.Len() == 0 {
		if q.Closed.Load() {
			return item, true
		}
		q.Sleep()
	}
	item = q.queue.Pop()
	slot, _ := q.entries.Enter(q.entries.Hash(item), item)
	*q.entries.At(slot) = ringEntry{processing: true}
	q.Handed()
	if q.Meter != nil {
		times, known := q.times[item] // not found if item differs from itself
		times.started, times.processing = q.Meter.Get(times.added, known), true
		q.times[item] = times
	}
	return item, false
}

func (q *ringQueue[T]) Done(item T) {
	hash := q.entries.Hash(item)
	q.Lock()
	defer q.leave()
	slot, found := q.entries.Find(hash, item)
	if !found || !q.entries.At(slot).processing {
		return // spurious-done
	}
	if q.Meter != nil {
		times := q.times[item]
		q.Meter.Done(times.started)
		times.processing = false
		q.times[item] = times
	}
	q.Finished()
	e := q.entries.At(slot)
	if !e.dirty {
		q.entries.Remove(slot)
		if q.Meter != nil {
			delete(q.times, item)
		}
		return
	}
	e.processing = false
	q.queue.Push(item)
}

func (q *ringQueue[T]) update() {
	q.Lock()
	defer q.Unlock()
	if q.Closed.Load() {
		return
	}
	q.Meter.Unfinished(func(yield func(time.Duration) bool) {
		for _, times := range q.times {
			if times.processing && !yield(times.started) {
				return
			}
		}
	})
}
