package pace

import (
	"syscall"
	"time"
)

// threadSleep sleeps in the kernel. Linux ends such a sleep up to 50 µs late to
// save wake-ups; the thread says that it wants none of that.
type threadSleep struct{}

func newSleeper() sleeper { return threadSleep{} }

const (
	setTimerSlack = 29 // prctl(2): PR_SET_TIMERSLACK, in ns; 0 is the default
	leastSlack    = 1
)

func (threadSleep) bind()   { slack(leastSlack) }
func (threadSleep) unbind() { slack(0) }

// slack fails where prctl is not allowed; then sleeps are late by the default.
func slack(ns uintptr) { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, ns, 0) }

func (threadSleep) sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early; the caller sleeps on
}
