package queue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*ringQueue[string])(nil)

// ringQueue keeps one entry a key in a Go map, where client-go keeps the key in
// two sets, and a ring for the order.
//
// Invariant: an item has an entry ⇔ it is dirty or in processing; it is in
// queue, once, ⇔ its entry says dirty and not processing.
type ringQueue[T comparable] struct {
	waiters
	queue   workqueue.Queue[T]
	entries map[T]ringEntry
	meter   *meter
	loop    loop
}

type ringEntry struct {
	dirty, processing bool
	added, started    time.Duration // valid while dirty, while processing
}

// NewRing makes a queue with one map entry a key. Its storage is config.Queue
// if that is set, else a ring.
func NewRing[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if q := upstream(config); q != nil {
		return q
	}
	q := &ringQueue[T]{
		queue:   config.Queue,
		entries: map[T]ringEntry{},
		meter:   newMeter(config.Name, config.MetricsProvider, config.Clock),
	}
	q.waiters.init()
	if q.queue == nil {
		q.queue = NewRingStorage[T]()
	}
	if q.meter != nil {
		q.loop.run(q.meter.clock, q.update)
	}
	return q
}

// leave ends an operation.
func (q *ringQueue[T]) leave() { q.waiters.leave(q.queue.Len()) }

func (q *ringQueue[T]) Add(item T) {
	q.mu.Lock()
	defer q.leave()
	if q.shuttingDown {
		return
	}
	e := q.entries[item]
	if e.dirty {
		if !e.processing {
			q.queue.Touch(item)
		}
		return
	}
	if q.meter != nil {
		e.added = q.meter.add()
	}
	e.dirty = true
	q.entries[item] = e
	if !e.processing {
		q.queue.Push(item)
	}
}

func (q *ringQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.Len()
}

func (q *ringQueue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.leave()
	for q.queue.Len() == 0 {
		if q.shuttingDown {
			return item, true
		}
		q.sleep()
	}
	item = q.queue.Pop()
	e := q.entries[item] // not found if item differs from itself
	known := e.dirty
	e.dirty, e.processing = false, true
	q.entries[item] = e
	q.processing++
	if q.meter != nil {
		e.started = q.meter.get(e.added, known)
		q.entries[item] = e
	}
	return item, false
}

func (q *ringQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.leave()
	e := q.entries[item]
	if !e.processing {
		return // spurious-done
	}
	if q.meter != nil {
		q.meter.done(e.started)
	}
	q.finished()
	if !e.dirty {
		delete(q.entries, item)
		return
	}
	e.processing = false
	q.entries[item] = e
	q.queue.Push(item)
}

func (q *ringQueue[T]) ShutDown()          { q.loop.end(); q.shutDown(false); q.loop.wait() }
func (q *ringQueue[T]) ShutDownWithDrain() { q.loop.end(); q.shutDown(true); q.loop.wait() }

func (q *ringQueue[T]) update() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	t := tally{now: q.meter.now()}
	for _, e := range q.entries {
		if e.processing {
			t.item(e.started)
		}
	}
	q.meter.set(t)
}
