package bench

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/counters"
	"github.com/informerbench/informerbench/loadgen/durations"
	"golang.org/x/perf/benchmath"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A contention is one writer beside goroutines that read
// (kubernetes/kubernetes#130767).
type contention struct {
	n, indices int
	readers    int
	read       func(s cache.Indexer, n, turn int) bool // false: the result is wrong
	pause      time.Duration                           // between two reads of a goroutine
	made       func() []*corev1.Pod                    // the objects, not to be shared; nil: pods
	change     func(*contest)                          // what the writer does; nil: update
	live       bool                                    // what is live is of interest
}

// contentionQuestions are the cases of one size.
func contentionQuestions(n int) []indexerQuestion {
	var questions []indexerQuestion
	ask := func(name, summary, unit string, quick bool, run func(b *testing.B, v indexerVariant)) {
		questions = append(questions, indexerQuestion{name: name + "/n=" + human(n), summary: summary, unit: unit, quick: quick, run: run})
	}
	for _, readers := range []int{0, 1, 10, 40} {
		c := contention{n: n, readers: readers, read: readList}
		quick := n == 10_000 && readers == 10
		ask(fmt.Sprintf("op=write/listers=%d", readers),
			"one writer beside goroutines that list without pause (kubernetes/kubernetes#130767)", wallTime, quick, c.write)
		if quick {
			questions[len(questions)-1].head = "the writes beside ten listers"
		}
	}
	for _, readers := range []int{10, 40} {
		c := contention{n: n, readers: readers, read: readList, pause: 5 * time.Millisecond}
		ask(fmt.Sprintf("op=write/listers=%d/pause=5ms", readers), "one writer beside goroutines that pause after each list", wallTime, false, c.write)
		c = contention{n: n, indices: 4, readers: readers, read: readByIndex}
		ask(fmt.Sprintf("op=write/by-index-readers=%d/indices=4", readers),
			"one writer beside goroutines that list a namespace of a thousand through its index, without pause", wallTime, false, c.write)
	}
	c := contention{n: n, readers: 10, read: readList, pause: 50 * time.Millisecond}
	ask("op=paced-write/listers=10/rate=1k/pause=50ms", "1,000 writes a second are due beside 10 goroutines that list 20 times a second: lateness, and what is live meanwhile",
		"late-p99-sec", false, c.pacedWrite)
	c.pause = 0
	ask("op=paced-write/listers=10/rate=1k", "1,000 writes a second are due beside 10 goroutines that list: from when a write was due until it is done, 99th percentile",
		"late-p99-sec", false, c.pacedWrite)
	ask("op=mixed/goroutines=8/get=95", "8 goroutines look objects up, and every twentieth time store a new version", wallTime, false,
		func(b *testing.B, v indexerVariant) { mixed(b, v, n) })
	return questions
}

func readList(s cache.Indexer, n, _ int) bool { return len(s.List()) == n }

func readByIndex(s cache.Indexer, n, turn int) bool {
	found, err := s.ByIndex(cache.NamespaceIndex, namespaceOf(turn*objectsPerNamespace%n))
	return err == nil && len(found) == objectsPerNamespace
}

// A contest is a contention under way.
type contest struct {
	contention
	store      cache.Indexer
	base       int64 // live bytes before there was an indexer
	list, next []*corev1.Pod
	at         int
	reads      atomic.Int64
	wrong      atomic.Int64
	stop       chan struct{}
	running    sync.WaitGroup
}

// begin fills an indexer and returns when every reader is warm.
func (c contention) begin(v indexerVariant) *contest {
	x := &contest{contention: c, stop: make(chan struct{})}
	if c.made == nil {
		c.made = func() []*corev1.Pod { return pods(c.n) }
	}
	x.list = c.made()
	if c.change == nil {
		x.change = (*contest).update
	}
	x.next = newer(x.list)
	if c.live {
		x.base = liveHeap()
	}
	x.store = storing(v, c.indices, x.list)
	var started sync.WaitGroup
	started.Add(c.readers)
	warming := warmUp()
	for r := range c.readers {
		x.running.Go(func() {
			x.readOnce(r)
			for warming() {
				x.readOnce(r)
			}
			started.Done()
			for turn := r + 1; !x.stopped(); turn++ {
				x.readOnce(turn)
				if c.pause > 0 {
					time.Sleep(c.pause)
				}
			}
		})
	}
	started.Wait()
	return x
}

func (x *contest) readOnce(turn int) {
	if !x.read(x.store, x.n, turn) {
		x.wrong.Add(1)
	}
	x.reads.Add(1)
}

func (x *contest) stopped() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}

func (x *contest) update() {
	_ = x.store.Update(x.next[x.at]) // the key function knows pods
	if x.at++; x.at == x.n {
		x.at = 0
		x.list, x.next = x.next, x.list
	}
}

