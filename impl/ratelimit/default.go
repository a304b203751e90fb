package ratelimit

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.TypedRateLimiter[string] = (*Controller[string])(nil)

// A Controller is the maximum of an item exponential limiter and a bucket, as
// NewMaxOf over both would be, behind one lock and one probe of one table.
type Controller[T comparable] struct {
	compactFailures[T]
	stopwatch
	base, max time.Duration
	bucket    bucket
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
	before := c.count(hash, item)
	delay := max(0, c.bucket.reserve(now), exponential(c.base, c.max, before))
	c.mu.Unlock()
	return delay
}
