package impltest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

var priorityRandomClauses = []clause[newPriorityQueue]{
	{name: "priority-concurrent", contract: "priority queue", run: priorityConcurrent,
		reason: "with many producers of any priority and delay no item has two holders and each is processed after its last addition"},
	{name: "priority-linearizable", contract: "priority queue", run: priorityLinearizable,
		reason: "every history of concurrent calls at one priority can be explained by calls made one after another"},
	{name: "priority-differential", contract: "priority queue", run: priorityDifferential,
		reason: "on random calls every result and every metric is the one of controller-runtime's priority queue"},
}

func priorityConcurrent(t *trial, new newPriorityQueue) {
	r := newRecorder()
	q := new("measured", withMetrics(r))
	t.Cleanup(q.ShutDown)
	var mu sync.Mutex
	rnd := t.Rand()
	expectExact(t, q, func(key string) {
		mu.Lock()
		opts := priorityqueue.AddOpts{
			After:    time.Duration(rnd.IntN(100)-50) * time.Millisecond, // half of them now
			Priority: ptr(rnd.IntN(5)),
		}
		mu.Unlock()
		q.AddWithOpts(opts, key)
	}, r)
}

func priorityLinearizable(t *trial, new newPriorityQueue) {
	queueModel{trial: t, placeOfAdd: true}.expectLinearizable(func() workqueue.TypedInterface[string] { return startPriority(t, new) })
}

func priorityDifferential(t *trial, new newPriorityQueue) {
	t.needs("priority-order", "rate-limited-or-after", "waiting-does-not-block")
	rnd := t.Rand()
	for range 20 {
		comparePriority(t, new, rnd)
	}
}

// comparePriority makes the same random calls on a new priority queue and on
// controller-runtime's. Each has at most one Get under way, which may stay
// blocked for a while.
func comparePriority(t *trial, new newPriorityQueue, rnd *rand.Rand) {
	r, wantR := newRecorder(), newRecorder()
	limiter := func() priorityqueue.Opt[string] {
		return withLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Minute))
	}
	q := new("measured", withMetrics(r), limiter())
	want := priorityqueue.New("measured", withMetrics(wantR), limiter())
	t.Cleanup(q.ShutDown)
	t.Cleanup(want.ShutDown)
	synctest.Wait()
	var (
		got, expected *pending
		held          []string
		log           = callLog{t: t}
		names         = keys("key", 1+rnd.IntN(12))
	)
	for i := range diffCalls {
		key := names[rnd.IntN(len(names))]
		switch op := rnd.IntN(14); {
		case op < 5:
			opts := priorityqueue.AddOpts{Priority: ptr(rnd.IntN(5) - 2)}
			if rnd.IntN(3) == 0 {
				opts.After = time.Duration(rnd.IntN(5000))*time.Millisecond + time.Duration(i)
			}
			opts.RateLimited = rnd.IntN(4) == 0
			log.add("AddWithOpts(%v, %v, %d, %s)", opts.After, opts.RateLimited, *opts.Priority, key)
			q.AddWithOpts(opts, key)
			want.AddWithOpts(opts, key)
		case op < 6:
			log.add("Add(%s)", key)
			q.Add(key)
			want.Add(key)
		case op < 9:
			if expected != nil {
				continue
			}
			log.add("GetWithPriority")
			got, expected = get(t, prioritized{q}), get(t, prioritized{want})
		case op < 11:
			if len(held) == 0 {
				continue
			}
			n := rnd.IntN(len(held))
			log.add("Done(%s)", held[n])
			q.Done(held[n])
			want.Done(held[n])
			held = slices.Delete(held, n, n+1)
		case op < 12:
			log.add("Forget(%s)", key)
			q.Forget(key)
			want.Forget(key)
		default:
			d := time.Duration(rnd.IntN(1500)) * time.Millisecond
			log.add("%v pass", d)
			time.Sleep(d)
		}
		synctest.Wait()
		if len(held) == 0 && expected == nil {
			log.equal(want.Len(), q.Len(), "Len") // upstream counts items in processing too
		}
		if expected != nil {
			log.equal(expected.String(), got.String(), "GetWithPriority")
			if a := expected.answer.Load(); a != nil {
				held = append(held, a.item[:strings.LastIndexByte(a.item, '@')])
				got, expected = nil, nil
			}
		}
		log.equal(want.NumRequeues(key), q.NumRequeues(key), "NumRequeues")
		log.equal(t.measurements(wantR), t.measurements(r), "metrics")
	}
}
