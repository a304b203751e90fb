package impltest

import (
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

var plantedDelays = planting[newDelayingQueue]{
	clauses: delayingQueueClauses(), own: delayingClauses(), new: newPlantedDelaying, relaxes: []string{"global-provider"},
	faults: map[string][]string{
		"early":              {"never-early"},
		"late":               {"on-time"},
		"lost":               {"earliest-wins"},
		"twice":              {"earliest-wins"},
		"later-wins":         {"earliest-wins"},
		"zero-waits":         {"after-zero"},
		"add-cancels":        {"add-keeps-waiting"},
		"clock-ignored":      {"delay-clock"},
		"goroutines-wait":    {"no-goroutine-left-waiting"},
		"blocks-when-down":   {"after-shutdown", "shutdown-frees-adders", "metrics-retries", "delay-differential"},
		"no-heartbeat":       {"heartbeat"},
		"queue-ignored":      {"injected-queue"},
		"delivery-locks":     {"adder-never-waits"},
		"zero-is-no-retry":   {"metrics-retries", "delay-concurrent", "delay-differential"},
		"leaked":             {"no-retained-delayed-items"},
		"len-counts-waiting": {"len-excludes-waiting", "never-early", "delay-clock", "shutdown-drops-waiting", "delay-differential"},
	},
	lacking: []string{"ready-order", "due-while-queued", "due-while-processing"},
}

// plantedDelaying is a delaying queue with a goroutine for each waiting item and
// one fault.
type plantedDelaying struct {
	workqueue.TypedInterface[string]
	fault   string
	clock   clock.WithTicker
	mu      sync.Mutex
	waiting map[string]time.Time
	stop    chan struct{}
	once    sync.Once
	retries workqueue.CounterMetric
	leaked  []string
}

func newPlantedDelaying(fault string) newDelayingQueue {
	return func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
		if c.Queue == nil || fault == "queue-ignored" {
			c.Queue = newPlanted("")(workqueue.TypedQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		}
		if c.Clock == nil || fault == "clock-ignored" {
			c.Clock = clock.RealClock{}
		}
		q := &plantedDelaying{TypedInterface: c.Queue, fault: fault, clock: c.Clock, waiting: map[string]time.Time{}, stop: make(chan struct{})}
		if c.MetricsProvider != nil && c.Name != "" {
			q.retries = c.MetricsProvider.NewRetriesMetric(c.Name)
		}
		return q
	}
}

func (q *plantedDelaying) AddAfter(item string, d time.Duration) {
	if q.ShuttingDown() {
		if q.fault == "blocks-when-down" {
			<-make(chan int)
		}
		return
	}
	if q.retries != nil && (d > 0 || q.fault != "zero-is-no-retry") {
		q.retries.Inc()
	}
	if d <= 0 && q.fault != "zero-waits" {
		q.TypedInterface.Add(item)
		return
	}
	switch q.fault {
	case "early":
		d -= d / 10
	case "late":
		d += time.Second
	case "zero-waits":
		d = max(d, 1) // a timer of zero may go off before its caller goes on
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.clock.Now().Add(d)
	known, waits := q.waiting[item]
	switch {
	case q.fault == "lost" && waits:
		delete(q.waiting, item)
		return
	case q.fault == "twice":
	case q.fault == "later-wins" && waits && known.After(at):
		return
	case waits && !at.Before(known) && q.fault != "later-wins":
		return
	}
	q.waiting[item] = at
	timer, beat := q.clock.NewTimer(d), q.clock.NewTicker(heartbeat)
	beats := beat.C()
	if q.fault == "no-heartbeat" {
		beats = nil
	}
	go func() {
		defer timer.Stop()
		defer beat.Stop()
		for q.clock.Now().Before(at) {
			select {
			case <-q.stop:
				return
			case <-timer.C():
			case <-beats:
			}
		}
		q.mu.Lock()
		due := q.waiting[item].Equal(at) || q.fault == "twice"
		if due {
			delete(q.waiting, item)
		}
		if q.fault == "leaked" {
			q.leaked = append(q.leaked, item)
		}
		if q.fault == "delivery-locks" {
			defer q.mu.Unlock()
		} else {
			q.mu.Unlock()
		}
		if due {
			q.TypedInterface.Add(item)
		}
	}()
}

func (q *plantedDelaying) Add(item string) {
	if q.fault == "add-cancels" {
		q.mu.Lock()
		delete(q.waiting, item)
		q.mu.Unlock()
	}
	q.TypedInterface.Add(item)
}

func (q *plantedDelaying) Len() int {
	n := q.TypedInterface.Len()
	if q.fault == "len-counts-waiting" {
		q.mu.Lock()
		defer q.mu.Unlock()
		n += len(q.waiting)
	}
	return n
}

func (q *plantedDelaying) ShutDown() {
	if q.fault != "goroutines-wait" {
		q.once.Do(func() { close(q.stop) })
	}
	q.TypedInterface.ShutDown()
}

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
	},
	lacking: []string{"fifo-within-priority", "never-lowered", "place-of-add", "processing-does-not-block", "ready-by-time",
		"add-ends-waiting", "metrics-real-retries", "priority-concurrent"},
}

// plantedPriority is controller-runtime's priority queue with one fault.
type plantedPriority struct {
	priorityqueue.PriorityQueue[string]
	fault string
	mu    sync.Mutex
	first map[string]*int // the priority that each item was first added with
}

func newPlantedPriority(fault string) newPriorityQueue {
	return func(name string, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
		if fault == "bucket-too" {
			opts = append([]priorityqueue.Opt[string]{withLimiter(workqueue.DefaultTypedControllerRateLimiter[string]())}, opts...)
		}
		return &plantedPriority{PriorityQueue: priorityqueue.New(name, opts...), fault: fault, first: map[string]*int{}}
	}
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
	case q.fault == "first-stays":
		for _, item := range items {
			o.Priority = q.stays(item, o.Priority)
			q.PriorityQueue.AddWithOpts(o, item)
		}
		return
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}

// stays is the priority that an item was first added with since it was done last.
func (q *plantedPriority) stays(item string, priority *int) *int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if first, ok := q.first[item]; ok {
		return first
	}
	q.first[item] = priority
	return priority
}

func (q *plantedPriority) Done(item string) {
	q.mu.Lock()
	delete(q.first, item)
	q.mu.Unlock()
	q.PriorityQueue.Done(item)
}

func (q *plantedPriority) Add(item string) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }
