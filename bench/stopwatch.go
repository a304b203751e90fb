package bench

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/cputime"
)

// A stopwatch sums what the measured parts of a benchmark cost. It reports
// figures per item in place of testing's figures per iteration, so that set-up
// between the parts is left out without touching testing's timer.
type stopwatch struct {
	items         int
	wall, cpu     time.Duration
	objects       uint64
	bytes         uint64
	gcCPU         float64  // seconds
	mutexWait     float64  // seconds
	latencies     []uint64 // scheduling latencies before the first part, by bucket
	begun         time.Time
	begunCPU      time.Duration
	begunCounters counters
}

func (s *stopwatch) start() {
	if s.latencies == nil {
		s.latencies = schedulingLatencies().Counts
	}
	s.begunCounters = readCounters()
	s.begunCPU = cputime.Process()
	s.begun = time.Now()
}

func (s *stopwatch) stop(items int) {
	s.wall += time.Since(s.begun)
	s.cpu += cputime.Process() - s.begunCPU
	now := readCounters()
	s.objects += now.objects - s.begunCounters.objects
	s.bytes += now.bytes - s.begunCounters.bytes
	s.gcCPU += now.gcCPU - s.begunCounters.gcCPU
	s.mutexWait += now.mutexWait - s.begunCounters.mutexWait
	s.items += items
}

// report gives b the figures. concurrent adds how long goroutines waited for
// locks, and for a processor once they could run.
func (s *stopwatch) report(b *testing.B, concurrent bool) {
	n := float64(s.items)
	b.ReportAllocs()
	b.ReportMetric(float64(s.wall.Nanoseconds())/n, "ns/op")
	b.ReportMetric(float64(s.cpu.Nanoseconds())/n, "cpu-ns/op")
	b.ReportMetric(float64(s.bytes)/n, "B/op")
	b.ReportMetric(float64(s.objects)/n, "allocs/op")
	b.ReportMetric(s.gcCPU*1e9/n, "gc-cpu-ns/op")
	if concurrent {
		b.ReportMetric(s.mutexWait*1e9/n, "mutex-wait-ns/op")
		b.ReportMetric(s.schedulingP99()*1e9, "sched-p99-ns")
	}
}

// schedulingP99 is the upper end, in seconds, of the bucket that holds the 99th
// percentile of the scheduling latencies since the first start.
func (s *stopwatch) schedulingP99() float64 {
	now := schedulingLatencies()
	var total, seen uint64
	for i := range now.Counts {
		now.Counts[i] -= s.latencies[i]
		total += now.Counts[i]
	}
	for i, n := range now.Counts {
		if seen += n; n > 0 && seen >= total-total/100 {
			return min(now.Buckets[i+1], math.MaxFloat32)
		}
	}
	return 0
}

func schedulingLatencies() *metrics.Float64Histogram {
	samples := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64Histogram()
}

// measured runs body, which works through items items, until the benchmark has
// enough, and reports figures per item. It begins after a garbage collection and
// goes on to the end of one that is near: where the live heap is large a sample
// would else hold no collection or one, and the slower a variant, the more often
// none.
func measured(b *testing.B, items int, concurrent bool, body func()) {
	var s stopwatch
	iterations := 0
	touchHeap()
	runtime.GC()
	s.start()
	for b.Loop() {
		body()
		iterations++
	}
	step := max(iterations/64, 1)
	for going := s.untilCollected(); going(); iterations += step {
		for range step {
			body()
		}
	}
	s.stop(iterations * items)
	s.report(b, concurrent)
}

// touched keeps what touchHeap allocates off the stack.
var touched []byte

// touchHeap has the system give the memory that is allocated until the next
// collection, as it has given it to a program that runs for long: first touches
// cost the same whatever the variant, and more than a quick one.
func touchHeap() {
	const most, piece, page = 256 << 20, 64 << 10, 4 << 10
	for left := min(readCollections().left, most); left > piece; left -= piece {
		touched = make([]byte, piece)
		for i := 0; i < piece; i += page {
			touched[i] = 1
		}
	}
	touched = nil
}

// warmUp tells a goroutine that allocates, each time it is asked, whether to go on
// with that before anything is measured: until the system has given the heap all of
// its memory, to get a new slice takes longer than to fill it. It always says yes once.
func warmUp() (going func() bool) {
	const collections, calls = 3, 10_000
	end, last := time.Now().Add(time.Second), readCollections().done+collections
	made := 0
	return func() bool {
		made++
		return made == 1 || made < calls && readCollections().done < last && time.Now().Before(end)
	}
}

// maxExtension is how many times its own length a sample goes on for a
// collection.
const maxExtension = 8

// untilCollected tells, each time it is asked, whether to go on so that the part
// being measured ends with a garbage collection. It never does where so little
// is allocated that none is near.
func (s *stopwatch) untilCollected() (going func() bool) {
	now := readCollections()
	if (readCounters().bytes-s.begunCounters.bytes)*maxExtension < now.left {
		return func() bool { return false }
	}
	end := time.Now().Add(maxExtension * time.Since(s.begun))
	return func() bool { return readCollections().done == now.done && time.Now().Before(end) }
}

// collections is how many garbage collections are done, and how many bytes may
// be allocated before the next begins.
type collections struct{ done, left uint64 }

func readCollections() collections {
	samples := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/goal:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(samples)
	goal, used := samples[1].Value.Uint64(), samples[2].Value.Uint64()
	return collections{done: samples[0].Value.Uint64(), left: goal - min(goal, used)}
}

type counters struct {
	objects, bytes   uint64
	mutexWait, gcCPU float64
}

// readCounters stops nothing, unlike runtime.ReadMemStats. The CPU time of
// garbage collection is known at the end of each cycle.
func readCounters() counters {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/sync/mutex/wait/total:seconds"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}
	metrics.Read(samples)
	return counters{
		objects:   samples[0].Value.Uint64() + samples[1].Value.Uint64(),
		bytes:     samples[2].Value.Uint64(),
		mutexWait: samples[3].Value.Float64(),
		gcCPU:     samples[4].Value.Float64(),
	}
}

// liveSince is by how many bytes the heap has grown.
func liveSince(before int64) int64 { return max(liveHeap()-before, 0) }

// liveHeap is the number of bytes that are reachable now.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // the first leaves what finalizers and cleanups held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
