package probe

import (
	"runtime/metrics"
	"time"
)

// measure fills in what the process has used so far.
func (s *State) measure() {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(samples)
	s.GCCPU = time.Duration(samples[0].Value.Float64() * float64(time.Second))
	s.Allocs, s.Bytes, s.Collects = samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()
	s.Goroutines, s.Heap = int(samples[4].Value.Uint64()), heap()
	s.CPU, s.PeakRSS = processUsage()
}

// heap is the bytes of all objects, of which the collector may not have freed some.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
