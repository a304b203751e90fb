package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadSleep sleeps in the kernel. Linux ends such a sleep up to 50 µs late to
// save wake-ups, and lets the thread wait behind those that run; the thread says
// that it wants none of that. Each wish fails where it is not permitted: then
// sleeps are late by the default, and the thread takes its turn.
type threadSleep struct {
	first bool // goes before all other threads; for a process that does nothing else
	nice  int  // of the thread before
}

func newSleeper() sleeper { return &threadSleep{} }

const (
	leastSlack = 1 // ns; 0 is the default
	highest    = -20
	niceless   = 20 // getpriority(2), the system call, returns 20 - nice
)

func (s *threadSleep) bind() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, leastSlack, 0, 0, 0)
	if s.first { // up to half of the time; SCHED_FIFO gives way to all others for tens of milliseconds now and then
		attr := unix.SchedAttr{Policy: unix.SCHED_DEADLINE, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Runtime: 500_000, Deadline: 1_000_000, Period: 1_000_000}
		if unix.SchedSetAttr(0, &attr, 0) == nil {
			return
		}
	}
	if p, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		s.nice = niceless - p
	}
	// Linux applies it to the calling thread alone.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, highest)
}

func (s *threadSleep) unbind() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, s.nice)
}

func (*threadSleep) sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early; the caller sleeps on
}
