package drive

import (
	"context"
	"sync/atomic"
	"time"
)

// A pastime is how reconciles spend their time, until the drive hurries.
type pastime struct {
	cpu   bool            // burn processor time instead of sleeping
	hurry context.Context // its end cuts all waits short
	// until sleeps to a moment as exactly as it can and returns how long it spun
	// on the way.
	until func(time.Time) time.Duration
	burnt atomic.Int64 // nanoseconds of spinning and burning
}

// coarse is how far ahead of a moment a timer wakes, whose lateness of a
// millisecond or so the exact sleep then makes up for.
const coarse = 3 * time.Millisecond

// wait lets s seconds pass.
func (p *pastime) wait(s float64) {
	deadline := time.Now().Add(seconds(s))
	if long := time.Until(deadline) - coarse; long > 0 {
		timer := time.NewTimer(long)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.hurry.Done():
		}
	}
	if p.hurry.Err() == nil {
		p.burnt.Add(int64(p.until(deadline)))
	}
}

// spend is wait, or s seconds of work for one processor.
func (p *pastime) spend(s float64) {
	if !p.cpu {
		p.wait(s)
		return
	}
	if p.hurry.Err() == nil {
		burn(s)
		p.burnt.Add(int64(seconds(s)))
	}
}
