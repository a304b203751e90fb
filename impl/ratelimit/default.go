package ratelimit

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedRateLimiter[string] = (*Controller[string])(nil)

// A Controller is the maximum of an item exponential limiter and a bucket, as
// NewMaxOf over both would be, behind one lock and one probe of one table.
//
// A fused queue made with it keeps the failures in its own entries; the
// Controller then asks the queue, so both always agree.
type Controller[T comparable] struct {
	compactFailures[T]
	stopwatch
	base, max time.Duration
	bucket    bucket

	adopter atomic.Pointer[fused[T]]
}

// NewDefault makes the default controller limiter: 5 ms…1,000 s exponential
// for each item, 10/s with a burst of 100 for all.
func NewDefault[T comparable](opts ...Option) *Controller[T] {
	return NewController[T](defaultBaseDelay, defaultMaxDelay, defaultRate, defaultBurst, opts...)
}

// NewController makes a default controller limiter with other numbers; see
// NewItemExponentialFailure and NewBucket for their meaning.
func NewController[T comparable](base, max time.Duration, limit rate.Limit, burst int, opts ...Option) *Controller[T] {
	o := apply(opts)
	c := &Controller[T]{
		stopwatch: newStopwatch(o.clock),
		base:      base,
		max:       max,
		bucket:    newBucket(limit, burst, o.horizon),
	}
	c.keys.Init()
	return c
}

// When counts a failure of item and answers how long its retry must wait.
func (c *Controller[T]) When(item T) time.Duration {
	hash := c.keys.Hash(item)
	now := c.now()
	c.mu.Lock()
	if q := c.adopter.Load(); q != nil { // under the lock: a queue may just be taking over
		c.mu.Unlock()
		return q.when(item)
	}
	slot, _ := c.keys.Enter(hash, item)
	delay := c.delay(now, c.keys.At(slot))
	c.mu.Unlock()
	return delay
}

// delay counts a failure and answers its delay. The caller holds the lock of both.
func (c *Controller[T]) delay(now int64, failures *uint32) time.Duration {
	return max(0, c.bucket.reserve(now), exponential(c.base, c.max, fail(failures)))
}

// NumRequeues is how often When was asked since the last Forget.
func (c *Controller[T]) NumRequeues(item T) int {
	if q := c.adopter.Load(); q != nil {
		return q.NumRequeues(item)
	}
	return c.compactFailures.NumRequeues(item)
}

// Forget resets the failures of item; the bucket's tokens stay taken.
func (c *Controller[T]) Forget(item T) {
	if q := c.adopter.Load(); q != nil {
		q.Forget(item)
		return
	}
	c.compactFailures.Forget(item)
}
