package queue

import (
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/core"
	"k8s.io/client-go/util/workqueue"
)

// shardedQueue is compact queues, of which a key's hash chooses one. Order is first
// in first out within a shard, and so for one key, but not globally.
//
// Invariant: a worker counts itself as sleeping and then looks at all shards, and
// whoever may have queued an item looks at sleeping after that: one sees the other.
type shardedQueue[T comparable] struct {
	shards []shard[T]
	seed   maphash.Seed

	mu          sync.Mutex // who holds it may lock shards, but not the other way round
	ready, idle sync.Cond  // workers, drainers
	sleeping    atomic.Int64
	drain       atomic.Bool
}

type shard[T comparable] struct {
	core.Queue[T, struct{}]
	_ [64]byte // shards do not share cache lines
}

// NewSharded makes a queue of four shards for each processor that the program may
// use now. It gives up global FIFO order. A storage in config.Queue can't be cut,
// and metrics need one lock, so with either it makes the queue that NewCompact does.
func NewSharded[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Queue != nil || config.Name != "" {
		return NewCompact(config)
	}
	q := &shardedQueue[T]{shards: make([]shard[T], 4*runtime.GOMAXPROCS(0)), seed: maphash.MakeSeed()}
	q.ready.L, q.idle.L = &q.mu, &q.mu
	for i := range q.shards {
		q.shards[i].Init(nil)
	}
	return q
}

func (q *shardedQueue[T]) of(item T) *shard[T] {
	return &q.shards[maphash.Comparable(q.seed, item)>>32*uint64(len(q.shards))>>32]
}

func (q *shardedQueue[T]) Add(item T) {
	if q.ShuttingDown() {
		return // as upstream, even an item that can't be hashed
	}
	q.of(item).Add(item)
	q.wake()
}

// wake wakes a worker after an item may have been queued.
func (q *shardedQueue[T]) wake() {
	if q.sleeping.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sleeping.Load() > 0 && q.Len() > 0 {
		q.sleeping.Add(-1)
		q.ready.Signal()
	}
}

// sum adds what f is for each shard while all are locked, at one moment.
func (q *shardedQueue[T]) sum(f func(*shard[T]) int) (n int) {
	for i := range q.shards {
		q.shards[i].Lock()
	}
	for i := range q.shards {
		n += f(&q.shards[i])
		defer q.shards[i].Unlock()
	}
	return n
}

func (q *shardedQueue[T]) Len() int {
	return q.sum(func(s *shard[T]) int { return s.Ready.Len })
}

// Get takes an item from the first shard that has one, from one chosen at random,
// so that none is served before the others.
func (q *shardedQueue[T]) Get() (item T, shutdown bool) {
	for {
		first := rand.IntN(len(q.shards))
		for i := range q.shards {
			if item, ok := q.shards[(first+i)%len(q.shards)].TryGet(); ok {
				return item, false
			}
		}
		if !q.sleep() {
			return item, true
		}
	}
}

// sleep waits while nothing is queued, and reports false when nothing is and the
// queue was shut down.
func (q *shardedQueue[T]) sleep() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ShuttingDown() {
		return q.Len() > 0 // no Add comes now
	}
	if q.sleeping.Add(1); q.Len() > 0 {
		q.sleeping.Add(-1)
	} else {
		q.ready.Wait()
	}
	return true
}

func (q *shardedQueue[T]) Done(item T) {
	q.of(item).Done(item)
	q.wake()
	if q.drain.Load() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	}
}

func (q *shardedQueue[T]) ShutDown()          { q.shutDown(false) }
func (q *shardedQueue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *shardedQueue[T]) shutDown(drain bool) {
	q.sum(func(s *shard[T]) int { s.Closed.Store(true); return 0 })
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drain.Store(drain)
	q.sleeping.Store(0)
	q.ready.Broadcast()
	q.idle.Broadcast()
	for q.drain.Load() && q.sum((*shard[T]).Processing) > 0 {
		q.idle.Wait()
	}
}

func (q *shardedQueue[T]) ShuttingDown() bool { return q.shards[len(q.shards)-1].ShuttingDown() }
