package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/queue"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

func queueCases(seed uint64) []Case {
	strings := component[impl.NewQueue[string]]{"queue", "client-go", impl.Queues[string]()}
	structs := component[impl.NewQueue[types.NamespacedName]]{"queue", "client-go", impl.Queues[types.NamespacedName]()}
	waits := waitQuestions(seed, func(v impl.Variant[impl.NewQueue[string]]) workqueue.TypedInterface[string] {
		return v.New(plain[string]())
	})
	return append(strings.cases(append(waits,
		cycle("op=cycle/keys=unique/n=100", "Add, Get, Done of one item after the other; all state in the cache", 100, stringKeys, "", plain),
		cycle("op=cycle/keys=unique/n=1k", "Add, Get, Done of one item after the other; the keys in a first-level cache or beside it", 1000, stringKeys, "", plain),
		cycle("op=cycle/keys=unique/n=10k", "Add, Get, Done of one item after the other", 10_000, stringKeys, "the cycles of the queue", plain),
		cycle("op=cycle/keys=unique/n=100k", "Add, Get, Done over more keys than a second-level cache holds", 100_000, stringKeys, "", plain),
		cycle("op=cycle/keys=unique/n=1M", "Add, Get, Done over more keys than any cache holds", 1_000_000, stringKeys, "", plain),
		cycle("op=cycle/keys=unique/n=10k/metrics=all", "the same with all metrics on: three moments and five counters an item", 10_000, stringKeys, "", withMetrics),
		question[impl.NewQueue[string]]{
			name: "op=cycle/keys=unique/n=10k/metrics=all/clock=coarse", unit: cpuTime, null: newNullQueue(stringKeys, 10_000, 1),
			summary: "the same, and every queue reads a CoarseClock of 1 ms: what is left when the clock costs nothing",
			run: func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) {
				coarse := queue.NewCoarseClock(clock.RealClock{}, time.Millisecond)
				defer coarse.Stop()
				config := withMetrics[string]()
				config.Clock = coarse
				cycleOver(b, v.New(config), stringKeys(10_000))
			},
		},
		question[impl.NewQueue[string]]{
			name: "op=cycle/keys=dup50/n=10k", unit: cpuTime, null: newNullQueue(stringKeys, 10_000, 2),
			summary: "every key is added twice before it is got: half of the adds find it queued",
			run:     func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) { duplicates(b, v.New(plain[string]())) },
		},
		question[impl.NewQueue[string]]{
			name: "op=cycle/keys=hot", unit: cpuTime, null: newNullQueue(stringKeys, 1, 5),
			summary: "one key that changes while it is processed: added ten times, got twice",
			run:     func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) { hotKey(b, v.New(plain[string]())) },
		},
		question[impl.NewQueue[string]]{
			name: "op=ping-pong", unit: cpuTime, null: newNullQueue(stringKeys, 1, 1),
			summary: "one item in flight between two goroutines: every Get waits, every Add wakes",
			run: func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) {
				pingPong(b, v.New(plain[string]()), v.New(plain[string]()))
			},
		},
		question[impl.NewQueue[string]]{
			name: "op=reconcile/workers=4", summary: reconcileSummary, unit: cpuTime,
			run: func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) {
				if v.Name == NullSink {
					noQueue.run(b, seed)
				} else {
					reconcilesOf(v.New(plain[string]())).run(b, seed)
				}
			},
		},
		concurrent(1, 1, 4096, false),
		concurrent(4, 16, 4096, true),
		concurrent(4, 64, 4096, false),
		concurrent(4, 256, 4096, false),
		concurrent(4, 1024, 4096, false),
		backlog("op=backlog/n=1k", 1000, false),
		backlog("op=backlog/n=10k", 10_000, false),
		backlog("op=backlog/n=100k", 100_000, false),
		backlog("op=backlog/n=1M", 1_000_000, false),
	)...), structs.cases(
		cycle("op=cycle/keys=unique/key=struct/n=10k", "Add, Get, Done of types.NamespacedName keys", 10_000, structKeys, "", plain),
	)...)
}

func plain[T comparable]() workqueue.TypedQueueConfig[T] { return workqueue.TypedQueueConfig[T]{} }

func withMetrics[T comparable]() workqueue.TypedQueueConfig[T] {
	return workqueue.TypedQueueConfig[T]{Name: "bench", MetricsProvider: countingMetrics{}}
}

func cycle[T comparable](name, summary string, n int, keysOf func(int) []T, head string, config func() workqueue.TypedQueueConfig[T]) question[impl.NewQueue[T]] {
	return question[impl.NewQueue[T]]{
		name: name, summary: summary, unit: cpuTime, quick: head != "", head: head, null: newNullQueue(keysOf, n, 1),
		run: func(b *testing.B, v impl.Variant[impl.NewQueue[T]]) {
			cycleOver(b, v.New(config()), keysOf(n))
		},
	}
}

