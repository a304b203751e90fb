package impltest

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

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
}

func newPlantedDelaying(fault string) newDelayingQueue {
	return func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
		if c.Queue == nil {
			c.Queue = newPlanted("")(workqueue.TypedQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		}
		if c.Clock == nil || fault == "clock-ignored" {
			c.Clock = clock.RealClock{}
		}
		return &plantedDelaying{TypedInterface: c.Queue, fault: fault, clock: c.Clock, waiting: map[string]time.Time{}, stop: make(chan struct{})}
	}
}

func (q *plantedDelaying) AddAfter(item string, d time.Duration) {
	if q.ShuttingDown() {
		return
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
	timer := q.clock.NewTimer(d)
	go func() {
		select {
		case <-q.stop:
			timer.Stop()
		case <-timer.C():
			q.mu.Lock()
			due := q.waiting[item].Equal(at) || q.fault == "twice"
			if due {
				delete(q.waiting, item)
			}
			q.mu.Unlock()
			if due {
				q.TypedInterface.Add(item)
			}
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
