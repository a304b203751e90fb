package bench

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// A stopwatch sums what the measured parts of a benchmark cost. It reports
// figures per item in place of testing's figures per iteration, so that set-up
// between the parts is left out without touching testing's timer.
type stopwatch struct {
	items         int
	wall, cpu     time.Duration
	objects       uint64
	bytes         uint64
	mutexWait     float64 // seconds
	begun         time.Time
	begunCPU      time.Duration
	begunCounters counters
}

func (s *stopwatch) start() {
	s.begunCounters = readCounters()
	s.begunCPU = processCPU()
	s.begun = time.Now()
}

func (s *stopwatch) stop(items int) {
	s.wall += time.Since(s.begun)
	s.cpu += processCPU() - s.begunCPU
	now := readCounters()
	s.objects += now.objects - s.begunCounters.objects
	s.bytes += now.bytes - s.begunCounters.bytes
	s.mutexWait += now.mutexWait - s.begunCounters.mutexWait
	s.items += items
}

// report gives b the figures. concurrent adds the time that goroutines waited
// for locks.
func (s *stopwatch) report(b *testing.B, concurrent bool) {
	n := float64(s.items)
	b.ReportAllocs()
	b.ReportMetric(float64(s.wall.Nanoseconds())/n, "ns/op")
	b.ReportMetric(float64(s.cpu.Nanoseconds())/n, "cpu-ns/op")
	b.ReportMetric(float64(s.bytes)/n, "B/op")
	b.ReportMetric(float64(s.objects)/n, "allocs/op")
	if concurrent {
		b.ReportMetric(s.mutexWait*1e9/n, "mutex-wait-ns/op")
	}
}

// measured runs body, which works through items items, until the benchmark has
// enough, and reports figures per item.
func measured(b *testing.B, items int, concurrent bool, body func()) {
	var s stopwatch
	iterations := 0
	s.start()
	for b.Loop() {
		body()
		iterations++
	}
	s.stop(iterations * items)
	s.report(b, concurrent)
}

type counters struct {
	objects, bytes uint64
	mutexWait      float64
}

// readCounters stops nothing, unlike runtime.ReadMemStats.
func readCounters() counters {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/sync/mutex/wait/total:seconds"},
	}
	metrics.Read(samples)
	return counters{
		objects:   samples[0].Value.Uint64() + samples[1].Value.Uint64(),
		bytes:     samples[2].Value.Uint64(),
		mutexWait: samples[3].Value.Float64(),
	}
}

// liveHeap is the number of bytes that are reachable now.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // the first leaves what finalizers and cleanups held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
