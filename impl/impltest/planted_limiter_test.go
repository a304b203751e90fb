package impltest

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

var plantedLimiters = planting[newRateLimiter]{
	clauses: rateLimiterClauses(), own: rateLimiterClauses(), new: newPlantedLimiter,
	faults: map[string][]string{
		"overflow":          {"no-overflow"},
		"unclamped":         {"clamped"},
		"sum-of":            {"exponential"},
		"forget-ignored":    {"forget-resets"},
		"requeues-less-one": {"num-requeues"},
		"no-bucket":         {"bucket-burst"},
		"few-kept":          {"failures-kept", "no-retained-forgotten"},
		"forgotten-kept":    {"no-retained-forgotten"},
		"no-debt":           {"bucket-debt"},
		"half-full":         {"bucket-refills"},
		"bucket-forgets":    {"bucket-ignores-forget", "limiter-differential"},
		"longer-asked":      {"max-of", "limiter-differential"},
		"slowest-counts":    {"failures-by-item", "max-of", "limiter-differential"},
		"check-then-act":    {"limiter-concurrent"},
	},
}

// plantedLimiter is client-go's two limiters with one fault.
type plantedLimiter struct {
	fault         string
	items, bucket workqueue.TypedRateLimiter[string]

	mu      sync.Mutex
	failed  []string // in the order of their first failures
	kept    []string
	asked   time.Time
	longest time.Duration // of the delays since the last Forget
}

func newPlantedLimiter(fault string) newRateLimiter {
	return func() workqueue.TypedRateLimiter[string] {
		return &plantedLimiter{fault: fault, asked: time.Now(), bucket: newBucket(fault), items: workqueue.NewTypedItemExponentialFailureRateLimiter[string](baseDelay, maxDelay)}
	}
}

func newBucket(fault string) workqueue.TypedRateLimiter[string] {
	limit := rate.Every(bucketEvery)
	if fault == "no-bucket" {
		limit = rate.Inf
	}
	return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(limit, bucketBurst)}
}

func (l *plantedLimiter) When(item string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	failures := l.items.NumRequeues(item)
	if l.fault == "check-then-act" {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		if l.items.NumRequeues(item) > failures { // counted by somebody else meanwhile
			return max(backOff(failures), l.bucket.When(item))
		}
	}
	d := l.items.When(item)
	if l.longest = max(l.longest, d); l.fault == "slowest-counts" {
		d = l.longest
	}
	switch {
	case l.fault == "overflow" && failures >= 1000:
		return baseDelay << failures // zero
	case l.fault == "unclamped" && failures >= 18:
		return baseDelay << min(failures, 30)
	case l.fault == "longer-asked" && d > time.Second:
		return d
	case l.fault == "few-kept" && failures == 0:
		if l.failed = append(l.failed, item); len(l.failed) > 10_000 {
			l.items.Forget(l.failed[0])
			l.failed = l.failed[1:]
		}
	}
	if l.fault == "half-full" && time.Since(l.asked) > time.Minute {
		for range bucketBurst / 2 {
			l.bucket.When(item)
		}
	}
	l.asked = time.Now()
	wait := l.bucket.When(item)
	switch l.fault {
	case "no-debt":
		wait = min(wait, 10*time.Second)
	case "sum-of":
		return d + wait + baseDelay
	}
	return max(d, wait)
}

func (l *plantedLimiter) Forget(item string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.fault {
	case "forget-ignored":
		return
	case "forgotten-kept":
		l.kept = append(l.kept, item)
	case "bucket-forgets":
		l.bucket = newBucket("")
	}
	l.longest = 0
	l.items.Forget(item)
}

func (l *plantedLimiter) NumRequeues(item string) int {
	n := l.items.NumRequeues(item)
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
		"own-count":      {"limiter-asked"},
		"forget-ignored": {"limiter-asked", "retry-cycle", "forget-is-not-done"},
		"queue-ignored":  {"injected-delaying-queue"},
		"forget-cancels": {"forget-keeps-waiting"},
	},
}

// plantedLimiting is client-go's rate limiting queue with one fault.
type plantedLimiting struct {
	workqueue.TypedRateLimitingInterface[string]
	limiter workqueue.TypedRateLimiter[string]
	fault   string
	mu      sync.Mutex
	counts  map[string]int
	waiting *cancelling // for forget-cancels
}

// cancelling is a queue that refuses what was cancelled while it waited.
type cancelling struct {
	workqueue.TypedInterface[string]
	mu    sync.Mutex
	waits map[string]bool // false: cancelled
}

func (q *cancelling) Add(item string) {
	q.mu.Lock()
	waits, known := q.waits[item]
	delete(q.waits, item)
	q.mu.Unlock()
	if waits || !known {
		q.TypedInterface.Add(item)
	}
}

// set notes that an item waits, or that it is cancelled if it does.
func (q *cancelling) set(item string, waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.waits[item]; waits || known {
		q.waits[item] = waits
	}
}

func newPlantedLimiting(fault string) newRateLimitingQueue {
	return func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
		if fault == "queue-ignored" {
			c.DelayingQueue = nil
		}
		q := &plantedLimiting{limiter: l, fault: fault, counts: map[string]int{}}
		if fault == "forget-cancels" && c.DelayingQueue == nil {
			q.waiting = &cancelling{waits: map[string]bool{}, TypedInterface: workqueue.NewTypedWithConfig(
				workqueue.TypedQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})}
			c.DelayingQueue = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
				Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock, Queue: q.waiting})
		}
		q.TypedRateLimitingInterface = workqueue.NewTypedRateLimitingQueueWithConfig(l, c)
		return q
	}
}

func (q *plantedLimiting) AddRateLimited(item string) {
	if q.fault == "asked-twice" {
		q.limiter.When(item)
	}
	q.mu.Lock()
	q.counts[item]++
	q.mu.Unlock()
	if q.waiting != nil {
		q.waiting.set(item, true)
	}
	q.TypedRateLimitingInterface.AddRateLimited(item)
}

func (q *plantedLimiting) Forget(item string) {
	switch q.fault {
	case "forget-is-done":
		q.Done(item)
	case "forget-ignored":
		return
	}
	q.mu.Lock()
	delete(q.counts, item)
	q.mu.Unlock()
	if q.waiting != nil {
		q.waiting.set(item, false)
	}
	q.TypedRateLimitingInterface.Forget(item)
}

func (q *plantedLimiting) NumRequeues(item string) int {
	if q.fault == "own-count" {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.counts[item]
	}
	return q.TypedRateLimitingInterface.NumRequeues(item)
}
