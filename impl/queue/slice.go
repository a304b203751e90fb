package queue

import (
	"maps"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/internal/meter"
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
	dirty, processing map[T]struct{}
	shuttingDown      bool
	drain             bool

	meter          *meter.Meter
	stopMeter      sync.Once
	added, started map[T]time.Duration
}

// NewSlice makes the reference queue. Its storage is config.Queue if that is
// set, else a slice.
func NewSlice[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	q := &sliceQueue[T]{
		queue:      config.Queue,
		dirty:      map[T]struct{}{},
		processing: map[T]struct{}{},
		meter:      newMeter(config),
		added:      map[T]time.Duration{},
		started:    map[T]time.Duration{},
	}
	q.changed.L = &q.mu
	if q.queue == nil {
		q.queue = NewSliceStorage[T]()
	}
	if q.meter != nil {
		q.meter.Run(q.update)
	}
	return q
}

func (q *sliceQueue[T]) Add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	_, processing := q.processing[item]
	if _, dirty := q.dirty[item]; dirty {
		if !processing {
			q.queue.Touch(item)
		}
		return
	}
	if q.meter != nil {
		q.added[item] = q.meter.Add()
	}
	q.dirty[item] = struct{}{}
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
	q.processing[item] = struct{}{}
	delete(q.dirty, item)
	if q.meter != nil {
		added, known := q.added[item]
		delete(q.added, item)
		q.started[item] = q.meter.Get(added, known)
	}
	return item, false
}

func (q *sliceQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, processing := q.processing[item]; !processing {
		return // spurious-done: the item may be queued, and must not be twice
	}
	if q.meter != nil {
		q.meter.Done(q.started[item])
		delete(q.started, item)
	}
	delete(q.processing, item)
	if _, dirty := q.dirty[item]; dirty {
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
	for q.drain && len(q.processing) > 0 {
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
	q.meter.Unfinished(maps.Values(q.started))
}
