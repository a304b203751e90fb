package main

import (
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/peers/table"
	"github.com/puzpuzpuz/xsync/v4"
	"golang.org/x/time/rate"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// An xsyncTable is concurrent hash maps, one for objects and one for each index
// value: no lock that a list could hold, and no moment that it could show.
type xsyncTable struct {
	objects  *xsync.Map[string, any]
	entries  *xsync.Map[place, *xsync.Map[string, any]]
	indexers cache.Indexers
}

// A place is a value of an index.
type place struct{ index, value string }

func newXsyncTable() table.Table {
	return &xsyncTable{objects: xsync.NewMap[string, any](), entries: xsync.NewMap[place, *xsync.Map[string, any]]()}
}

func (t *xsyncTable) Get(key string) (any, bool) { return t.objects.Load(key) }

func (t *xsyncTable) Each(visit func(string, any)) {
	t.objects.Range(func(key string, obj any) bool { visit(key, obj); return true })
}

func (t *xsyncTable) Having(index, value string, visit func(string, any)) {
	if having, ok := t.entries.Load(place{index, value}); ok {
		having.Range(func(key string, obj any) bool { visit(key, obj); return true })
	}
}

func (t *xsyncTable) Write(txns []cache.ThreadSafeStoreTransaction) {
	for _, c := range table.Changes(txns, t.indexers, t.Get) {
		if c.Obj == nil {
			t.objects.Delete(c.Key)
		} else {
			t.objects.Store(c.Key, c.Obj)
		}
		for index, had := range c.Had {
			for _, value := range had {
				if !slices.Contains(c.Have[index], value) {
					t.leave(place{index, value}, c.Key)
				}
			}
		}
		t.enter(c.Key, c.Obj, c.Have)
	}
}

func (t *xsyncTable) enter(key string, obj any, have map[string][]string) {
	for index, values := range have {
		for _, value := range values {
			having, _ := t.entries.LoadOrCompute(place{index, value}, func() (*xsync.Map[string, any], bool) {
				return xsync.NewMap[string, any](), false
			})
			having.Store(key, obj)
		}
	}
}

func (t *xsyncTable) leave(at place, key string) {
	if having, ok := t.entries.Load(at); ok {
		if having.Delete(key); having.Size() == 0 {
			t.entries.Delete(at)
		}
	}
}

func (t *xsyncTable) Reset(indexers cache.Indexers, items map[string]any) {
	fresh := newXsyncTable().(*xsyncTable)
	for key, obj := range items {
		have := table.ValuesOf(indexers, key, obj)
		fresh.objects.Store(key, obj)
		fresh.enter(key, obj, have)
	}
	t.indexers = indexers
	t.objects.Clear()
	t.entries.Clear()
	fresh.objects.Range(func(key string, obj any) bool { t.objects.Store(key, obj); return true })
	fresh.entries.Range(func(at place, having *xsync.Map[string, any]) bool { t.entries.Store(at, having); return true })
}

// An xsyncQueue is xsync's unbounded queue as a work queue's storage: many
// producers, one consumer. Its bounded queues can't be one, as a full one would
// lose keys.
type xsyncQueue struct {
	queue *xsync.UMPSCQueue[string]
	n     int
}

func newXsyncQueue() workqueue.Queue[string] {
	return &xsyncQueue{queue: xsync.NewUMPSCQueue[string]()}
}

func (q *xsyncQueue) Touch(string)     {}
func (q *xsyncQueue) Push(item string) { q.queue.Enqueue(item); q.n++ }
func (q *xsyncQueue) Len() int         { return q.n }
func (q *xsyncQueue) Pop() string      { q.n--; return q.queue.Dequeue() }

// An xsyncLimiter counts failures in a concurrent map.
type xsyncLimiter struct{ failures *xsync.Map[string, int] }

// newXsyncLimiter makes the default controller limiter: the later of 5 ms · 2^failures, at most
// 1,000 s, and upstream's bucket of 10 a second.
func newXsyncLimiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.TypedRateLimiter[string](xsyncLimiter{xsync.NewMap[string, int]()}),
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 100)},
	)
}

func (l xsyncLimiter) When(item string) time.Duration {
	n, _ := l.failures.Compute(item, func(n int, _ bool) (int, xsync.ComputeOp) { return n + 1, xsync.UpdateOp })
	return time.Duration(min(float64(5*time.Millisecond)*math.Exp2(float64(n-1)), float64(1000*time.Second)))
}

func (l xsyncLimiter) NumRequeues(item string) int { n, _ := l.failures.Load(item); return n }
func (l xsyncLimiter) Forget(item string)          { l.failures.Delete(item) }
