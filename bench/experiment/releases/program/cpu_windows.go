package main

import (
	"syscall"
	"time"
)

// processCPU is the CPU time that the process has used, in user and kernel mode.
// This program is built beside other versions of its dependencies, in a module of its
// own, so it can't use package cputime.
func processCPU() time.Duration {
	var creation, exit, kernel, user syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(process, &creation, &exit, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
