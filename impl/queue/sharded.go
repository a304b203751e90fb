package queue

import (
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/lock"
	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*shardedQueue[string, plain])(nil)

// shardedQueue is a compact queue cut into shards by key hash, each with its
// own lock, so that producers and workers of different keys seldom meet. Order
// is first in first out within a shard, and so for one key, but not globally.
//
// Invariant: each shard keeps that of core. queued and processing are sums over
// the shards, changed under a shard's lock. If an item is queued, then wanted is
// set and was seen by its push, or a woken worker is on its way, or none sleeps:
// a worker sets wanted and then reads queued, a push adds to queued and then
// reads wanted, so one sees the other.
type shardedQueue[T comparable, E plain | timed] struct {
	shards []shard[T, E]
	seed   maphash.Seed

	queued     atomic.Int64
	processing atomic.Int64
	wanted     atomic.Bool // sleeping > 0 and woken == 0
	closed     atomic.Bool // every shard ignores Add
	drain      atomic.Bool // someone may wait for processing to become zero

	mu       sync.Mutex // never held together with a shard's
	ready    sync.Cond  // workers
	idle     sync.Cond  // drainers
	sleeping int        // workers in ready that nobody has woken yet
	woken    int        // workers that were woken and do not hold mu yet

	meterMu   lock.Mutex   // metrics may expect that the queue locks
	meter     *meter.Meter // nil if E is plain
	stopMeter sync.Once
}

type shard[T comparable, E plain | timed] struct {
	lock.Mutex
	core[T, E]
	size   atomic.Int64 // length, for those who do not hold the lock
	closed bool
	_      [64]byte // shards do not share cache lines
}

// NewSharded makes a queue of four shards for each processor that the program
// may use now. It gives up global FIFO order. A storage in config.Queue
// can't be cut, so such a queue is the one that NewRing makes.
func NewSharded[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if q := upstream(&config); q != nil {
		return q
	}
	if config.Queue != nil {
		return NewRing(config)
	}
	if m := newMeter(config); m != nil {
		return newSharded[T, timed](m)
	}
	return newSharded[T, plain](nil)
}

func newSharded[T comparable, E plain | timed](m *meter.Meter) *shardedQueue[T, E] {
	q := &shardedQueue[T, E]{
		shards: make([]shard[T, E], 4*runtime.GOMAXPROCS(0)),
		seed:   maphash.MakeSeed(),
		meter:  m,
	}
	q.ready.L, q.idle.L = &q.mu, &q.mu
	for i := range q.shards {
		q.shards[i].init()
	}
	if q.meter != nil {
		q.meter.Run(q.update)
	}
	return q
}

// shardOf returns the shard of an item. The tables in the shards have seeds of
// their own, so their hashes do not depend on the choice.
func (q *shardedQueue[T, E]) shardOf(item T) *shard[T, E] {
	hash := maphash.Comparable(q.seed, item)
	return &q.shards[hash>>32*uint64(len(q.shards))>>32]
}

func (q *shardedQueue[T, E]) Add(item T) {
	s := q.shardOf(item)
	hash := s.table.Hash(item)
	if q.add(s, hash, item) {
		q.wake()
	}
}

// add reports whether the item was queued.
func (q *shardedQueue[T, E]) add(s *shard[T, E], hash uint32, item T) bool {
	s.Lock()
	defer s.Unlock()
	slot, found := s.table.Find(hash, item)
	if s.closed || found && *s.word(slot)&dirty != 0 {
		return false
	}
	var now time.Duration
	if q.meter != nil {
		now = locked(&q.meterMu, q.meter.Add)
	}
	slot = s.mark(hash, item, slot, found)
	if q.meter != nil {
		s.times(slot).added = now
	}
	if found {
		return false
	}
	s.size.Add(1)
	q.queued.Add(1)
	return true
}

// locked calls f under mu.
func locked[R any](mu *lock.Mutex, f func() R) R {
	mu.Lock()
	defer mu.Unlock()
	return f()
}

// wake wakes a worker if one is wanted. Call it after a push.
func (q *shardedQueue[T, E]) wake() {
	if !q.wanted.Load() {
		return
	}
	q.mu.Lock()
	wake := q.sleeping > 0 && q.woken == 0
	if wake {
		q.sleeping--
		q.woken++
		q.wanted.Store(false)
	}
	q.mu.Unlock()
	if wake {
		q.ready.Signal()
	}
}

// Len is the number of queued items in all shards, at one moment.
func (q *shardedQueue[T, E]) Len() int { return int(q.queued.Load()) }

