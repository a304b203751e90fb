package bench

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

func priorityCases() []Case {
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
	return c.cases(
		concurrent(1, 1, false), concurrent(4, 16, false),
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
	)
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
