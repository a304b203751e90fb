package impltest

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// planted is a work queue that keeps the contract but for one fault.
type planted struct {
	fault      string
	mu         sync.Mutex
	cond       *sync.Cond
	queue      workqueue.Queue[string]
	dirty      map[string]bool
	processing map[string]bool
	down       bool
	drain      bool
	stop       chan struct{}
	leaked     []string

	clock          clock.WithTicker
	r              workqueue.MetricsProvider // nil: no metrics
	depth          workqueue.GaugeMetric
	adds           workqueue.CounterMetric
	latency, work  workqueue.HistogramMetric
	added, started map[string]time.Time
}

func newPlanted(fault string) newQueue {
	return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
		q := &planted{fault: fault, queue: c.Queue, clock: c.Clock,
			dirty: map[string]bool{}, processing: map[string]bool{}, stop: make(chan struct{}),
			added: map[string]time.Time{}, started: map[string]time.Time{}}
		q.cond = sync.NewCond(&q.mu)
		if q.queue == nil || fault == "storage-ignored" {
			q.queue = workqueue.DefaultQueue[string]()
		}
		if q.clock == nil || fault == "clock-ignored" {
			q.clock = clock.RealClock{}
		}
		if p := c.MetricsProvider; p != nil && c.Name != "" {
			q.r, q.depth, q.adds, q.latency, q.work = p, p.NewDepthMetric(c.Name), p.NewAddsMetric(c.Name), p.NewLatencyMetric(c.Name), p.NewWorkDurationMetric(c.Name)
			unfinished, longest := p.NewUnfinishedWorkSecondsMetric(c.Name), p.NewLongestRunningProcessorSecondsMetric(c.Name)
			go q.update(unfinished, longest)
		}
		return q
	}
}

func (q *planted) update(unfinished, longest workqueue.SettableGaugeMetric) {
	ticker := q.clock.NewTicker(500 * time.Millisecond)
	for {
		select {
		case <-q.stop:
			return
		case <-ticker.C():
		}
		q.mu.Lock()
		var sum, oldest float64
		for _, start := range q.started {
			age := q.clock.Since(start).Seconds()
			sum, oldest = sum+age, max(oldest, age)
		}
		q.mu.Unlock()
		unfinished.Set(sum)
		longest.Set(oldest)
	}
}

func (q *planted) Add(item string) {
	q.mu.Lock()
	if q.fault != "lock-kept" {
		defer q.mu.Unlock()
	}
	if q.down && q.fault != "add-after-shutdown" {
		q.unlockKept()
		return
	}
	if q.fault == "lost-requeue" && q.processing[item] {
		return
	}
	if q.fault == "check-then-act" {
		busy := q.processing[item]
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
		if !busy && !q.dirty[item] { // the item may be in processing by now
			q.dirty[item] = true
			q.count(item)
			q.queue.Push(item)
			q.cond.Signal()
			return
		}
	}
	if q.dirty[item] && q.fault != "queued-twice" {
		if !q.processing[item] {
			q.queue.Touch(item)
		}
		q.unlockKept()
		return
	}
	q.dirty[item] = true
	q.count(item)
	if q.processing[item] && q.fault != "second-holder" {
		q.unlockKept()
		return
	}
	q.queue.Push(item)
	if q.fault != "lost-wake-up" || q.queue.Len() == 1 {
		q.cond.Signal()
	}
	q.unlockKept()
}

// unlockKept unlocks what Add does not unlock on a panic.
func (q *planted) unlockKept() {
	if q.fault == "lock-kept" {
		q.mu.Unlock()
	}
}

func (q *planted) count(item string) {
	if q.r == nil {
		return
	}
	q.adds.Inc()
	q.depth.Inc()
	if _, ok := q.added[item]; !ok || q.fault == "latency-from-last" {
		q.added[item] = q.clock.Now()
	}
}

func (q *planted) Get() (string, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.queue.Len() == 0 && !q.down {
		if q.fault == "never-blocks" {
			return "", false
		}
		q.cond.Wait()
	}
	if q.queue.Len() == 0 || q.down && q.fault == "queue-dropped" {
		return "", true
	}
	item := q.queue.Pop()
	if q.r != nil {
		if q.fault != "depth-kept" {
			q.depth.Dec()
		}
		q.latency.Observe(q.clock.Since(q.added[item]).Seconds())
		q.started[item] = q.clock.Now()
		if q.fault == "work-from-add" {
			q.started[item] = q.added[item]
		}
		if q.fault != "latency-from-first" {
			delete(q.added, item)
		}
	}
	q.processing[item] = true
	delete(q.dirty, item)
	if q.fault == "leaked-reference" {
		q.leaked = append(q.leaked, item)
	}
	return item, false
}

func (q *planted) Done(item string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault == "done-deadlocks" && !q.processing[item] {
		q.mu.Lock()
	}
	if start, ok := q.started[item]; ok {
		q.work.Observe(q.clock.Since(start).Seconds())
		delete(q.started, item)
	}
	was := q.processing[item]
	delete(q.processing, item)
	if q.dirty[item] && (was || q.fault == "spurious-done") {
		q.queue.Push(item)
		if q.fault != "requeue-without-wake-up" {
			q.cond.Signal()
		}
	}
	if len(q.processing) == 0 {
		if q.fault == "one-drain-ends" {
			q.cond.Signal()
		} else {
			q.cond.Broadcast()
		}
	}
}

func (q *planted) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault == "len-counts-dirty" {
		return len(q.dirty)
	}
	return q.queue.Len()
}

func (q *planted) ShutDown() { q.end(false) }

func (q *planted) ShutDownWithDrain() {
	q.end(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.fault != "drain-returns" && q.drain && (len(q.processing) > 0 || q.fault == "drain-waits-queued" && q.queue.Len() > 0) {
		q.cond.Wait()
	}
}

func (q *planted) end(drain bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drain = drain || q.fault == "drain-not-ended" && q.drain
	if !q.down && q.fault != "goroutine-leak" {
		close(q.stop)
	}
	q.down = true
	if q.fault == "shutdown-wakes-one" {
		q.cond.Signal()
	} else {
		q.cond.Broadcast()
	}
}

func (q *planted) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.down && q.fault != "never-down"
}

// plantedStorage is a slice that keeps the contract but for one fault.
type plantedStorage struct {
	fault string
	items []string
	head  int
}

func (s *plantedStorage) Touch(item string) {
	if s.fault == "touch-adds" && !slices.Contains(s.items, item) {
		s.items = append(s.items, item)
	}
}

func (s *plantedStorage) Push(item string) { s.items = append(s.items, item) }

func (s *plantedStorage) Len() int {
	if s.fault == "len-of-array" {
		return len(s.items)
	}
	return len(s.items) - s.head
}

func (s *plantedStorage) Pop() string {
	if s.fault == "last-first" {
		return (*stackOf)(&s.items).pop()
	}
	item := s.items[s.head]
	if s.fault != "leaked-reference" {
		s.items[s.head] = ""
	}
	s.head++
	if s.head == len(s.items) {
		s.items, s.head = s.items[:0], 0
	}
	if s.fault == "growth-mixes" && s.Len() > 300 {
		s.items[s.head], s.items[s.head+1] = s.items[s.head+1], s.items[s.head]
	}
	return item
}

type stackOf []string

func (s *stackOf) pop() string {
	item := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return item
}
