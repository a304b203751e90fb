//go:build gc

package ticks

import (
	"bytes"
	"os"
	"sync"
	"syscall"
	"time"
)

// count is the time stamp counter. A reading may trade places with what precedes or
// follows it in the program, by some tens of nanoseconds.
func count() uint64

// reliable tells whether the kernel takes its own time from the counter. It does if
// the counter has the same rate at all times, in sleep states too, and the same
// value on all processors. It goes on to watch that, and so does a Clock.
var reliable = sync.OnceValue(func() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && string(bytes.TrimSpace(source)) == "tsc"
})

// actual tells whether package time has the system's time, not a virtual one.
func actual() bool {
	var system syscall.Timeval
	before := time.Now()
	if syscall.Gettimeofday(&system) != nil {
		return false
	}
	after := time.Now()
	us := system.Nano() / 1000
	return before.UnixMicro() <= us && us <= after.UnixMicro()
}
