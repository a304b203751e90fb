package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/counters"
	"github.com/informerbench/informerbench/loadgen/cputime"
)

// A stopwatch sums what the measured parts of a benchmark cost. It reports
// figures per item in place of testing's figures per iteration, so that set-up
// between the parts is left out without touching testing's timer.
type stopwatch struct {
	items          int
	wall, cpu, gc  time.Duration
	objects, bytes uint64
	wait           float64             // for locks, seconds an item
	latencies      *counters.Latencies // before the first part
	begun          time.Time
	begunCPU       time.Duration
	begunCounters  counters.Counters
}

func (s *stopwatch) start() {
	if s.latencies == nil {
		s.latencies = counters.ReadLatencies()
	}
	s.begunCounters = counters.Read()
	s.begunCPU = cputime.Process()
	s.begun = time.Now()
}

func (s *stopwatch) stop(items int) {
	s.wall += time.Since(s.begun)
	s.cpu += cputime.Process() - s.begunCPU
	now := counters.Read()
	s.objects += now.Objects - s.begunCounters.Objects
	s.bytes += now.Bytes - s.begunCounters.Bytes
	s.gc += now.GC - s.begunCounters.GC
	s.items += items
}

// watch measures the waiting for locks while part works through items.
func (s *stopwatch) watch(part func() (items int)) {
	w := watchWaiting()
	items := part()
	s.wait = w.stop().Seconds() / float64(max(items, 1))
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
	b.ReportMetric(float64(s.gc.Nanoseconds())/n, "gc-cpu-ns/op")
	if concurrent {
		b.ReportMetric(s.wait*1e9, "mutex-wait-ns/op")
		b.ReportMetric(float64(s.waited99().Nanoseconds()), "sched-p99-ns")
	}
}

// waited99 is the 99th percentile of the scheduling latencies since the first start.
func (s *stopwatch) waited99() time.Duration {
	return counters.P99(s.latencies, counters.ReadLatencies())
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
	if concurrent {
		s.watch(func() int {
			some := (iterations + 7) / 8
			for range some {
				body()
			}
			return some * items
		})
	}
	s.report(b, concurrent)
}

// touched keeps what touchHeap allocates off the stack.
var touched []byte

// touchHeap has the system give the memory that is allocated until the next
// collection, as it has given it to a program that runs for long: first touches
// cost the same whatever the variant, and more than a quick one.
func touchHeap() {
	const most, piece, page = 256 << 20, 64 << 10, 4 << 10
	for left := min(counters.Read().UntilCollection(), most); left > piece; left -= piece {
		touched = make([]byte, piece)
		for i := 0; i < piece; i += page {
			touched[i] = 1
		}
	}
	touched = nil
}

// warmUp tells goroutines that read, each time one asks, whether to go on with that
// before anything is measured: until a collection has passed, or long enough for what
// allocates little. The system has given the memory before, as to get a new slice
// takes longer than to fill it until then.
func warmUp() (going func() bool) {
	runtime.GC()
	touchHeap()
	const enough = 100 * time.Millisecond
	end, last := time.Now().Add(enough), counters.Read().Collections+1
	return func() bool { return counters.Read().Collections < last && time.Now().Before(end) }
}

// maxExtension is how many times its own length a sample goes on for a
// collection.
const maxExtension = 8

// untilCollected tells, each time it is asked, whether to go on so that the part
// being measured ends with a garbage collection. It never does where so little
// is allocated that none is near.
func (s *stopwatch) untilCollected() (going func() bool) {
	now := counters.Read()
	if (now.Bytes-s.begunCounters.Bytes)*maxExtension < now.UntilCollection() {
		return func() bool { return false }
	}
	end := time.Now().Add(maxExtension * time.Since(s.begun))
	return func() bool { return counters.Read().Collections == now.Collections && time.Now().Before(end) }
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
