package impltest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// What controller-runtime's priority queue gives up. A provider's panic would end
// the process in a goroutine of its.
var upstreamPriorityRelaxes = []string{"len-counts-queued", "drain-after-shutdown", "requeue-after-shutdown", "drain-waits-processing",
	"drain-includes-requeued", "shutdown-ends-drain", "panic-unlocks", "fault:shutdown-twice", "fault:concurrent-drains", "priority-linearizable"}

var plantedPriorities = planting[newPriorityQueue]{
	clauses: priorityQueueClauses(), own: slices.Concat(priorityClauses, priorityRandomClauses), new: newPlantedPriority, relaxes: upstreamPriorityRelaxes,
	faults: map[string][]string{
		"priority-ignored": {"priority-order"},
		"positive-only":    {"priority-order"},
		"first-only":       {"many-at-once"},
		"delay-ignored":    {"waiting-does-not-block"},
		"limiter-ignored":  {"rate-limited-or-after"},
		"first-stays":      {"raised-goes-last", "raised-while-waiting", "priority-while-processing", "priority-differential"},
		"bucket-too":       {"default-limiter"},
		"newest-first":     {"fifo-within-priority", "many-at-once", "raised-goes-last", "never-lowered", "priority-differential"},
		"last-is-told":     {"never-lowered", "add-ends-waiting", "priority-differential"},
		"requeued-last":    {"place-of-add", "priority-differential"},
		"busy-blocks":      {"processing-does-not-block", "priority-differential"},
		"waited-first":     {"ready-by-time", "priority-differential"},
		"add-waits":        {"add-ends-waiting", "priority-differential"},
		"zero-is-retry":    {"metrics-real-retries"},
		"locks-crossed":    {"concurrent", "priority-concurrent"},
	},
}

// plantedPriority is controller-runtime's priority queue with one fault. Its priorities
// there are a step apart, so that a fault can put an item between two.
type plantedPriority struct {
	priorityqueue.PriorityQueue[string]
	fault   string
	retries workqueue.CounterMetric

	mu    sync.Mutex
	first map[string]*int      // the priority that each item was first added with
	last  map[string]int       // and last
	until map[string]time.Time // when each item that waits is due
	held  map[string]*int      // what is processed, and the priority that it was added again with
	added int
	stash []func() // additions that wait for what is processed

	locks     [2]chan int // whose waiters a bubble sees
	crossings atomic.Int64
}

const step = 1 << 20

func newPlantedPriority(fault string) newPriorityQueue {
	return func(name string, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
		q := &plantedPriority{fault: fault, first: map[string]*int{}, last: map[string]int{}, until: map[string]time.Time{},
			held: map[string]*int{}, locks: [2]chan int{make(chan int, 1), make(chan int, 1)}}
		switch fault {
		case "bucket-too":
			opts = append([]priorityqueue.Opt[string]{withLimiter(workqueue.DefaultTypedControllerRateLimiter[string]())}, opts...)
		case "zero-is-retry":
			opts = append(opts, func(o *priorityqueue.Opts[string]) {
				if o.MetricProvider != nil {
					o.MetricProvider = retriesOf{o.MetricProvider, q}
				}
			})
		}
		q.PriorityQueue = priorityqueue.New(name, opts...)
		return q
	}
}

// retriesOf is a provider whose retries metric the planted queue has too.
type retriesOf struct {
	workqueue.MetricsProvider
	q *plantedPriority
}

func (p retriesOf) NewRetriesMetric(name string) workqueue.CounterMetric {
	p.q.retries = p.MetricsProvider.NewRetriesMetric(name)
	return p.q.retries
}

func (q *plantedPriority) AddWithOpts(o priorityqueue.AddOpts, items ...string) {
	switch {
	case q.fault == "priority-ignored":
		o.Priority = nil
	case q.fault == "positive-only" && o.Priority != nil && *o.Priority < 0:
		o.Priority = nil
	case q.fault == "first-only" && len(items) > 1:
		items = items[:1]
	case q.fault == "delay-ignored":
		o.After = 0
	case q.fault == "limiter-ignored":
		o.RateLimited = false
	}
	for _, item := range items {
		q.add(o, item)
	}
}

func (q *plantedPriority) add(o priorityqueue.AddOpts, item string) {
	q.cross(q.locks[0], q.locks[1])
	q.mu.Lock()
	defer q.mu.Unlock()
	ready := o.After <= 0 && !o.RateLimited
	switch q.fault {
	case "first-stays":
		o.Priority = q.stays(item, o.Priority)
	case "add-waits":
		if due, waits := q.until[item]; waits && ready {
			o.After = max(0, time.Until(due))
		} else if at := time.Now().Add(o.After); !ready && (!waits || at.Before(due)) {
			q.until[item] = at
		}
	}
	priority := zero(o.Priority)
	q.last[item] = priority
	again, held := q.held[item]
	if held && (again == nil || *again < priority) {
		q.held[item] = &priority
	}
	o.Priority = ptr(q.place(o, item))
	if q.fault == "busy-blocks" && q.blocked(priority) {
		q.stash = append(q.stash, func() { q.PriorityQueue.AddWithOpts(o, item) })
		return
	}
	q.PriorityQueue.AddWithOpts(o, item)
}

// place is the priority of an addition in the inner queue.
func (q *plantedPriority) place(o priorityqueue.AddOpts, item string) int {
	place := zero(o.Priority) * step
	_, held := q.held[item]
	switch {
	case q.fault == "newest-first" && place != 0:
		q.added++
		return place + q.added
	case q.fault == "requeued-last" && held:
		return place - 1
	case q.fault == "waited-first" && o.After > 0:
		return place + 1
	}
	return place
}

// blocked tells whether an item that is processed was added again with a higher priority.
func (q *plantedPriority) blocked(priority int) bool {
	for _, again := range q.held {
		if again != nil && *again > priority {
			return true
		}
	}
	return false
}

// stays is the priority that an item was first added with since it was done last.
func (q *plantedPriority) stays(item string, priority *int) *int {
	if first, ok := q.first[item]; ok {
		return first
	}
	q.first[item] = priority
	return priority
}

func (q *plantedPriority) GetWithPriority() (string, int, bool) {
	item, place, shutdown := q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	defer q.mu.Unlock()
	priority := (place + step/2) >> 20
	if q.fault == "last-is-told" {
		priority = q.last[item]
	}
	delete(q.last, item)
	delete(q.until, item)
	q.held[item] = nil
	return item, priority, shutdown
}

func (q *plantedPriority) Get() (string, bool) {
	item, _, shutdown := q.GetWithPriority()
	return item, shutdown
}

func (q *plantedPriority) Done(item string) {
	q.cross(q.locks[1], q.locks[0])
	q.PriorityQueue.Done(item)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.first, item)
	delete(q.held, item)
	for _, add := range q.stash {
		add()
	}
	q.stash = nil
}

func (q *plantedPriority) Add(item string) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

func (q *plantedPriority) AddAfter(item string, d time.Duration) {
	if q.retries != nil && d <= 0 {
		q.retries.Inc()
	}
	q.PriorityQueue.AddAfter(item, d)
}

// cross holds two locks for a moment, in that order.
func (q *plantedPriority) cross(one, other chan int) {
	if q.fault == "locks-crossed" {
		one <- 1
		if q.crossings.Add(1) > 1000 { // which concurrent clauses alone reach
			time.Sleep(time.Nanosecond) // until a caller of the other order holds its first
		}
		other <- 1
		<-other
		<-one
	}
}

// zero is *n, or zero if there is none.
func zero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
