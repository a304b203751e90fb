package probe

import (
	"runtime/metrics"
	"time"
)

// measure fills in what the process has used so far.
func (s *State) measure() {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(samples)
	s.GCCPU = time.Duration(samples[0].Value.Float64() * float64(time.Second))
	s.Heap, s.Allocs, s.Bytes = samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()
	s.Collects, s.Goroutines = samples[4].Value.Uint64(), int(samples[5].Value.Uint64())
	s.CPU, s.PeakRSS = processUsage()
}
