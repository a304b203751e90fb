package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

func priorityCases(seed uint64) []Case {
	type variant = impl.Variant[impl.NewPriorityQueue[string]]
	type asked = question[impl.NewPriorityQueue[string]]
	c := component[impl.NewPriorityQueue[string]]{"priority-queue", "controller-runtime", impl.PriorityQueues[string]()}
	silent := func(o *priorityqueue.Opts[string]) { o.MetricProvider = countingMetrics{} }
	concurrent := func(producers, workers int, quick bool) asked {
		return asked{
			name:    fmt.Sprintf("op=concurrent/producers=%d/workers=%d/window=4096", producers, workers),
			summary: "producers and workers at three priorities", unit: cpuTime, quick: quick,
			null: func(string, ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
				return newNullFlow(stringKeys(flowKeys))
			},
			run: func(b *testing.B, v variant) {
				keys := stringKeys(flowKeys)
				measured(b, flowItems, true, func() {
					q := v.New("", silent)
					f := flow[string]{producers: producers, workers: workers, window: 4096, keys: keys}.over(q, v.Relaxes)
					f.add = func(i int) { addPrioritized(q, keys, i) }
					if err := f.run(); err != nil {
						b.Fatal(err)
					}
				})
			},
		}
	}
	waits := waitQuestions(seed, func(v variant) workqueue.TypedInterface[string] { return v.New("", silent) })
	return c.cases(append(waits,
		concurrent(1, 1, false), concurrent(4, 16, false),
		asked{
			name: "op=reconcile/workers=4", summary: reconcileSummary + "; every third event has a priority", unit: cpuTime,
			run: func(b *testing.B, v variant) {
				if v.Name == NullSink {
					noQueue.run(b, seed)
					return
				}
				q := v.New("", silent)
				r := reconcilesOf(q)
				added, opts := 0, priorityqueue.AddOpts{Priority: priorities[1]}
				r.add = func(key string) {
					if added++; added%3 == 0 {
						q.AddWithOpts(opts, key)
					} else {
						q.Add(key)
					}
				}
				r.run(b, seed)
			},
		},
		asked{
			name: "op=add/n=1k", unit: cpuTime, null: nullBacklog(1000),
			summary: "a thousand keys are added that are queued already (controller-runtime's BenchmarkAddOnly)",
			run: func(b *testing.B, v variant) {
				q := v.New("", silent)
				defer q.ShutDown()
				addAgain(b, q, stringKeys(1000))
				if q.Len() != 1000 && v.Name != NullSink {
					b.Fatalf("%d items queued, expected 1000", q.Len())
				}
			},
		},
		asked{
			name: "op=add-contended/n=1M/workers=1k", unit: wallTime, null: nullBacklog(1000),
			summary: "a thousand keys of a million are added again beside 1,000 workers that sleep for 1 ms an item (controller-runtime's BenchmarkAddLockContended)",
			run:     func(b *testing.B, v variant) { addContended(b, v.New("", silent), stringKeys(1_000_000), 1000) },
		},
		asked{
			name: "op=backlog/n=10k", summary: "all items are added at three priorities, then all are got and done, highest first",
			unit: cpuTime, quick: true, null: nullBacklog(10_000),
			run: func(b *testing.B, v variant) {
				priorityBacklog(b, stringKeys(10_000), func() priorityqueue.PriorityQueue[string] { return v.New("", silent) })
			},
		},
		asked{
			name: "op=backlog/n=100k", summary: "the same ten times as deep", unit: cpuTime, null: nullBacklog(100_000),
			run: func(b *testing.B, v variant) {
				priorityBacklog(b, stringKeys(100_000), func() priorityqueue.PriorityQueue[string] { return v.New("", silent) })
			},
		},
	)...)
}

// addAgain adds keys, over and over.
func addAgain(b *testing.B, q priorityqueue.PriorityQueue[string], keys []string) {
	measured(b, len(keys), true, func() {
		for _, key := range keys {
			q.Add(key)
		}
	})
}

// addContended adds the first thousand of the keys while workers take others.
func addContended(b *testing.B, q priorityqueue.PriorityQueue[string], keys []string, workers int) {
	for _, key := range keys {
		q.Add(key)
	}
	var lost atomic.Int64
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				key, shutdown := q.Get()
				if shutdown {
					return
				}
				if key == "" {
					lost.Add(1)
				}
				time.Sleep(time.Millisecond)
				q.Done(key)
			}
		})
	}
	addAgain(b, q, keys[:1000])
	q.ShutDown()
	working.Wait()
	if lost.Load() > 0 {
		b.Fatalf("%d of the items got were none that was added", lost.Load())
	}
}

// priorities are pointed to, not copied, so that the queues' own allocations
// are the only ones.
var priorities = [3]*int{ptr.To(0), ptr.To(1), ptr.To(2)}

// addPrioritized adds keys[i] as a part of keys: a slice made for the call would
// be allocated for each.
func addPrioritized(q priorityqueue.PriorityQueue[string], keys []string, i int) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: priorities[i%3]}, keys[i:i+1]...)
}

func nullBacklog(n int) impl.NewPriorityQueue[string] {
	return func(string, ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
		return &nullQueue[string]{turn: turn[string]{keys: stringKeys(n)}, adds: 1}
	}
}

func priorityBacklog(b *testing.B, keys []string, newQueue func() priorityqueue.PriorityQueue[string]) {
	fill := func(q priorityqueue.PriorityQueue[string]) {
		for i := range keys {
			addPrioritized(q, keys, i)
		}
		if q.Len() != len(keys) {
			b.Fatalf("%d items queued, expected %d", q.Len(), len(keys))
		}
	}
	before := liveHeap()
	q := newQueue()
	fill(q)
	live := liveSince(before)
	q.ShutDown()
	measured(b, len(keys), false, func() {
		q := newQueue()
		fill(q)
		last, raised := 2, 0
		for range keys {
			item, priority, _ := q.GetWithPriority()
			if priority > last {
				raised++
			}
			last = priority
			q.Done(item)
		}
		if raised > 0 || q.Len() != 0 {
			b.Fatalf("%d items got after one of a lower priority, %d left in the queue", raised, q.Len())
		}
		q.ShutDown()
	})
	b.ReportMetric(float64(live)/float64(len(keys)), "live-B/item")
}
