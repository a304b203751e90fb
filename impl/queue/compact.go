package queue

import (
	"github.com/informerbench/informerbench/impl/internal/gate"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*compactQueue[string])(nil)

// compactQueue is one mutex around a core. It runs no code of the user's, so it
// unlocks without defer; timedQueue is its sibling with metrics.
//
// Invariant: those of core and workers.Workers.
type compactQueue[T comparable] struct {
	gate.Gate
	core[T, plain]
}

// NewCompact makes the compact queue. A storage in config.Queue takes the place
// of the table's own order, so such a queue is the one that NewRing makes.
func NewCompact[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Queue != nil {
		return NewRing(config)
	}
	if m := newMeter(config); m != nil {
		return newTimed[T](m)
	}
	q := new(compactQueue[T])
	q.core.init()
	q.Gate.Init(nil, nil)
	return q
}

func (q *compactQueue[T]) Add(item T) {
	if !q.table.Lazy() && q.Closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	hash := q.table.Hash(item) // may panic, as in a map, but not under the lock
	q.Lock()
	if q.Closed.Load() {
		q.Unlock()
		return
	}
	if slot, found := q.table.Enter(hash, item); !found {
		q.push(slot)
	} else if word := q.word(slot); *word&dirty == 0 {
		*word |= dirty // Done will queue it
	} else {
		q.Unlock()
		return
	}
	if q.Due(q.length) {
		q.Leave(q.length)
		return
	}
	q.Unlock()
}

func (q *compactQueue[T]) Len() int {
	q.Lock()
	n := q.length
	q.Unlock()
	return n
}

func (q *compactQueue[T]) Get() (item T, shutdown bool) {
	q.Lock()
	for q.length == 0 {
		if q.Closed.Load() {
			q.Unlock()
			return item, true
		}
		q.Sleep()
	}
	q.foresee()
	item = q.table.Key(q.head)
	q.pop()
	q.Handed()
	if q.Due(q.length) {
		q.Leave(q.length)
		return item, false
	}
	q.Unlock()
	return item, false
}

func (q *compactQueue[T]) Done(item T) {
	var hash uint32
	if !q.prompt.Load() {
		hash = q.table.Hash(item)
	}
	q.Lock()
	slot, found := q.handed(hash, item)
	if !found {
		q.Unlock() // spurious-done
		return
	}
	q.Finished()
	q.finish(slot)
	if q.Due(q.length) {
		q.Leave(q.length)
		return
	}
	q.Unlock()
}
