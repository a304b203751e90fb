package queue

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedInterface[string] = (*shardedQueue[string, plain])(nil)

// shardedQueue is a compact queue cut into shards by key hash, each with its
// own lock, so that producers and workers of different keys seldom meet. Order
// is first in first out within a shard, and so for one key, but not globally.
//
// Nothing that all of them share is written while the shards have items.
//
// Invariant: each shard keeps that of core. Bit i of filled is set ⇔ shard i has
// a queued item; it changes under that shard's lock. If an item is queued, then
// wanted is set and was seen by its push, or a woken worker is on its way, or none
// sleeps: a worker sets wanted and then reads filled, a push sees to its bit and
// then reads wanted, so one sees the other.
type shardedQueue[T comparable, E plain | timed] struct {
	shards []shard[T, E]
	seed   maphash.Seed
	lazy   bool // hashing can't panic

	filled atomic.Uint64
	wanted atomic.Bool // sleeping > 0 and woken == 0
	closed atomic.Bool // every shard ignores Add
	drain  atomic.Bool // someone may wait until nothing is in processing

	mu       sync.Mutex // who holds it may lock shards, but not the other way round
	ready    sync.Cond  // workers
	idle     sync.Cond  // drainers
	sleeping int        // workers in ready that nobody has woken yet
	woken    int        // workers that were woken and do not hold mu yet

	meterMu   sync.Mutex   // metrics may expect that the queue locks
	meter     *meter.Meter // nil if E is plain
	stopMeter sync.Once
}

type shard[T comparable, E plain | timed] struct {
	sync.Mutex
	core[T, E]
	bit        uint64 // in filled
	processing int    // items handed out and not done
	closed     bool
	_          [64]byte // shards do not share cache lines
}

// maxShards is how many have a bit in filled.
const maxShards = 64

// NewSharded makes a queue of four shards for each processor that the program
// may use now, and 64 at most. It gives up global FIFO order. A storage in config.Queue
// can't be cut, so such a queue is the one that NewRing makes.
func NewSharded[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
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
		shards: make([]shard[T, E], min(4*runtime.GOMAXPROCS(0), maxShards)),
		seed:   maphash.MakeSeed(),
		meter:  m,
	}
	q.ready.L, q.idle.L = &q.mu, &q.mu
	for i := range q.shards {
		q.shards[i].init()
		q.shards[i].table.Reseed(q.seed)
		q.shards[i].bit = 1 << i
	}
	q.lazy = q.shards[0].table.Lazy()
	if q.meter != nil {
		q.meter.Run(q.update)
	}
	return q
}

// shardOf returns the shard of an item, and its hash in there: the high bits of
// a hash choose the one, the low bits are the other.
func (q *shardedQueue[T, E]) shardOf(item T) (s *shard[T, E], hash uint32) {
	both := maphash.Comparable(q.seed, item)
	return &q.shards[both>>32*uint64(len(q.shards))>>32], uint32(both)
}

func (q *shardedQueue[T, E]) Add(item T) {
	if !q.lazy && q.closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	s, hash := q.shardOf(item)
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
	q.grown(s)
	return true
}

// grown sees to the bit of a shard that an item was queued in.
func (q *shardedQueue[T, E]) grown(s *shard[T, E]) {
	if s.length == 1 {
		q.filled.Or(s.bit)
	}
}

// shrunk sees to the bit of a shard that an item was taken out of.
func (q *shardedQueue[T, E]) shrunk(s *shard[T, E]) {
	if s.length == 0 {
		q.filled.And(^s.bit)
	}
}

// locked calls f under mu.
func locked[R any](mu *sync.Mutex, f func() R) R {
	mu.Lock()
	defer mu.Unlock()
	return f()
}

// Len is the number of queued items in all shards, at one moment.
func (q *shardedQueue[T, E]) Len() int {
	return q.sum(func(s *shard[T, E]) int { return s.length })
}

// sum adds what f is for each shard, at one moment.
func (q *shardedQueue[T, E]) sum(f func(*shard[T, E]) int) (n int) {
	for i := range q.shards {
		q.shards[i].Lock()
	}
	for i := range q.shards {
		n += f(&q.shards[i])
		q.shards[i].Unlock()
	}
	return n
}

func (q *shardedQueue[T, E]) Get() (item T, shutdown bool) {
	for slept := false; ; slept = true {
		if item, ok := q.take(); ok {
			if slept && q.filled.Load() != 0 {
				q.wake() // this worker was the one on its way
			}
			return item, false
		}
		if !q.sleep() {
			return item, true
		}
	}
}

// take takes an item from the first shard that has one, from one chosen at random,
// so that none is served before the others.
func (q *shardedQueue[T, E]) take() (item T, ok bool) {
	if q.meter != nil {
		defer func() {
			if !ok && q.filled.Load() != 0 { // a metric panics: another worker has to come
				q.wake()
			}
		}()
	}
	for {
		filled := q.filled.Load()
		if filled == 0 {
			return item, false
		}
		if after := filled &^ (1<<rand.IntN(len(q.shards)) - 1); after != 0 {
			filled = after
		}
		if item, ok = q.pop(&q.shards[bits.TrailingZeros64(filled)]); ok {
			return item, true
		}
	}
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
	s.core.pop()
	s.processing++
	q.shrunk(s)
	return item, true
}

func (q *shardedQueue[T, E]) Done(item T) {
	s, hash := q.shardOf(item)
	again, last := q.done(s, hash, item)
	if again {
		q.wake()
	}
	if last && q.drain.Load() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	}
}

// done reports whether the item was queued again, and whether it was the last in
// processing of its shard.
func (q *shardedQueue[T, E]) done(s *shard[T, E], hash uint32, item T) (again, last bool) {
	s.Lock()
	defer s.Unlock()
	slot, found := s.handed(hash, item)
	if !found {
		return false, false // spurious-done
	}
	if q.meter != nil {
		locked(&q.meterMu, func() struct{} {
			q.meter.Done(s.times(slot).started)
			return struct{}{}
		})
	}
	again = *s.word(slot)&dirty != 0
	s.finish(slot)
	s.processing--
	if again {
		q.grown(s)
	}
	return again, s.processing == 0
}

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
