package bench

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"
)

// informerMemoryQuestions are what an informer keeps, and what it takes to start one.
// The objects are the server's, so that they count for no variant. (benchrun memory
// says what objects take.)
func informerMemoryQuestions(seed uint64) []informerQuestion {
	const n = 10_000
	all := []informerQuestion{{
		name: "op=start/n=" + human(n), unit: cpuTime, null: newNullInformer(n),
		summary: "an informer starts: from nothing until its list is with the handler",
		run:     func(b *testing.B, v informerVariant) { startUp(b, v, 1, n, 1, seed) },
	}}
	for _, handlers := range []int{1, 10} {
		all = append(all, informerQuestion{
			name: fmt.Sprintf("op=idle/informers=100/handlers=%d", handlers), unit: cpuTime, null: newNullInformer(1),
			summary: "a hundred informers start that have little to do (kubernetes/kubernetes#142231): what stays is counted for each handler",
			run:     func(b *testing.B, v informerVariant) { startUp(b, v, 100, 1, handlers, seed) },
		})
	}
	return all
}

// startUp starts informers of n objects each. An item is an object, or a handler where
// there are more of these.
func startUp(b *testing.B, v informerVariant, informers, n, handlers int, seed uint64) {
	items := informers * max(n, handlers)
	servers := make([]*server, informers)
	for i := range servers {
		servers[i] = newServer(n, seed)
	}
	ignore := slices.Repeat([]func(any){func(any) {}}, handlers)
	start := func() (stop func()) {
		stops := make([]func(), informers)
		for i, s := range servers {
			_, stops[i] = launch(b, s, v, ignore)
		}
		return func() {
			for _, stop := range stops {
				stop()
			}
		}
	}
	start()() // what is made once a process

	heap, stacks := liveHeap(), stackBytes()
	stop := start()
	live := liveSince(heap) + max(stackBytes()-stacks, 0)
	for _, s := range servers {
		runtime.KeepAlive(s)
	}
	stop()

	heap = liveHeap()
	peak := highestHeap(func() { stop = start() }) - heap
	stop()
	measured(b, items, true, func() { start()() })
	b.ReportMetric(float64(live)/float64(items), "live-B/item")
	b.ReportMetric(float64(max(peak, live))/float64(items), "start-peak-B/item")
}

// stackBytes is what goroutines' stacks take.
func stackBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

// highestHeap is the most that the heap's objects took while something was done, those
// that no longer live included.
func highestHeap(do func()) (highest int64) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for going := true; going; {
			select {
			case <-tick.C:
			case <-done:
				going = false
			}
			metrics.Read(sample)
			highest = max(highest, int64(sample[0].Value.Uint64()))
		}
	})
	do()
	close(done)
	watching.Wait()
	return highest
}
