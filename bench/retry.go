package bench

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
)

// retryCases run the rate limiting queues with the default controller limiter:
// peers with upstream's, ours with the one that the catalogue's limiters of
// ours end with.
func retryCases(seed uint64) []Case {
	type variant = impl.Variant[impl.NewRateLimitingQueue[string]]
	type asked = question[impl.NewRateLimitingQueue[string]]
	c := component[impl.NewRateLimitingQueue[string]]{"rate-limiting-queue", "client-go", impl.RateLimitingQueues[string]()}
	null := func(n int) impl.NewRateLimitingQueue[string] {
		return func(workqueue.TypedRateLimiter[string], workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
			return &nullQueue[string]{turn: turn[string]{keys: stringKeys(n)}, adds: 1}
		}
	}
	waits := waitQuestions(seed, func(v variant) workqueue.TypedInterface[string] {
		return v.New(limiterFor(v), workqueue.TypedRateLimitingQueueConfig[string]{})
	})
	return c.cases(append(waits,
		asked{
			name: "op=retry/n=500", unit: cpuTime, quick: true, needs: []string{"injected-clock"}, null: null(500),
			summary: "500 items are added, fail once, come due and succeed: Add, Get, AddRateLimited, Done, Get, Forget, Done",
			run:     func(b *testing.B, v variant) { retryCycle(b, v, 500) },
		},
		asked{
			name: "op=retry/n=50k", unit: cpuTime, needs: []string{"injected-clock"}, null: null(50_000),
			summary: "the same with 50,000 items failing together",
			run:     func(b *testing.B, v variant) { retryCycle(b, v, 50_000) },
		},
		asked{
			name: "op=reconcile/workers=4", summary: reconcileSummary + ", and forget them", unit: cpuTime,
			run: func(b *testing.B, v variant) {
				if v.Name == NullSink {
					noQueue.run(b, seed)
					return
				}
				q := v.New(limiterFor(v), workqueue.TypedRateLimitingQueueConfig[string]{})
				r := reconcilesOf(q)
				r.done = func(key string) { q.Forget(key); q.Done(key) }
				r.run(b, seed)
			},
		},
		asked{
			name: "op=success/n=10k", unit: cpuTime, null: null(10_000),
			summary: "items succeed at once: Add, Get, Forget, Done",
			run: func(b *testing.B, v variant) {
				q := v.New(limiterFor(v), workqueue.TypedRateLimitingQueueConfig[string]{})
				defer q.ShutDown()
				keys := stringKeys(10_000)
				next, wrong := 0, 0
				const batch = 100
				measured(b, batch, false, func() {
					for _, key := range keys[next : next+batch] {
						q.Add(key)
						item, _ := q.Get()
						if item != key {
							wrong++
						}
						q.Forget(item)
						q.Done(item)
					}
					if next += batch; next == len(keys) {
						next = 0
					}
				})
				if wrong > 0 || q.Len() != 0 {
					b.Fatalf("%d of the items got were not the one added, %d left in the queue", wrong, q.Len())
				}
			},
		},
	)...)
}

func limiterFor(v impl.Variant[impl.NewRateLimitingQueue[string]]) workqueue.TypedRateLimiter[string] {
	limiters := impl.RateLimiters[string]()
	best := limiters[0]
	for _, l := range limiters {
		if l.Peer == v.Peer && len(l.Relaxes) == 0 {
			best = l
			if l.Name == v.Name {
				break
			}
		}
	}
	return best.New()
}

func retryCycle(b *testing.B, v impl.Variant[impl.NewRateLimitingQueue[string]], n int) {
	var q workqueue.TypedRateLimitingInterface[string]
	var clock steppedClock
	renew := func() {
		if q != nil {
			q.ShutDown()
		}
		clock = newSteppedClock()
		q = v.New(limiterFor(v), workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock})
	}
	renew()
	keys := stringKeys(n)
	wrong, retries := 0, 0
	measured(b, n, false, func() {
		// The default limiter's bucket reserves a tenth of a second a retry; so
		// many are due within a day.
		if retries += n; retries > 500_000 {
			renew()
			retries = n
		}
		for _, key := range keys {
			q.Add(key)
		}
		for range keys {
			item, _ := q.Get()
			q.AddRateLimited(item)
			q.Done(item)
		}
		clock.Step(24 * time.Hour)
		for range keys {
			item, _ := q.Get()
			if q.NumRequeues(item) != 1 {
				wrong++
			}
			q.Forget(item)
			q.Done(item)
		}
	})
	if wrong > 0 || q.Len() != 0 {
		b.Fatalf("%d items did not come back as failed once, %d left in the queue", wrong, q.Len())
	}
	q.ShutDown()
}
