package ratelimit

import (
	"github.com/informerbench/informerbench/impl/delay"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedRateLimitingInterface[string] = (*stacked[string])(nil)

// stacked is a limiter on top of a delaying queue; all state is theirs.
type stacked[T comparable] struct {
	workqueue.TypedDelayingInterface[T]
	limiter workqueue.TypedRateLimiter[T]
}

// NewHeapQueue makes the reference rate limiting queue, over delay.NewHeap or
// the config's DelayingQueue.
func NewHeapQueue[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T] {
	return stack(limiter, config, delay.NewHeap[T])
}

// NewHeap4Queue makes a rate limiting queue over delay.NewHeap4 or the config's
// DelayingQueue.
func NewHeap4Queue[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T] {
	return stack(limiter, config, delay.NewHeap4[T])
}

func stack[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T], newDelaying func(workqueue.TypedDelayingQueueConfig[T]) workqueue.TypedDelayingInterface[T]) workqueue.TypedRateLimitingInterface[T] {
	requireLimiter(limiter)
	if config.DelayingQueue == nil {
		config.DelayingQueue = newDelaying(workqueue.TypedDelayingQueueConfig[T]{
			Name:            config.Name,
			MetricsProvider: config.MetricsProvider,
			Clock:           config.Clock,
		})
	}
	return &stacked[T]{config.DelayingQueue, limiter}
}

// requireLimiter panics where the queue is made, not where the first item fails.
func requireLimiter[T comparable](limiter workqueue.TypedRateLimiter[T]) {
	if limiter == nil {
		panic("ratelimit: limiter is nil, expected one, such as ratelimit.NewDefault")
	}
}

// AddRateLimited counts a failure of item and queues it when the limiter's
// delay has passed.
func (q *stacked[T]) AddRateLimited(item T) { q.AddAfter(item, q.limiter.When(item)) }

// Forget resets the limiter's failures of item. It does not imply Done.
func (q *stacked[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is the limiter's count of failures since the last Forget.
func (q *stacked[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
