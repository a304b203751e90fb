package drive

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/informerbench/informerbench/loadgen/cputime"
)

// counters are the process's, read without stopping it.
type counters struct {
	cpu       time.Duration
	gc, mutex float64 // seconds
	bytes     uint64
	objects   uint64
	heap      uint64
	sched     *metrics.Float64Histogram
}

func readCounters() counters {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/sync/mutex/wait/total:seconds"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/latencies:seconds"},
	}
	metrics.Read(samples)
	return counters{
		cpu: cputime.Process(),
		gc:  samples[0].Value.Float64(), mutex: samples[1].Value.Float64(),
		bytes:   samples[2].Value.Uint64(),
		objects: samples[3].Value.Uint64() + samples[4].Value.Uint64(),
		heap:    samples[5].Value.Uint64(),
		sched:   samples[6].Value.Float64Histogram(),
	}
}

// since is what was used between two readings.
func (c counters) since(before counters) Usage {
	return Usage{
		CPU:       c.cpu - before.cpu,
		GCCPU:     seconds(c.gc - before.gc),
		Allocated: int64(c.bytes - before.bytes),
		Allocs:    int64(c.objects - before.objects),
		MutexWait: seconds(c.mutex - before.mutex),
		Sched99:   p99(before.sched, c.sched),
	}
}

// p99 is the upper end of the bucket that holds the 99th percentile of what was
// added between two readings of a histogram of seconds.
func p99(before, after *metrics.Float64Histogram) time.Duration {
	var total, seen uint64
	for i := range after.Counts {
		total += after.Counts[i] - before.Counts[i]
	}
	for i := range after.Counts {
		n := after.Counts[i] - before.Counts[i]
		if seen += n; n > 0 && seen >= total-total/100 {
			if end := after.Buckets[i+1]; !math.IsInf(end, 1) {
				return seconds(end)
			}
			return seconds(after.Buckets[i])
		}
	}
	return 0
}
