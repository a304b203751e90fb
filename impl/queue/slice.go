package queue

import (
	"maps"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*sliceQueue[string])(nil)

// sliceQueue is the plain reference: the three sets of the contract as they
// stand there, behind one mutex.
//
// Invariant: an item is in queue ⇔ it is in dirty and not in processing, and no
// item is in queue twice.
type sliceQueue[T comparable] struct {
	mu                sync.Mutex
	changed           sync.Cond // broadcast at every change that someone may wait for
	queue             workqueue.Queue[T]
	dirty, processing core.Map[T, struct{}]
	shuttingDown      bool
	drain             bool

	meter          *core.Meter
	stopMeter      sync.Once
	added, started core.Map[T, time.Duration]
}

// NewSlice makes the reference queue. Its storage is config.Queue if that is
// set, else a slice.
func NewSlice[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	q := &sliceQueue[T]{
		queue: config.Queue,
		meter: newMeter(config),
	}
	q.dirty.M, q.processing.M = map[T]struct{}{}, map[T]struct{}{}
	q.added.M, q.started.M = map[T]time.Duration{}, map[T]time.Duration{}
	q.changed.L = &q.mu
	if q.queue == nil {
		q.queue = NewSliceStorage[T]()
	}
	if q.meter != nil {
		q.meter.Run(q.update)
	}
	return q
}

// NewRing makes the reference queue over a ring, which allocates nothing for the
// order, or over config.Queue.
func NewRing[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Queue == nil {
		config.Queue = NewRingStorage[T]()
	}
	return NewSlice(config)
}

func (q *sliceQueue[T]) Add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	_, processing := q.processing.M[item]
	if _, dirty := q.dirty.M[item]; dirty {
		if !processing {
			q.queue.Touch(item)
		}
		return
	}
	if q.meter != nil {
		q.added.M[item] = q.meter.Add()
	}
	q.dirty.M[item] = struct{}{}
	if !processing {
		q.queue.Push(item)
		q.changed.Broadcast()
	}
}

func (q *sliceQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.Len()
}

func (q *sliceQueue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.queue.Len() == 0 {
		if q.shuttingDown {
			return item, true
		}
		q.changed.Wait()
	}
	item = q.queue.Pop()
	q.processing.M[item] = struct{}{}
	q.dirty.Delete(item)
	if q.meter != nil {
		added, known := q.added.M[item]
		t := keytable.Times{Added: added}
		q.meter.Get(&t, known)
		q.added.Delete(item)
		q.started.M[item] = t.Started
	}
	return item, false
}

func (q *sliceQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, processing := q.processing.M[item]; !processing {
		return // spurious-done: the item may be queued, and must not be twice
	}
	if q.meter != nil {
		q.meter.Done(&keytable.Times{Started: q.started.M[item]})
		q.started.Delete(item)
	}
	q.processing.Delete(item)
	if _, dirty := q.dirty.M[item]; dirty {
		q.queue.Push(item)
	}
	q.changed.Broadcast()
}

func (q *sliceQueue[T]) ShutDown() { q.shutDown(false) }

func (q *sliceQueue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *sliceQueue[T]) shutDown(drain bool) {
	if q.meter != nil {
		q.stopMeter.Do(q.meter.Stop)
		defer q.meter.Wait()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shuttingDown, q.drain = true, drain
	q.changed.Broadcast()
	for q.drain && len(q.processing.M) > 0 {
		q.changed.Wait()
	}
}

func (q *sliceQueue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}

func (q *sliceQueue[T]) update() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	q.meter.Unfinished(maps.Values(q.started.M))
}
