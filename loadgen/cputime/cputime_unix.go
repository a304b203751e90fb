//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process is the CPU time that this process has used, in user and kernel
// mode.
func Process() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
