// Package pace waits for the moments at which the events of a load are due. Its
// steps, in order:
//
//  1. A [Pacer] is a process of its own ([NewProcess]) or bound to a thread of
//     its own ([New]), where the operating system allows precise sleeps, and
//     before all others in its turn, where that is permitted: what is measured
//     must not hold up the load.
//  2. [Pacer.Wait] sleeps until an event is due, in the open loop: a late event
//     does not wait, and does not move the next.
//  3. [Pacer.Lateness] holds by how much each event was late, so that a run can
//     show that its load was the one that was asked for, and [Pacer.SelfTest]
//     how late it would be on this machine if nothing else ran.
package pace

import (
	"context"
	"runtime"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// A Pacer waits for one goroutine. It must be closed by that goroutine.
type Pacer struct {
	far      *far    // nil: in this process
	precise  sleeper // nil: timers only
	bound    bool
	lateness durations.Histogram
	taken    durations.Histogram // empty without far
}

// A sleeper sleeps more precisely than the runtime's timers, on one thread.
type sleeper interface {
	bind()   // prepares the current thread
	unbind() // undoes it
	sleep(time.Duration)
}

// New returns the most precise pacer there is in this process.
func New() *Pacer { return &Pacer{precise: newSleeper(), lateness: newHistogram()} }

// NewTimer returns a pacer that uses the runtime's timers only: late by half a
// millisecond and more, but at home in a testing/synctest bubble.
func NewTimer() *Pacer { return &Pacer{lateness: newHistogram()} }

// Announce names moments before they are waited for, all of them in that order,
// so that a process of its own can release them. Far ahead of the waits it may
// block until Close or until they have caught up. It may be called while another
// goroutine waits. The pacers of this process do without.
func (p *Pacer) Announce(due []time.Time) {
	if p.far != nil {
		p.far.announce(due)
	}
}

// newHistogram tells lateness up to an hour.
func newHistogram() durations.Histogram { return durations.New(1, time.Hour, 3) }

// timerLead is how long before the moment a timer hands over to precise sleep:
// longer than timers are late.
const timerLead = 2 * time.Millisecond

// Wait returns at the moment due, at once if that has passed, and notes how
// late it is. It returns early with the context's error, the same context in all
// calls, and then without a note.
//
// The goroutine that calls it first is bound to its thread until Close.
func (p *Pacer) Wait(ctx context.Context, due time.Time) error {
	if p.far != nil {
		late, err := p.far.wait(ctx)
		if err == nil {
			p.lateness.Record(late)
			p.taken.Record(time.Since(due))
		}
		return err
	}
	left := time.Until(due)
	if left > 0 {
		if p.precise == nil {
			if err := wait(ctx, left); err != nil {
				return err
			}
		} else {
			if left > timerLead {
				if err := wait(ctx, left-timerLead); err != nil {
					return err
				}
			}
			p.bind()
			for left = time.Until(due); left > 0; left = time.Until(due) {
				p.precise.sleep(left)
			}
		}
		left = time.Until(due)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.lateness.Record(-left)
	return nil
}

func (p *Pacer) bind() {
	if !p.bound {
		runtime.LockOSThread()
		p.precise.bind()
		p.bound = true
	}
}

// SelfTest paces events that do nothing, so many at that distance, and returns
// the 99th percentile of how late they were. It notes nothing.
func (p *Pacer) SelfTest(ctx context.Context, events int, distance time.Duration) (time.Duration, error) {
	due := make([]time.Time, events)
	for i, begin := 0, time.Now(); i < events; i++ {
		due[i] = begin.Add(time.Duration(i) * distance)
	}
	const ahead = 256 // less than any pipe holds
	p.Announce(due[:min(ahead, events)])
	for i, t := range due {
		if i+ahead < events {
			p.Announce(due[i+ahead : i+ahead+1])
		}
		if err := p.Wait(ctx, t); err != nil {
			return 0, err
		}
	}
	late := p.lateness.Quantile(0.99)
	p.lateness.Reset()
	p.taken.Reset()
	return late, nil
}

// Close gives the thread back, or ends the process.
func (p *Pacer) Close() {
	if p.far != nil {
		p.far.close()
		return
	}
	if p.bound {
		p.precise.unbind()
		runtime.UnlockOSThread()
		p.bound = false
	}
}

// Lateness holds how late each event was released: the load's
// own delay. It must not be read while another goroutine waits.
func (p *Pacer) Lateness() durations.Histogram { return p.lateness }

// Taken holds how long after its moment this process took each event from the
// one that released it; it is empty if none does. What it exceeds Lateness
// by is this process's delay, as when a client reads late from its connection.
func (p *Pacer) Taken() durations.Histogram { return p.taken }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
