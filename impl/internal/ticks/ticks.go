// Package ticks tells the time by the processor's counter of ticks, which takes
// less than half as long as to ask the system's clock.
//
//  1. The first Clock of a program asks the system's clock, until two milliseconds
//     later it is known how long a tick takes. Others begin with that.
//  2. Now adds the ticks since the anchor, a moment at which both clocks were read.
//  3. After a millisecond the anchor is no longer good: Now reads both clocks, and
//     so finds out whether they still agree. If not, the Clock asks the system's
//     from then on.
//
// So its moments are those of the system's monotonic clock, whichever way they are
// found, within a microsecond and mostly a tenth of that. A counter that goes wrong,
// be it by years, makes one differ by the millisecond at most, unless it lags: then
// by the time between two calls of Renew.
package ticks

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	// reach is how long an anchor is good. To renew it takes 50 ns.
	reach = time.Millisecond
	// The time of a tick is measured over firstSpan, then again and again over span,
	// as the system's clock may be made faster or slower while it runs. Each end is
	// known to half of narrow.
	firstSpan = 2 * time.Millisecond
	span      = 100 * time.Millisecond
	// narrow is how many ticks may go by while both clocks are read, 0.2 to 1 µs.
	// It takes a fifth of that unless the goroutine is interrupted.
	narrow = 1024
	// patience is how many times one after the other it may take longer.
	patience = 100
)

// A Clock tells the time since the program began. It is not safe for concurrent use.
// Use New to make one.
//
// Invariant: good is not zero ⇔ there is an anchor and tick is not zero. good ticks
// take reach at most. A clock that is faulty has no scale.
type Clock struct {
	anchor moment
	good   uint64 // how many ticks after the anchor it is good
	scale
	missed int  // anchors, one after the other
	faulty bool // the counter is, so the system's clock is asked for good
}

// A moment is what the two clocks say at a time.
type moment struct {
	ticks uint64
	at    time.Duration
}

// A scale is how long a tick takes.
type scale struct {
	tick  uint64 // in 2⁻³² ns, or zero
	first moment // from which on it is measured again
}

var (
	begin = time.Now()
	// known is the scale of the Clock that changed its last, or nil.
	known atomic.Pointer[scale]
)

// since is what the system's clock says.
func since() time.Duration { return time.Since(begin) }

// New makes a clock. It is nil where the counter can't be relied on, or if time is the
// virtual time of a testing/synctest bubble.
func New() *Clock {
	if !actual() || !reliable() {
		return nil
	}
	c := new(Clock)
	if known := known.Load(); known != nil {
		c.scale = *known
	}
	return c
}

// Now is the time. It may be a little less than what was told before.
func (c *Clock) Now() time.Duration {
	if c.good > 0 {
		if at, ok := c.tell(count()); ok {
			return at
		}
	}
	return c.Renew()
}

// Renew is Now as the system's clock says. A counter that stands still or goes much
// too slowly is noticed only here, and not by a Now to which the anchor looks good.
func (c *Clock) Renew() time.Duration {
	if c.faulty {
		return since()
	}
	old := c.scale
	before := count()
	at := since()
	c.anchorAt(before, at, count())
	if c.scale != old {
		changed := c.scale
		known.Store(&changed)
	}
	return at
}

// tell is the time at a count, if the anchor is good for it.
func (c *Clock) tell(ticks uint64) (at time.Duration, ok bool) {
	passed := ticks - c.anchor.ticks
	return c.anchor.at + time.Duration(passed*c.tick>>32), passed < c.good
}

// anchorAt makes an anchor of a time by the system's clock, and the counts before
// and after it was asked.
func (c *Clock) anchorAt(before uint64, at time.Duration, after uint64) {
	now := moment{before + (after-before)/2, at}
	switch {
	case after-before > narrow:
		c.missed++
		c.faulty = c.missed > patience
	case c.good > 0 && !c.agrees(now):
		c.faulty = true
	default:
		c.missed = 0
		c.measure(now)
		c.anchor = now
		if c.tick > 0 {
			c.good = uint64(reach) << 32 / c.tick
		}
	}
	if c.faulty {
		c.good, c.scale = 0, scale{}
	}
}

// agrees tells whether the ticks since the anchor take as long as the system's clock
// says, give or take a thousandth, which is more than that is ever adjusted by.
func (c *Clock) agrees(now moment) bool {
	passed := now.at - c.anchor.at
	told := float64(int64(now.ticks-c.anchor.ticks)) * float64(c.tick) / (1 << 32)
	return math.Abs(told-float64(passed)) <= float64(time.Microsecond+passed/1000)
}

// measure finds the time of a tick when the span is over.
func (c *Clock) measure(now moment) {
	if c.first == (moment{}) {
		c.first = now
	}
	passed := now.at - c.first.at
	if passed < firstSpan || c.tick > 0 && passed < span {
		return
	}
	tick := float64(passed) / float64(int64(now.ticks-c.first.ticks)) * (1 << 32)
	if tick < 1<<28 || tick > 1<<36 { // no processor has 16 GHz, or 60 MHz
		c.faulty = true
		return
	}
	c.scale = scale{uint64(tick), now}
}
