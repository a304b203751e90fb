// Package counters reads what the Go runtime counts, without stopping the program.
package counters

import (
	"math"
	"runtime/metrics"
	"time"
)

// Counters are the process's since its start.
type Counters struct {
	Objects, Bytes uint64        // allocated
	GC             time.Duration // CPU time of garbage collection, known at the end of each cycle
	MutexWait      time.Duration // that goroutines waited for sync.Mutex and RWMutex: it sees no other lock
	Heap           uint64        // bytes of objects, live or not collected yet
	Live           uint64        // bytes that the last collection found reachable
	Goal           uint64        // bytes of Heap at which the next one begins
	Collections    uint64        // done
}

// Read reads all but the latencies.
func Read() Counters {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/sync/mutex/wait/total:seconds"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	return Counters{
		Objects: samples[0].Value.Uint64() + samples[1].Value.Uint64(), Bytes: samples[2].Value.Uint64(),
		GC: seconds(samples[3].Value.Float64()), MutexWait: seconds(samples[4].Value.Float64()),
		Heap: samples[5].Value.Uint64(), Live: samples[6].Value.Uint64(), Goal: samples[7].Value.Uint64(),
		Collections: samples[8].Value.Uint64(),
	}
}

// UntilCollection is how many bytes may be allocated before the next collection.
func (c Counters) UntilCollection() uint64 { return c.Goal - min(c.Goal, c.Heap) }

// Latencies are how long goroutines that could run waited for a processor.
type Latencies = metrics.Float64Histogram

// ReadLatencies reads the histogram of all since the start.
func ReadLatencies() *Latencies {
	samples := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64Histogram()
}

// P99 is the upper end of the bucket that holds the 99th percentile of what was added
// between two readings; of the last bucket, which has none, the lower end.
func P99(before, after *Latencies) time.Duration {
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

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
