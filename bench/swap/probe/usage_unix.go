//go:build unix

package probe

import (
	"runtime"
	"syscall"
	"time"
)

// processUsage is the processor time of this process and the most memory that it
// had resident.
func processUsage() (time.Duration, int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	rss := int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		rss <<= 10 // elsewhere it is in KiB
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss
}
