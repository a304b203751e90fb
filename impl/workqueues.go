package impl

import (
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/queue"
	"github.com/informerbench/informerbench/impl/ratelimit"
)

// Constructors of the work queue family, as the catalogue lists them.
type (
	// NewStorage makes the storage that upstream's Typed takes as its Queue.
	NewStorage[T comparable] = func() workqueue.Queue[T]
	// NewQueue makes a work queue.
	NewQueue[T comparable] = func(workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T]
	// NewDelayingQueue makes a delaying queue.
	NewDelayingQueue[T comparable] = func(workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T]
	// NewRateLimiter makes a default controller rate limiter.
	NewRateLimiter[T comparable] = func() workqueue.TypedRateLimiter[T]
	// NewRateLimitingQueue makes a rate limiting queue around a limiter.
	NewRateLimitingQueue[T comparable] = func(workqueue.TypedRateLimiter[T], workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T]
	// NewPriorityQueue makes a priority queue as controller-runtime's New does.
	NewPriorityQueue[T comparable] = func(name string, opts ...priorityqueue.Opt[T]) priorityqueue.PriorityQueue[T]
)

// Storages lists the storages for upstream's queue (workqueue.TypedQueueConfig.Queue).
func Storages[T comparable]() []Variant[NewStorage[T]] {
	return withAdded("storage", []Variant[NewStorage[T]]{
		{Name: "slice", New: queue.NewSliceStorage[T],
			Summary: "append and cut the front off: plain"},
		{Name: "ring", New: queue.NewRingStorage[T],
			Summary: "circular buffer: no allocation in the steady state, memory given back after a burst"},
		{Name: "client-go", Peer: true, New: workqueue.DefaultQueue[T],
			Summary: "append and reslice; re-allocates as the slice walks through its array"},
	})
}

