package ratelimit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// bucket is a token bucket that answers as golang.org/x/time/rate does, without that
// one's lock and wall clock. Times are nanoseconds since an arbitrary begin.
//
// Invariant: tokens ≤ burst; below zero, they are reserved.
type bucket struct {
	limit, burst float64
	tokens       float64 // at last
	last         int64   // now of the last reservation
	used         bool    // reserve ran
	horizon      time.Duration
}

// newBucket makes a full bucket. A reservation that would wait longer than
// horizon is not taken and answers horizon.
func newBucket(limit rate.Limit, burst int, horizon time.Duration) bucket {
	return bucket{limit: float64(limit), burst: float64(burst), tokens: float64(burst), horizon: horizon}
}

// reserve takes a token at now and returns how long to wait for it.
func (b *bucket) reserve(now int64) time.Duration {
	switch {
	case rate.Limit(b.limit) == rate.Inf:
		return 0
	case b.burst < 1:
		return min(rate.InfDuration, b.horizon)
	case !b.used:
		b.used, b.last = true, now
	}
	tokens := b.tokens - 1
	if now >= b.last && !(b.limit <= 0) { // if the clock went back the tokens stay what they were
		tokens = min(b.burst, b.tokens+time.Duration(now-b.last).Seconds()*b.limit) - 1
	}
	wait := time.Duration(0)
	if tokens < 0 {
		wait = b.until(-tokens)
	}
	if wait > b.horizon {
		return b.horizon
	}
	b.tokens, b.last = tokens, now
	return wait
}

// until is how long it takes for so many tokens to come.
func (b *bucket) until(tokens float64) time.Duration {
	if wait := tokens * 1e9 / b.limit; b.limit > 0 && wait < math.MaxInt64 {
		return time.Duration(wait)
	}
	return rate.InfDuration
}
