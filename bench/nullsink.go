package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// NullSink names, beside the variants, the components that do nothing: what a
// case costs with them is what its load costs, and every variant pays that too.
// They know the case's keys beforehand and answer just enough for its loop to
// go round and its checks to pass.
const NullSink = "null-sink"

// A turn gives out keys one after the other, over and over.
type turn[T any] struct {
	keys []T
	at   int
}

func (t *turn[T]) next() T {
	key := t.keys[t.at]
	if t.at++; t.at == len(t.keys) {
		t.at = 0
	}
	return key
}

// A nullQueue is every kind of work queue for one goroutine: it gives out its
// keys in turn, whatever was added. Get says that it is shut down, which ends
// goroutines that wait for items and is nothing to the others.
type nullQueue[T comparable] struct {
	turn[T]
	adds       int // that make one item: more than 1 where keys are added again while queued
	added, got int
}

var _ priorityqueue.PriorityQueue[string] = &nullQueue[string]{}

func (q *nullQueue[T]) Len() int                                        { return max(q.added/q.adds-q.got, 0) }
func (q *nullQueue[T]) Add(T)                                           { q.added++ }
func (q *nullQueue[T]) AddWithOpts(_ priorityqueue.AddOpts, items ...T) { q.added += len(items) }
func (q *nullQueue[T]) AddAfter(T, time.Duration)                       {}
func (q *nullQueue[T]) AddRateLimited(T)                                {}
func (q *nullQueue[T]) NumRequeues(T) int                               { return 1 }
func (q *nullQueue[T]) Forget(T)                                        {}
func (q *nullQueue[T]) Done(T)                                          {}
func (q *nullQueue[T]) ShutDown()                                       {}
func (q *nullQueue[T]) ShutDownWithDrain()                              {}
func (q *nullQueue[T]) ShuttingDown() bool                              { return false }

func (q *nullQueue[T]) Get() (T, bool) {
	q.got++
	return q.next(), true
}

func (q *nullQueue[T]) GetWithPriority() (T, int, bool) {
	key, shutdown := q.Get()
	return key, 0, shutdown
}

func newNullQueue[T comparable](keysOf func(int) []T, n, adds int) impl.NewQueue[T] {
	return func(workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
		return &nullQueue[T]{turn: turn[T]{keys: keysOf(n)}, adds: adds}
	}
}

// A nullFlow is a queue for many goroutines: it gives out each of its keys once
// and is then shut down, without waiting for what is added.
type nullFlow struct {
	nullQueue[string]
	got atomic.Int64
}

func newNullFlow(keys []string) *nullFlow {
	return &nullFlow{nullQueue: nullQueue[string]{turn: turn[string]{keys: keys}, adds: 1}}
}

func (q *nullFlow) Add(string) {}

func (q *nullFlow) AddWithOpts(priorityqueue.AddOpts, ...string) {}

func (q *nullFlow) Get() (string, bool) {
	i := q.got.Add(1)
	if i > int64(len(q.keys)) {
		return "", true
	}
	return q.keys[i-1], false
}

// A nullStorage knows the order in which keys are pushed.
type nullStorage struct {
	turn[string]
	n int
}

func newNullStorage(n int) impl.NewStorage[string] {
	return func() workqueue.Queue[string] { return &nullStorage{turn: turn[string]{keys: stringKeys(n)}} }
}

func (s *nullStorage) Touch(string) {}
func (s *nullStorage) Push(string)  { s.n++ }
func (s *nullStorage) Len() int     { return s.n }

func (s *nullStorage) Pop() string {
	s.n--
	return s.next()
}

// A nullLimiter counts failures as if they were spread evenly over its keys.
type nullLimiter struct{ keys, failures int }

func newNullLimiter(n int) impl.NewRateLimiter[string] {
	return func() workqueue.TypedRateLimiter[string] { return &nullLimiter{keys: n} }
}

func (l *nullLimiter) When(string) time.Duration { l.failures++; return time.Second }
func (l *nullLimiter) Forget(string)             { l.failures-- }
func (l *nullLimiter) NumRequeues(string) int    { return (l.failures + l.keys - 1) / l.keys }

// A nullElector makes only the calls without which nobody leads: the lock that
// answers them is part of the load.
type nullElector struct {
	leaderelection.LeaderElectionConfig
}

func newNullElector(c leaderelection.LeaderElectionConfig) (impl.Elector, error) {
	return nullElector{c}, nil
}

func (nullElector) GetLeader() string         { return "" }
func (nullElector) IsLeader() bool            { return false }
func (nullElector) Check(time.Duration) error { return nil }

func (e nullElector) Run(ctx context.Context) {
	record := resourcelock.LeaderElectionRecord{HolderIdentity: e.Lock.Identity()}
	if _, _, err := e.Lock.Get(ctx); err == nil { // not the first term
		_ = e.Lock.Update(ctx, record) // the case finds out if it is not given back
	} else {
		_ = e.Lock.Create(ctx, record)
	}
	e.Callbacks.OnStartedLeading(ctx)
	_ = e.Lock.Update(context.WithoutCancel(ctx), resourcelock.LeaderElectionRecord{})
	e.Callbacks.OnStoppedLeading()
}
