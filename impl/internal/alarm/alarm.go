// Package alarm wakes delaying queues: a goroutine that calls a queue when its
// first waiting item is due.
package alarm

import (
	"math"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Heartbeat bounds how late a due item is found when the clock loses a timer.
const Heartbeat = 10 * time.Second

// Never is the time of no event.
const Never = math.MaxInt64

// An Alarm calls fire at the times that fire asks for, at every Heartbeat and
// soon after Wake, always from one goroutine and with no lock held, until Stop.
type Alarm struct {
	clock clock.WithTicker
	real  bool
	begin time.Time
	wake  chan struct{}
	stop  chan struct{}
	once  sync.Once
	ended chan struct{}
}

// New makes an alarm that does not run yet.
func New(c clock.WithTicker) *Alarm {
	if c == nil {
		c = clock.RealClock{}
	}
	_, real := c.(clock.RealClock)
	return &Alarm{
		real:  real,
		clock: c,
		begin: c.Now(),
		wake:  make(chan struct{}, 1),
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
	}
}

// latest is the last time that is told apart from later ones.
const latest = Never - 2

// Now is nanoseconds since the alarm was made; after 292 years it stands still.
// Reading it is cheaper than clock.Now, which asks for the wall clock too.
func (a *Alarm) Now() int64 { return min(int64(a.clock.Since(a.begin)), latest) }

// In is the time d after now. A time past the 292 years is one that never comes,
// and once they are over everything is due at once.
func In(now int64, d time.Duration) int64 {
	switch at := now + int64(d); {
	case now == latest:
		return now
	case at < now || at > latest:
		return latest + 1
	default:
		return at
	}
}

// Run starts the goroutine. fire does what is due and returns when it wants to
// be called again, and false when the goroutine shall end. As upstream's does, a
// panic in it is logged and ends the process.
func (a *Alarm) Run(logger klog.Logger, fire func() (next int64, goOn bool)) {
	beat := a.clock.NewTicker(Heartbeat)
	go func() {
		defer close(a.ended)
		defer utilruntime.HandleCrashWithLogger(logger)
		defer beat.Stop()
		a.loop(beat.C(), fire)
	}()
}

func (a *Alarm) loop(beat <-chan time.Time, fire func() (int64, bool)) {
	var timer clock.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		next, goOn := fire()
		if !goOn {
			return
		}
		var ready <-chan time.Time
		if next != Never {
			timer = a.set(timer, next)
			ready = timer.C()
			if a.Now() >= next {
				continue
			}
		}
		select {
		case <-a.stop:
			return
		case <-a.wake:
		case <-ready:
		case <-beat:
		}
	}
}

// set makes timer fire at next. A clock other than the real one may step between
// the reading of the time and the start of the timer, which would then fire late by
// that step: so set looks at the time again, though not for ever, for the clock may
// be one that moves at every look.
func (a *Alarm) set(timer clock.Timer, next int64) clock.Timer {
	for tries := 1; ; tries++ {
		now := a.Now()
		wait := time.Duration(next - now)
		if timer == nil {
			timer = a.clock.NewTimer(wait)
		} else {
			// A fake clock's timer blocks its clock when it fires into a full
			// channel, so a value nobody read goes first.
			timer.Stop()
			select {
			case <-timer.C():
			default:
			}
			timer.Reset(wait)
		}
		if a.real || a.Now() == now || tries == 10 {
			return timer
		}
	}
}

// Wake makes the goroutine call fire soon. It never blocks.
func (a *Alarm) Wake() {
	select {
	case a.wake <- struct{}{}:
	default: // a call is to come
	}
}

// Stop tells the goroutine to end.
func (a *Alarm) Stop() { a.once.Do(func() { close(a.stop) }) }

// Wait returns when the goroutine has ended.
func (a *Alarm) Wait() { <-a.ended }
