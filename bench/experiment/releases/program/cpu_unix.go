//go:build unix

package main

import (
	"syscall"
	"time"
)

// processCPU is the CPU time that the process has used, in user and kernel mode.
// This program is built beside other versions of its dependencies, in a module of its
// own, so it can't use package cputime.
func processCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