func (q *shardedQueue[T, E]) Get() (item T, shutdown bool) {
	for slept := false; ; slept = true {
		if item, ok := q.take(); ok {
			if slept && q.queued.Load() > 0 {
				q.wake() // this worker was the one on its way
			}
			return item, false
		}
		if !q.sleep() {
			return item, true
		}
	}
}

// take looks for an item in every shard, from one chosen at random, so that no
// shard is served before the others.
func (q *shardedQueue[T, E]) take() (item T, ok bool) {
	if q.queued.Load() == 0 {
		return item, false
	}
	n := uint32(len(q.shards))
	start := rand.Uint32N(n)
	for i := range n {
		s := &q.shards[(start+i)%n]
		if s.size.Load() > 0 {
			if item, ok = q.pop(s); ok {
				return item, true
			}
		}
	}
	return item, false
}

func (q *shardedQueue[T, E]) pop(s *shard[T, E]) (item T, ok bool) {
	s.Lock()
	defer s.Unlock()
	if s.length == 0 {
		return item, false
	}
	item = s.table.Key(s.head)
	if q.meter != nil {
		e := s.times(s.head)
		e.started = locked(&q.meterMu, func() time.Duration { return q.meter.Get(e.added, item == item) })
	}
	s.foresee()
	s.core.pop()
	if s.length == 0 {
		s.Yield() // workers may not come back before there is more
	}
	q.processing.Add(1) // before queued, so that an item is always counted
	s.size.Add(-1)
	q.queued.Add(-1)
	return item, true
}

// sleep waits while nothing is queued, and reports false when nothing is and
// the queue was shut down.
func (q *shardedQueue[T, E]) sleep() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.queued.Load() == 0 {
		if q.closed.Load() {
			// An Add may have come between the two reads, but none comes now.
			return q.queued.Load() > 0
		}
		q.sleeping++
		q.wanted.Store(q.woken == 0)
		if q.queued.Load() > 0 {
			q.sleeping--
		} else {
			q.ready.Wait()
			q.woken--
		}
		q.wanted.Store(q.sleeping > 0 && q.woken == 0)
	}
	return true
}

func (q *shardedQueue[T, E]) Done(item T) {
	s := q.shardOf(item)
	var hash uint32
	if !s.prompt.Load() {
		hash = s.table.Hash(item)
	}
	if q.done(s, hash, item) {
		q.wake()
	}
	if q.drain.Load() && q.processing.Load() == 0 {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	}
}

// done reports whether the item was queued again.
func (q *shardedQueue[T, E]) done(s *shard[T, E], hash uint32, item T) bool {
	s.Lock()
	defer s.Unlock()
	slot, found := s.handed(hash, item)
	if !found {
		return false // spurious-done
	}
	if q.meter != nil {
		locked(&q.meterMu, func() struct{} {
			q.meter.Done(s.times(slot).started)
			return struct{}{}
		})
	}
	again := *s.word(slot)&dirty != 0
	s.finish(slot)
	if s.length == 0 {
		s.Yield()
	}
	if again {
		s.size.Add(1)
		q.queued.Add(1)
	}
	q.processing.Add(-1)
	return again
}

func (q *shardedQueue[T, E]) ShutDown()          { q.shutDown(false) }
func (q *shardedQueue[T, E]) ShutDownWithDrain() { q.shutDown(true) }

func (q *shardedQueue[T, E]) shutDown(drain bool) {
	if q.meter != nil {
		q.stopMeter.Do(q.meter.Stop)
		defer q.meter.Wait()
	}
	q.close()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drain.Store(drain)
	q.woken += q.sleeping
	q.sleeping = 0
	q.wanted.Store(false)
	q.ready.Broadcast()
	q.idle.Broadcast()
	for q.drain.Load() && q.processing.Load() > 0 {
		q.idle.Wait()
	}
}

// close makes all shards ignore Add from one moment on.
func (q *shardedQueue[T, E]) close() {
	for i := range q.shards {
		q.shards[i].Lock()
	}
	q.closed.Store(true)
	for i := range q.shards {
		q.shards[i].closed = true
		q.shards[i].Unlock()
	}
}

func (q *shardedQueue[T, E]) ShuttingDown() bool { return q.closed.Load() }

func (q *shardedQueue[T, E]) update() {
	if q.closed.Load() {
		return
	}
	var started []time.Duration
	for i := range q.shards {
		s := &q.shards[i]
		s.Lock()
		for slot := range s.table.All() {
			if e := s.times(slot); e.word&processing != 0 {
				started = append(started, e.started)
			}
		}
		s.Unlock()
	}
	q.meterMu.Lock()
	defer q.meterMu.Unlock()
	q.meter.Unfinished(func(yield func(time.Duration) bool) {
		for _, at := range started {
			if !yield(at) {
				return
			}
		}
	})
}
