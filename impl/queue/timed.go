package queue

import "k8s.io/client-go/util/workqueue"

var _ workqueue.TypedInterface[string] = (*timedQueue[string])(nil)

// timedQueue is compactQueue with metrics: the times of a key lie in its entry.
// It calls the user's clock and metrics before it changes its state and under a
// deferred unlock, so a panic in there loses nothing but that call's figures.
//
// Invariant: those of core and waiters.
type timedQueue[T comparable] struct {
	waiters
	core[T, timed]
	meter *meter
	loop  loop
}

func newTimed[T comparable](m *meter) *timedQueue[T] {
	q := &timedQueue[T]{core: newCore[T, timed](), meter: m}
	q.waiters.init()
	q.loop.run(m.clock, q.update)
	return q
}

// leave ends an operation.
func (q *timedQueue[T]) leave() { q.waiters.leave(q.length) }

func (q *timedQueue[T]) Add(item T) {
	hash := q.table.Hash(item) // may panic, as in a map, but not under the lock
	q.mu.Lock()
	defer q.leave()
	slot, found := q.table.Find(hash, item)
	if q.shuttingDown || found && *q.word(slot)&dirty != 0 {
		return
	}
	now := q.meter.add()
	slot = q.mark(hash, item, slot, found)
	q.table.At(slot).added = now
}

func (q *timedQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

func (q *timedQueue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.leave()
	for q.length == 0 {
		if q.shuttingDown {
			return item, true
		}
		q.sleep()
	}
	item = q.table.Key(q.head)
	entry := q.table.At(q.head)
	entry.started = q.meter.get(entry.added, item == item)
	q.pop()
	q.processing++
	return item, false
}

func (q *timedQueue[T]) Done(item T) {
	hash := q.table.Hash(item)
	q.mu.Lock()
	defer q.leave()
	slot, found := q.table.Find(hash, item)
	if !found || *q.word(slot)&processing == 0 {
		return // spurious-done
	}
	q.meter.done(q.table.At(slot).started)
	q.finished()
	q.finish(hash, slot)
}

func (q *timedQueue[T]) ShutDown()          { q.loop.end(); q.shutDown(false); q.loop.wait() }
func (q *timedQueue[T]) ShutDownWithDrain() { q.loop.end(); q.shutDown(true); q.loop.wait() }

func (q *timedQueue[T]) update() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		return
	}
	t := tally{now: q.meter.now()}
	for _, e := range q.table.All() {
		if e.word&processing != 0 {
			t.item(e.started)
		}
	}
	q.meter.set(t)
}
