package main

import (
	"runtime"
	"testing"
	"time"
)

// measured runs body, which works through items items, until the benchmark has
// enough, and reports wall time, CPU time and allocations per item.
func measured(b *testing.B, items int, body func()) {
	measuredThen(b, items, body, func() {})
}

// measuredThen is measured with what follows each body and is not in the wall time.
func measuredThen(b *testing.B, items int, body, then func()) {
	var before, after runtime.MemStats
	iterations, apart := 0, time.Duration(0)
	runtime.ReadMemStats(&before)
	cpu, begin := processCPU(), time.Now()
	for b.Loop() {
		body()
		end := time.Now()
		then()
		apart += time.Since(end)
		iterations++
	}
	wall := time.Since(begin) - apart
	cpu = processCPU() - cpu
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	n := float64(iterations * items)
	b.ReportMetric(float64(wall.Nanoseconds())/n, "ns/op")
	b.ReportMetric(float64(cpu.Nanoseconds())/n, "cpu-ns/op")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/op")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/op")
}
