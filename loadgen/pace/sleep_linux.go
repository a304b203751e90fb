package pace

import (
	"syscall"
	"time"
)

// threadSleep sleeps in the kernel. Linux ends such a sleep up to 50 µs late to
// save wake-ups, and lets the thread wait behind those that run; the thread says
// that it wants none of that.
type threadSleep struct {
	nice int // of the thread before
}

func newSleeper() sleeper { return &threadSleep{} }

const (
	setTimerSlack = 29 // prctl(2): PR_SET_TIMERSLACK, in ns; 0 is the default
	leastSlack    = 1
	highest       = -20 // setpriority(2)
	niceless      = 20  // getpriority(2), the system call, returns 20 - nice
)

func (s *threadSleep) bind() {
	slack(leastSlack)
	if p, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		s.nice = niceless - p
	}
	priority(highest)
}

func (s *threadSleep) unbind() {
	slack(0)
	priority(s.nice)
}

// slack fails where prctl is not allowed; then sleeps are late by the default.
func slack(ns uintptr) { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, ns, 0) }

// priority fails without CAP_SYS_NICE; then the thread takes its turn. Linux
// applies it to the calling thread alone.
func priority(nice int) { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, nice) }

func (*threadSleep) sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early; the caller sleeps on
}
