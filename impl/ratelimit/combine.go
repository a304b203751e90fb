package ratelimit

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

var (
	_ workqueue.TypedRateLimiter[string] = maxOf[string]{}
	_ workqueue.TypedRateLimiter[string] = withMaxWait[string]{}
)

// maxOf asks every limiter and answers with the largest. It has no state and
// no lock of its own.
type maxOf[T comparable] struct {
	limiters []workqueue.TypedRateLimiter[T]
}

// NewMaxOf makes a limiter that asks every one of limiters, so that each of
// them counts the failure, and answers with the maximum of their delays and of
// their failures.
func NewMaxOf[T comparable](limiters ...workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	for _, l := range limiters {
		requireLimiter(l)
	}
	return maxOf[T]{limiters}
}

func (m maxOf[T]) When(item T) time.Duration {
	var longest time.Duration
	for _, l := range m.limiters {
		longest = max(longest, l.When(item))
	}
	return longest
}

func (m maxOf[T]) NumRequeues(item T) int {
	most := 0
	for _, l := range m.limiters {
		most = max(most, l.NumRequeues(item))
	}
	return most
}

func (m maxOf[T]) Forget(item T) {
	for _, l := range m.limiters {
		l.Forget(item)
	}
}

// withMaxWait cuts the delays of another limiter.
type withMaxWait[T comparable] struct {
	workqueue.TypedRateLimiter[T]
	max time.Duration
}

// NewWithMaxWait makes a limiter that answers with limiter's delays, cut at
// max. What a bucket reserved beyond max stays reserved; NewBucket with
// WithMaxReservation bounds that too.
func NewWithMaxWait[T comparable](limiter workqueue.TypedRateLimiter[T], max time.Duration) workqueue.TypedRateLimiter[T] {
	requireLimiter(limiter)
	return withMaxWait[T]{limiter, max}
}

func (w withMaxWait[T]) When(item T) time.Duration {
	return min(w.TypedRateLimiter.When(item), w.max)
}
