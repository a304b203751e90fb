package impltest

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
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
		"never-overtakes":    {"ready-order", "delay-differential"},
		"due-again":          {"due-while-queued", "delay-differential"},
		"due-is-lost":        {"due-while-processing", "delay-differential"},
		"check-then-act":     {"concurrent", "linearizable", "delay-concurrent"},
	},
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
			inner := ""
			if fault == "check-then-act" {
				inner = fault
			}
			c.Queue = newPlanted(inner)(workqueue.TypedQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
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
	for other, latest := range q.waiting {
		if q.fault == "never-overtakes" && other != item && latest.After(at) {
			at = latest
		}
	}
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
	go q.await(item, at, q.clock.NewTimer(at.Sub(q.clock.Now())), q.clock.NewTicker(heartbeat))
}

// await queues an item at its time.
func (q *plantedDelaying) await(item string, at time.Time, timer clock.Timer, beat clock.Ticker) {
	defer timer.Stop()
	defer beat.Stop()
	beats := beat.C()
	if q.fault == "no-heartbeat" {
		beats = nil
	}
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
		q.deliver(item)
	}
}

func (q *plantedDelaying) deliver(item string) {
	if inner, ok := q.TypedInterface.(*planted); ok {
		inner.mu.Lock()
		busy, queued := inner.processing[item], inner.dirty[item]
		if q.fault == "due-again" && queued && !busy {
			inner.queue.Push(item)
		}
		inner.mu.Unlock()
		if q.fault == "due-is-lost" && busy {
			return
		}
	}
	q.TypedInterface.Add(item)
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