// updateFor updates for so long and returns how often. The longer updates are quick the
// more of them it does between looks at the clock: looking costs as much as one.
func (x *contest) updateFor(window time.Duration) int {
	written, some := 0, 1
	begun, elapsed := time.Now(), time.Duration(0)
	for elapsed < window {
		for range some {
			x.change(x)
		}
		written += some
		before := elapsed
		elapsed = time.Since(begun)
		if some = min(2*some, 64); elapsed-before >= time.Millisecond {
			some = 1
		}
	}
	return written
}

func (x *contest) end(b *testing.B) {
	close(x.stop)
	x.running.Wait()
	if wrong := x.wrong.Load(); wrong > 0 {
		b.Fatalf("%d reads of %d did not hold what they should", wrong, x.reads.Load())
	}
}

// shortened is a measurement's window, in proportion less where benchtime is less than
// the full profile's: a sample of the quick profile must not take a second.
func shortened(window time.Duration) time.Duration {
	const full, least = 100 * time.Millisecond, 60 * time.Millisecond
	benchtime, err := time.ParseDuration(flag.Lookup("test.benchtime").Value.String())
	if err != nil { // "1x": a test
		benchtime = 0
	}
	return min(window, max(window*min(benchtime, full)/full, least))
}

// writeWindow holds enough of the scheduler's time slices, 10 ms each, that the
// writer and ten listers on two cores all had theirs.
const writeWindow = 200 * time.Millisecond

// write measures how long one Update takes beside the readers, and how many
// reads there were.
func (c contention) write(b *testing.B, v indexerVariant) {
	x := c.begin(v)
	before := x.reads.Load()
	window := shortened(writeWindow)
	var w stopwatch
	for b.Loop() {
		w.start()
		w.stop(x.updateFor(window))
	}
	reads := x.reads.Load() - before
	w.watch(func() int { return x.updateFor(window / 4) })
	x.end(b)
	w.report(b, true)
	if c.readers > 0 {
		b.ReportMetric(float64(reads)/w.wall.Seconds(), "reads/s")
	}
}

// pacedWrite writes at 1,000 a second, whether or not the writes before were
// late, and measures each from when it was due. If the readers pause, so that
// all variants allocate the same, it also reports what is live an object,
// results under way included.
func (c contention) pacedWrite(b *testing.B, v indexerVariant) {
	const every, writes = time.Millisecond, 200
	c.live = true
	x := c.begin(v)
	var w stopwatch
	var late durations.Histogram
	var live []float64
	some := func(writes int) int {
		begun := time.Now()
		for i := range writes {
			due := begun.Add(time.Duration(i) * every)
			for time.Until(due) > 0 {
				runtime.Gosched() // a timer's goroutine would queue behind the readers once more
			}
			x.update()
			late.Record(time.Since(due))
		}
		return writes
	}
	for b.Loop() {
		w.start()
		w.stop(some(writes))
		live = append(live, float64(max(int64(counters.Read().Live)-x.base, 0))/float64(c.n))
	}
	p50, p99 := late.Quantile(0.5), late.Quantile(0.99)
	w.watch(func() int { return some(writes / 4) })
	x.end(b)
	w.report(b, true)
	b.ReportMetric(float64(p50), "late-p50-ns")
	b.ReportMetric(float64(p99), "late-p99-ns")
	if c.pause > 0 {
		b.ReportMetric(benchmath.AssumeNothing.Summary(benchmath.NewSample(live, &benchmath.DefaultThresholds), 0.95).Center, "live-B/item")
	}
}

// mixed has goroutines that look objects up and, every twentieth time, store an
// object's other version.
func mixed(b *testing.B, v indexerVariant, n int) {
	const goroutines, each = 8, 2000
	list := pods(n)
	versions := [2][]*corev1.Pod{newer(list), list}
	s := storing(v, 0, list)
	keys := stringKeys(n)
	order := shuffled(n, 1)
	var missing atomic.Int64
	turn := 0
	measured(b, goroutines*each, true, func() {
		var running sync.WaitGroup
		next := versions[turn/n%2] // once they are all stored, the others
		for g := range goroutines {
			running.Go(func() {
				at := (g*each + turn) % n
				for i := range each {
					if at++; at == n {
						at = 0
					}
					if i%20 == 0 {
						_ = s.Update(next[order[at]]) // the key function knows pods
					} else if _, exists, _ := s.GetByKey(keys[order[at]]); !exists {
						missing.Add(1)
					}
				}
			})
		}
		running.Wait()
		turn += goroutines * each
	})
	if missing.Load() > 0 {
		b.Fatalf("%d stored objects were not found", missing.Load())
	}
}
