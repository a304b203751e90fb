// Package pace waits for the moments at which the events of a load are due. Its
// steps, in order:
//
//  1. A [Pacer] is bound to a thread of its own, where the operating system
//     allows precise sleeps, and before all others in its turn, where that is
//     permitted: what is measured must not hold up the load.
//  2. [Pacer.Wait] sleeps until an event is due, in the open loop: a late event
//     does not wait, and does not move the next.
//  3. [Pacer.Lateness] holds by how much each event was late, so that a run can
//     show that its load was the one that was asked for, and [SelfTest] how late
//     it would be on this machine if nothing else ran.
package pace

import (
	"context"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Pacer waits for one goroutine. It must be closed by that goroutine.
type Pacer struct {
	precise  sleeper // nil: timers only
	bound    bool
	lateness *hdrhistogram.Histogram
}

// A sleeper sleeps more precisely than the runtime's timers, on one thread.
type sleeper interface {
	bind()   // prepares the current thread
	unbind() // undoes it
	sleep(time.Duration)
}

// longest lateness that is told apart: an hour.
const maxLateness = int64(time.Hour)

// New returns the most precise pacer there is on this system.
func New() *Pacer { return &Pacer{precise: newSleeper(), lateness: newHistogram()} }

// NewTimer returns a pacer that uses the runtime's timers only: late by half a
// millisecond and more, but at home in a testing/synctest bubble.
func NewTimer() *Pacer { return &Pacer{lateness: newHistogram()} }

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, maxLateness, 3) }

// timerLead is how long before the moment a timer hands over to precise sleep:
// longer than timers are late.
const timerLead = 2 * time.Millisecond

// Wait returns at the moment due, at once if that has passed, and notes how
// late it is. It returns early with the context's error, then without a note.
//
// The goroutine that calls it first is bound to its thread until Close.
func (p *Pacer) Wait(ctx context.Context, due time.Time) error {
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
	_ = p.lateness.RecordValue(min(int64(-left), maxLateness)) // within the range
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
// how late they were.
func SelfTest(events int, distance time.Duration) *hdrhistogram.Histogram {
	p := New()
	defer p.Close()
	begin := time.Now()
	for i := range events {
		_ = p.Wait(context.Background(), begin.Add(time.Duration(i)*distance)) // never ends early
	}
	return p.Lateness()
}

// Close gives the thread back.
func (p *Pacer) Close() {
	if p.bound {
		p.precise.unbind()
		runtime.UnlockOSThread()
		p.bound = false
	}
}

// Lateness holds, in nanoseconds, how late each wait returned. It must not be
// read while another goroutine waits.
func (p *Pacer) Lateness() *hdrhistogram.Histogram { return p.lateness }

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