// Queues lists the work queues.
func Queues[T comparable]() []Variant[NewQueue[T]] {
	return withAdded("queue", []Variant[NewQueue[T]]{
		{Name: "slice", New: queue.NewSlice[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "two sets and a slice behind one mutex: the contract as written"},
		{Name: "ring", New: queue.NewRing[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "two sets and a ring behind one mutex: the reference over a storage that allocates nothing"},
		{Name: "sharded", New: queue.NewSharded[T],
			Relaxes: []string{ExplicitProvider, "global-fifo", "requeue-place"},
			Summary: "compact queues by key hash, each with a lock of its own; first in first out within a shard"},
		{Name: "compact", New: queue.NewCompact[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "one table entry a key that is also its link in the queue: two probes an item, no allocation"},
		{Name: "client-go", Peer: true,
			Relaxes: []string{"fault:spurious-done", "fault:concurrent-drains"},
			Summary: "one mutex and condition, two sets and a slice: seven map operations an item",
			New: func(c workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
				return workqueue.NewTypedWithConfig(c)
			}},
		{Name: "controller-runtime", Peer: true,
			Relaxes: slices.Concat(controllerRuntimeRelaxes, []string{"requeue-place", "linearizable", "injected-clock", "injected-storage"}),
			Summary: "the priority queue at one priority: B-trees and goroutines between Add and Get",
			New: func(c workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
				return controllerRuntime[T](nil, c.Name, c.MetricsProvider)
			}},
	})
}

// DelayingQueues lists the delaying queues.
func DelayingQueues[T comparable]() []Variant[NewDelayingQueue[T]] {
	return withAdded("delaying-queue", []Variant[NewDelayingQueue[T]]{
		{Name: "heap", New: delay.NewHeap[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "a binary heap of pointers and a map, both plain, behind one mutex"},
		{Name: "heap4", New: delay.NewHeap4[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "a 4-ary heap of sixteen-byte nodes beside a key table: no object an item"},
		{Name: "wheel",
			Relaxes: []string{ExplicitProvider, "on-time"},
			Summary: "a hierarchical timing wheel with a tick of 1 ms: AddAfter in O(1), ready up to a tick late",
			New: func(c workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
				return delay.NewWheel(c, delay.DefaultTick)
			}},
		{Name: "client-go", Peer: true, New: workqueue.NewTypedDelayingQueueWithConfig[T],
			Relaxes: []string{"fault:spurious-done", "fault:concurrent-drains", "fault:no-goroutine-after-drain",
				"fault:adder-never-waits", "fault:no-retained-delayed-items"},
			Summary: "a goroutine owns a binary heap of pointers; items arrive over a channel of 1,000"},
		{Name: "controller-runtime", Peer: true,
			Relaxes: slices.Concat(controllerRuntimeRelaxes, []string{"requeue-place", "linearizable", "injected-clock", "injected-queue",
				"delay-clock", "heartbeat", "adder-never-waits", "add-keeps-waiting", "metrics-retries"}),
			Summary: "the priority queue: waiting items in a B-tree by time, its clock is always the real one",
			New: func(c workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T] {
				return controllerRuntime[T](nil, c.Name, c.MetricsProvider)
			}},
	})
}

// RateLimiters lists implementations of the default controller rate limiter:
// the maximum of 5 ms…1,000 s exponential back-off a key and a bucket of 10/s
// with a burst of 100.
func RateLimiters[T comparable]() []Variant[NewRateLimiter[T]] {
	return withAdded("rate-limiter", []Variant[NewRateLimiter[T]]{
		{Name: "map", New: ratelimit.NewMapDefault[T],
			Summary: "a mutex and a map of failures, then a bucket of golang.org/x/time/rate, both plain"},
		{Name: "compact", New: func() workqueue.TypedRateLimiter[T] { return ratelimit.NewDefault[T]() },
			Summary: "one lock, one probe of a key table, a token bucket beside it"},
		{Name: "bounded", New: ratelimit.NewBoundedDefault[T],
			Relaxes: []string{"failures-kept", "bucket-debt"},
			Summary: "keeps the failures of the last 100,000 keys; no reservation past one minute"},
		{Name: "client-go", Peer: true, New: workqueue.DefaultTypedControllerRateLimiter[T],
			Summary: "a mutex and a map of failures, then golang.org/x/time/rate with its own mutex"},
	})
}

// RateLimitingQueues lists the rate limiting queues.
func RateLimitingQueues[T comparable]() []Variant[NewRateLimitingQueue[T]] {
	return withAdded("rate-limiting-queue", []Variant[NewRateLimitingQueue[T]]{
		{Name: "heap", New: ratelimit.NewHeapQueue[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "the limiter on top of the heap delaying queue, all plain"},
		{Name: "heap4", New: ratelimit.NewHeap4Queue[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "the limiter on top of the heap4 delaying queue and the compact queue: three tables"},
		{Name: "fused", New: ratelimit.NewFusedQueue[T],
			Relaxes: []string{ExplicitProvider},
			Summary: "the compact queue with delays in its entries: one table, and the limiter's"},
		{Name: "client-go", Peer: true, New: workqueue.NewTypedRateLimitingQueueWithConfig[T],
			Relaxes: []string{"fault:spurious-done", "fault:concurrent-drains", "fault:no-goroutine-after-drain",
				"fault:no-retained-delayed-items"},
			Summary: "limiter, delaying queue and queue stacked: each finds the key again in its own maps"},
		{Name: "controller-runtime", Peer: true,
			Relaxes: slices.Concat(controllerRuntimeRelaxes, []string{"requeue-place", "linearizable", "injected-clock",
				"injected-delaying-queue", "delay-clock", "heartbeat", "add-keeps-waiting", "metrics-retries"}),
			Summary: "the priority queue, every item of one priority; its clock is always the real one",
			New: func(l workqueue.TypedRateLimiter[T], c workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T] {
				return controllerRuntime(l, c.Name, c.MetricsProvider)
			}},
	})
}

// controllerRuntimeRelaxes are the clauses of a work queue that
// controller-runtime's priority queue gives up: it drops what is queued at
// shutdown, does not drain, must be shut down once, and counts an item in
// processing that was added again as queued. Its lists add "requeue-place", which
// is no clause of a priority queue: such an item keeps the place of that Add; and
// their clause of linearizability: an Add goes into a buffer that is emptied later,
// and in rare histories no order of the calls explains the results.
var controllerRuntimeRelaxes = []string{
	"len-counts-queued", "drain-after-shutdown", "requeue-after-shutdown", "drain-waits-processing",
	"drain-includes-requeued", "shutdown-ends-drain", "panic-unlocks", "fault:shutdown-twice", "fault:concurrent-drains",
}

// controllerRuntime makes controller-runtime's priority queue, which takes
// neither a clock nor an inner queue. A nil limiter means its default.
func controllerRuntime[T comparable](l workqueue.TypedRateLimiter[T], name string, m workqueue.MetricsProvider) workqueue.TypedRateLimitingInterface[T] {
	return priorityqueue.New(name, func(o *priorityqueue.Opts[T]) {
		o.RateLimiter = l
		o.MetricProvider = m
	})
}

// PriorityQueues lists the priority queues.
func PriorityQueues[T comparable]() []Variant[NewPriorityQueue[T]] {
	return withAdded("priority-queue", []Variant[NewPriorityQueue[T]]{
		{Name: "levels", New: priority.New[T],
			Relaxes: []string{ExplicitProvider, "len-counts-queued", "drain-after-shutdown", "requeue-after-shutdown", "drain-includes-requeued"},
			Summary: "one lock, one table entry a key, a list a priority and a heap of ready times"},
		{Name: "controller-runtime", Peer: true, New: priorityqueue.New[T],
			Relaxes: slices.Concat(controllerRuntimeRelaxes, []string{"priority-linearizable"}),
			Summary: "two B-trees behind a lock, an add buffer and a hand-over channel, five goroutines"},
	})
}
