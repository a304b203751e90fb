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
		"early":           {"never-early"},
		"late":            {"on-time"},
		"lost":            {"earliest-wins"},
		"twice":           {"earliest-wins"},
		"later-wins":      {"earliest-wins"},
		"zero-waits":      {"after-zero"},
		"add-cancels":     {"add-keeps-waiting"},
		"clock-ignored":   {"delay-clock"},
		"goroutines-wait": {"no-goroutine-left-waiting"},
	},
	lacking: []string{"ready-order", "due-while-queued", "due-while-processing", "len-excludes-waiting", "shutdown-drops-waiting",
		"after-shutdown", "shutdown-frees-adders", "heartbeat", "injected-queue", "adder-never-waits", "metrics-retries",
		"no-retained-delayed-items", "delay-concurrent", "delay-differential"},
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
}

func newPlantedDelaying(fault string) newDelayingQueue {
	return func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
		if c.Queue == nil {
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
		return
	}
	if q.retries != nil {
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
	go func() {
		defer timer.Stop()
		defer beat.Stop()
		for q.clock.Now().Before(at) {
			select {
			case <-q.stop:
				return
			case <-timer.C():
			case <-beat.C():
			}
		}
		q.mu.Lock()
		due := q.waiting[item].Equal(at) || q.fault == "twice"
		if due {
			delete(q.waiting, item)
		}
		q.mu.Unlock()
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

func (q *plantedDelaying) ShutDown() {
	if q.fault != "goroutines-wait" {
		q.once.Do(func() { close(q.stop) })
	}
	q.TypedInterface.ShutDown()
}

var plantedLimiters = planting[newRateLimiter]{
	clauses: rateLimiterClauses(), own: rateLimiterClauses(), new: newPlantedLimiter,
	faults: map[string][]string{
		"overflow":          {"no-overflow"},
		"unclamped":         {"clamped"},
		"sum-of":            {"exponential"},
		"forget-ignored":    {"forget-resets"},
		"requeues-less-one": {"num-requeues"},
		"no-bucket":         {"bucket-burst"},
	},
	lacking: []string{"failures-by-item", "failures-kept", "no-retained-forgotten", "limiter-concurrent", "bucket-debt",
		"bucket-refills", "bucket-ignores-forget", "max-of", "limiter-differential"},
}

// plantedLimiter is client-go's default limiter with one fault.
type plantedLimiter struct {
	workqueue.TypedRateLimiter[string]
	fault string
}

func newPlantedLimiter(fault string) newRateLimiter {
	return func() workqueue.TypedRateLimiter[string] {
		l := &plantedLimiter{workqueue.DefaultTypedControllerRateLimiter[string](), fault}
		if fault == "no-bucket" {
			l.TypedRateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[string](baseDelay, maxDelay)
		}
		return l
	}
}

func (l *plantedLimiter) When(item string) time.Duration {
	failures := l.TypedRateLimiter.NumRequeues(item)
	d := l.TypedRateLimiter.When(item)
	switch {
	case l.fault == "overflow" && failures >= 1000:
		return baseDelay << failures // zero
	case l.fault == "unclamped" && failures >= 18:
		return baseDelay << min(failures, 30)
	case l.fault == "sum-of":
		return d + baseDelay
	}
	return d
}

func (l *plantedLimiter) Forget(item string) {
	if l.fault != "forget-ignored" {
		l.TypedRateLimiter.Forget(item)
	}
}

func (l *plantedLimiter) NumRequeues(item string) int {
	n := l.TypedRateLimiter.NumRequeues(item)
	if l.fault == "requeues-less-one" {
		return max(0, n-1)
	}
	return n
}

// What client-go's delaying queue gives up.
var upstreamDelayRelaxes = []string{"fault:spurious-done", "fault:concurrent-drains", "fault:no-goroutine-after-drain", "fault:no-retained-delayed-items"}

var plantedLimitings = planting[newRateLimitingQueue]{
	clauses: rateLimitingQueueClauses(), own: rateLimitingClauses, new: newPlantedLimiting, relaxes: upstreamDelayRelaxes,
	faults: map[string][]string{
		"asked-twice":    {"add-rate-limited"},
		"forget-is-done": {"forget-is-not-done"},
	},
	lacking: []string{"limiter-asked", "forget-keeps-waiting", "injected-delaying-queue", "retry-cycle"},
}

// plantedLimiting is client-go's rate limiting queue with one fault.
type plantedLimiting struct {
	workqueue.TypedRateLimitingInterface[string]
	limiter workqueue.TypedRateLimiter[string]
	fault   string
}

func newPlantedLimiting(fault string) newRateLimitingQueue {
	return func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
		return &plantedLimiting{workqueue.NewTypedRateLimitingQueueWithConfig(l, c), l, fault}
	}
}

func (q *plantedLimiting) AddRateLimited(item string) {
	if q.fault == "asked-twice" {
		q.limiter.When(item)
	}
	q.TypedRateLimitingInterface.AddRateLimited(item)
}

func (q *plantedLimiting) Forget(item string) {
	if q.fault == "forget-is-done" {
		q.Done(item)
	}
	q.TypedRateLimitingInterface.Forget(item)
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
	},
	lacking: []string{"fifo-within-priority", "raised-goes-last", "never-lowered", "priority-while-processing", "place-of-add",
		"processing-does-not-block", "ready-by-time", "add-ends-waiting", "raised-while-waiting", "default-limiter",
		"metrics-real-retries", "priority-concurrent", "priority-differential"},
}

// plantedPriority is controller-runtime's priority queue with one fault.
type plantedPriority struct {
	priorityqueue.PriorityQueue[string]
	fault string
}

func newPlantedPriority(fault string) newPriorityQueue {
	return func(name string, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
		return &plantedPriority{priorityqueue.New(name, opts...), fault}
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
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}