func cycleOver[T comparable](b *testing.B, q workqueue.TypedInterface[T], keys []T) {
	defer q.ShutDown()
	wrong := 0
	next := 0
	const batch = 100 // keeps b.Loop's own cost out of the figures
	measured(b, batch, false, func() {
		for _, key := range keys[next : next+batch] {
			q.Add(key)
			got, _ := q.Get()
			if got != key {
				wrong++
			}
			q.Done(got)
		}
		if next += batch; next == len(keys) {
			next = 0
		}
	})
	if wrong > 0 || q.Len() != 0 {
		b.Fatalf("%d of the items got were not the one added, %d left in the queue", wrong, q.Len())
	}
}

func duplicates(b *testing.B, q workqueue.TypedInterface[string]) {
	defer q.ShutDown()
	const window = 100
	keys := stringKeys(10_000)
	next, got, want := 0, 0, 0
	measured(b, 2*window, false, func() {
		for range 2 {
			for _, key := range keys[next : next+window] {
				q.Add(key)
			}
		}
		for q.Len() > 0 {
			key, _ := q.Get()
			q.Done(key)
			got++
		}
		want += window
		if next += window; next == len(keys) {
			next = 0
		}
	})
	if got != want {
		b.Fatalf("%d items got, expected %d: one for two adds", got, want)
	}
}

func hotKey(b *testing.B, q workqueue.TypedInterface[string]) {
	defer q.ShutDown()
	const adds = 10
	key := stringKeys(1)[0]
	measured(b, adds, false, func() {
		for range adds / 2 {
			q.Add(key)
		}
		first, _ := q.Get()
		for range adds / 2 {
			q.Add(key)
		}
		q.Done(first)
		second, _ := q.Get()
		q.Done(second)
	})
	if q.Len() != 0 {
		b.Fatalf("%d items left in the queue", q.Len())
	}
}

func pingPong(b *testing.B, there, back workqueue.TypedInterface[string]) {
	key := stringKeys(1)[0]
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			item, shutdown := there.Get()
			if shutdown {
				return
			}
			there.Done(item)
			back.Add(item)
		}
	}()
	const rounds = 100
	lost := 0
	measured(b, 2*rounds, true, func() {
		for range rounds {
			there.Add(key)
			item, _ := back.Get()
			if item != key {
				lost++
			}
			back.Done(item)
		}
	})
	there.ShutDown()
	back.ShutDown()
	<-done
	if lost > 0 {
		b.Fatalf("%d items came back changed", lost)
	}
}

func concurrent(producers, workers, window int, quick bool) question[impl.NewQueue[string]] {
	return question[impl.NewQueue[string]]{
		name:    fmt.Sprintf("op=concurrent/producers=%d/workers=%d/window=%d", producers, workers, window),
		summary: fmt.Sprintf("%s and %s, at most %d items between them", wording.Count(producers, "producer"), wording.Count(workers, "worker"), window),
		unit:    cpuTime, quick: quick,
		null: func(workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			return newNullFlow(stringKeys(flowKeys))
		},
		run: func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) {
			keys := stringKeys(flowKeys)
			measured(b, flowItems, true, func() {
				f := flow[string]{producers: producers, workers: workers, window: window, keys: keys}
				if err := f.over(v.New(plain[string]()), v.Relaxes).run(); err != nil {
					b.Fatal(err)
				}
			})
		},
	}
}

func backlog(name string, n int, quick bool) question[impl.NewQueue[string]] {
	return question[impl.NewQueue[string]]{
		name: name, unit: cpuTime, quick: quick, null: newNullQueue(stringKeys, n, 1),
		summary: "all items are added, then all are got and done, as after a relist",
		run: func(b *testing.B, v impl.Variant[impl.NewQueue[string]]) {
			fillAndDrain(b, stringKeys(n), func() workqueue.TypedInterface[string] { return v.New(plain[string]()) })
		},
	}
}

// fillAndDrain adds all keys to a new queue and takes them out again, and
// reports what a stored item costs in live memory.
func fillAndDrain(b *testing.B, keys []string, newQueue func() workqueue.TypedInterface[string]) {
	before := liveHeap()
	q := newQueue()
	for _, key := range keys {
		q.Add(key)
	}
	if q.Len() != len(keys) {
		b.Fatalf("%d items queued, expected %d", q.Len(), len(keys))
	}
	live := liveSince(before)
	q.ShutDown()
	measured(b, len(keys), false, func() {
		q := newQueue()
		for _, key := range keys {
			q.Add(key)
		}
		for range keys {
			item, _ := q.Get()
			q.Done(item)
		}
		if q.Len() != 0 {
			b.Fatalf("%d items left in the queue", q.Len())
		}
		q.ShutDown()
	})
	b.ReportMetric(float64(live)/float64(len(keys)), "live-B/item")
}
