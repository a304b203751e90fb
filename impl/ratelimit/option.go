package ratelimit

import (
	"fmt"
	"math"
	"time"

	"k8s.io/utils/clock"
)

// An Option changes a limiter that keeps time: NewBucket, NewDefault,
// NewBoundedItemExponentialFailure.
type Option func(*options)

type options struct {
	clock   clock.PassiveClock
	horizon time.Duration
	keys    int
	age     time.Duration
}

func apply(opts []Option) options {
	o := options{clock: clock.RealClock{}, horizon: math.MaxInt64, keys: math.MaxInt}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithClock makes the limiter read c instead of the real clock; nil is the real
// one.
func WithClock(c clock.PassiveClock) Option {
	return func(o *options) {
		if c == nil {
			c = clock.RealClock{}
		}
		o.clock = c
	}
}

// WithMaxReservation bounds how far into the future a bucket gives tokens away:
// a reservation that would wait longer than d waits d and takes no token. So a
// storm of many keys can't push retries minutes into the future
// (kubernetes/kubernetes#104554), and d after it the bucket serves at once
// again. While the storm lasts, more than the bucket's rate become ready:
// that is what the bound means.
func WithMaxReservation(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("ratelimit.WithMaxReservation: found %v, expected zero or more", d))
	}
	return func(o *options) { o.horizon = d }
}

// WithMaxKeys bounds how many keys' failures are kept, at least one. The key
// whose last failure is the longest ago is forgotten first, and starts with the
// base delay if it fails again.
func WithMaxKeys(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("ratelimit.WithMaxKeys: found %d, expected one or more", n))
	}
	return func(o *options) { o.keys = n }
}

// WithMaxAge forgets the failures of a key that did not fail for d; zero means
// never. Take more than the longest delay, or back-off starts over between two
// failures.
func WithMaxAge(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("ratelimit.WithMaxAge: found %v, expected zero or more", d))
	}
	return func(o *options) { o.age = d }
}

// A stopwatch is nanoseconds since it was made. Reading it is cheaper than
// clock.Now, which asks for the wall clock too.
type stopwatch struct {
	clock clock.PassiveClock // nil when it is the real one
	begin time.Time
}

func newStopwatch(c clock.PassiveClock) stopwatch {
	if _, real := c.(clock.RealClock); real {
		return stopwatch{begin: time.Now()}
	}
	return stopwatch{clock: c, begin: c.Now()}
}

func (s *stopwatch) now() int64 {
	if s.clock == nil {
		return int64(time.Since(s.begin))
	}
	return int64(s.clock.Since(s.begin))
}
