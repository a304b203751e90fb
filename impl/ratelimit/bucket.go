package ratelimit

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"golang.org/x/time/rate"
)

// bucket is a token bucket without tokens: it keeps the moment at which it will
// be full again. A reservation moves that moment one interval later, and waits
// for as long as the moment is more than a whole bucket ahead. Times are
// nanoseconds since an arbitrary begin, with 64 bits of fraction where an
// interval is not a whole number of nanoseconds.
//
// It answers as golang.org/x/time/rate does, which computes tokens in floating
// point, to within the rounding of that: see TestBucketMatchesRate.
//
// Invariant: full ≥ last once reserve ran.
type bucket struct {
	kind     bucketKind
	interval fixed // between two tokens
	depth    fixed // burst intervals
	full     fixed
	last     int64 // now of the last reservation
	left     int   // tokens that are never refilled
	horizon  time.Duration
}

// deepest is the longest depth there is: 146 years, which leaves as much for waits. The
// tokens of a larger burst that do not fit are there once. That they do not come back
// shows no sooner than in 146 years, for they are taken last.
const deepest = math.MaxInt64 / 2

type bucketKind uint8

const (
	refilled bucketKind = iota
	unlimited
	neverRefilled
	empty
)

// newBucket makes a full bucket. A reservation that would wait longer than
// horizon is not taken and answers horizon.
func newBucket(limit rate.Limit, burst int, horizon time.Duration) bucket {
	b := bucket{horizon: horizon, full: fixed{whole: math.MinInt64}, last: math.MinInt64}
	switch {
	case limit == rate.Inf:
		b.kind = unlimited
		return b
	case burst <= 0:
		b.kind = empty
		return b
	case math.IsNaN(float64(limit)): // no comparison of tokens makes anybody wait
		b.kind = unlimited
		return b
	}
	var fits bool
	if b.interval, fits = intervalOf(limit); !fits {
		b.kind, b.left = neverRefilled, burst // not within 292 years
		return b
	}
	tokens := min(uint64(burst), deepest/(uint64(b.interval.whole)+1))
	b.depth, b.left = b.interval.times(tokens), burst-int(tokens)
	return b
}

// fresh tells whether reserve never ran on a bucket that keeps state.
func (b *bucket) fresh() bool { return b.last == math.MinInt64 && !(b.kind == neverRefilled) }

// reserve takes a token at now and returns how long to wait for it.
func (b *bucket) reserve(now int64) time.Duration {
	if b.kind != refilled {
		return b.reserveUnusual()
	}
	if b.full.whole < now {
		b.full = fixed{whole: now} // full for a while
	} else if now < b.last {
		b.full.whole -= b.last - now // the clock went back: the tokens stay what they were
	}
	b.last = now
	full := b.full.plus(b.interval)
	wait := full.minus(b.depth).whole - now
	if wait <= 0 {
		b.full = full
		return 0
	}
	if b.left > 0 {
		b.left--
		return 0
	}
	if time.Duration(wait) > b.horizon {
		return b.horizon
	}
	b.full = full
	return time.Duration(wait)
}

func (b *bucket) reserveUnusual() time.Duration {
	if b.kind == unlimited {
		return 0
	}
	if b.kind == neverRefilled && b.left > 0 {
		b.left--
		return 0
	}
	return min(rate.InfDuration, b.horizon)
}

// fixed is a number of nanoseconds with a fraction in units of 2⁻⁶⁴.
type fixed struct {
	whole    int64
	fraction uint64
}

func (f fixed) plus(g fixed) fixed {
	fraction, carry := bits.Add64(f.fraction, g.fraction, 0)
	whole := f.whole + g.whole + int64(carry)
	if whole < f.whole {
		whole = math.MaxInt64 // g is not negative: the sum overflowed
	}
	return fixed{whole, fraction}
}

func (f fixed) minus(g fixed) fixed {
	fraction, borrow := bits.Sub64(f.fraction, g.fraction, 0)
	return fixed{f.whole - g.whole - int64(borrow), fraction}
}

// times is the product, which must fit.
func (f fixed) times(n uint64) fixed {
	carry, fraction := bits.Mul64(f.fraction, n)
	return fixed{f.whole*int64(n) + int64(carry), fraction}
}

// intervalOf is one second divided by limit, rounded to the nearest fraction,
// and whether that fits.
func intervalOf(limit rate.Limit) (interval fixed, fits bool) {
	if !(limit > 0) {
		return fixed{}, false
	}
	// 256 bits hold every quotient that fits with all of its fraction.
	quotient := new(big.Float).SetPrec(256).Quo(big.NewFloat(1e9), big.NewFloat(float64(limit)))
	shifted, _ := quotient.SetMantExp(quotient, 64).Add(quotient, big.NewFloat(0.5)).Int(nil)
	fraction := new(big.Int).And(shifted, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	whole := shifted.Rsh(shifted, 64)
	return fixed{whole.Int64(), fraction}, whole.IsInt64()
}
