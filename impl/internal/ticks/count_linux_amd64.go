//go:build gc

package ticks

import (
	"bytes"
	"math"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// count is the time stamp counter. A reading may trade places with what precedes or
// follows it in the program, by some tens of nanoseconds.
func count() uint64

// reliable tells whether the kernel itself tells the time by the counter, in whatever
// way: it does so only if the counter has the same rate at all times, in sleep states
// too, and the same value on all processors. The kernel goes on to watch that, and so
// does a Clock.
var reliable = sync.OnceValue(func() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && string(bytes.TrimSpace(source)) == "tsc" || invariant() && toldOutsideTheKernel()
})

// invariant tells whether the counter has the same rate at all times.
func invariant() bool {
	info, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return false
	}
	defer info.Close()
	first := make([]byte, 4096) // of the processors, which may be hundreds
	n, _ := info.Read(first)
	return bytes.Contains(first[:n], []byte(" constant_tsc ")) && bytes.Contains(first[:n], []byte(" nonstop_tsc "))
}

// toldOutsideTheKernel tells whether the system's clock is read without entering the
// kernel. In virtual machines that have another clock than "tsc", as kvm-clock and
// Hyper-V's, a program adds to a time from the host what the counter counted since,
// which the kernel lets it do only if the host vouches for the counter.
func toldOutsideTheKernel() bool {
	outside := least(func() { since() })
	inside := least(func() {
		var now syscall.Timespec
		syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&now)), 0)
	})
	return 2*outside < inside
}

const monotonic = 1 // CLOCK_MONOTONIC

// least is how many ticks the fastest of some calls takes.
func least(call func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 64 {
		before := count()
		call()
		least = min(least, count()-before)
	}
	return least
}

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
