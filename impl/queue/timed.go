package queue

import (
	"time"

	"github.com/informerbench/informerbench/impl/internal/gate"
	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*timedQueue[string])(nil)

// timedQueue is compactQueue with metrics: the times of a key lie in its entry.
// It calls the user's clock and metrics before it changes its state and under a
// deferred unlock, so a panic in there loses nothing but that call's figures.
//
// Invariant: those of core and workers.Workers.
type timedQueue[T comparable] struct {
	gate.Gate
	core[T, timed]
}

func newTimed[T comparable](m *meter.Meter) *timedQueue[T] {
	q := new(timedQueue[T])
	q.core.init()
	q.Gate.Init(m, q.update)
	return q
}

// leave ends an operation.
func (q *timedQueue[T]) leave() {
	if q.Due(q.length) {
		q.Leave(q.length)
		return
	}
	q.Unlock()
}

func (q *timedQueue[T]) Add(item T) {
	if !q.table.Lazy() && q.Closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	hash := q.table.Hash(item) // may panic, as in a map, but not under the lock
	q.Lock()
	defer q.leave()
	slot, found := q.table.Find(hash, item)
	if q.Closed.Load() || found && *q.word(slot)&dirty != 0 {
		return
	}
	now := q.Meter.Add()
	slot = q.mark(hash, item, slot, found)
	q.table.At(slot).added = now
}

func (q *timedQueue[T]) Len() int {
	q.Lock()
	defer q.Unlock()
	return q.length
}

func (q *timedQueue[T]) Get() (item T, shutdown bool) {
	q.Lock()
	defer q.leave()
	for q.length == 0 {
		if q.Closed.Load() {
			return item, true
		}
		q.Sleep()
	}
	item = q.table.Key(q.head)
	entry := q.table.At(q.head)
	entry.started = q.Meter.Get(entry.added, item == item)
	q.foresee()
	q.pop()
	q.Handed()
	return item, false
}

func (q *timedQueue[T]) Done(item T) {
	var hash uint32
	if !q.prompt.Load() {
		hash = q.table.Hash(item)
	}
	q.Lock()
	defer q.leave()
	slot, found := q.handed(hash, item)
	if !found {
		return // spurious-done
	}
	q.Meter.Done(q.table.At(slot).started)
	q.Finished()
	q.finish(slot)
}

func (q *timedQueue[T]) update() {
	q.Lock()
	defer q.Unlock()
	if q.Closed.Load() {
		return
	}
	q.Meter.Unfinished(func(yield func(time.Duration) bool) {
		for _, e := range q.table.All() {
			if e.word&processing != 0 && !yield(e.started) {
				return
			}
		}
	})
}
