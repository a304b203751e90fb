package impltest

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

var plantedQueues = planting[newQueue]{
	clauses: queueClauses(), own: queueClauses(), new: newPlanted, relaxes: []string{"global-provider"},
	faults: map[string][]string{
		"lost-requeue":            {"requeue-after-done"},
		"requeue-without-wake-up": {"requeue-wakes"},
		"second-holder":           {"single-holder"},
		"queued-twice":            {"added-once"},
		"last-first":              {"global-fifo"},
		"requeued-first":          {"requeue-place"},
		"lost-wake-up":            {"wake-ups"},
		"never-blocks":            {"get-blocks"},
		"no-empty-key":            {"any-key"},
		"check-then-act":          {"concurrent", "linearizable"},
		"len-counts-dirty":        {"len-counts-queued"},
		"spurious-done":           {"spurious-done"},
		"done-deadlocks":          {"done-unknown"},
		"never-down":              {"shutting-down"},
		"add-after-shutdown":      {"add-after-shutdown"},
		"add-after-drain":         {"add-after-drain"},
		"queue-dropped":           {"drain-after-shutdown"},
		"requeue-dropped":         {"requeue-after-shutdown"},
		"shutdown-wakes-one":      {"shutdown-wakes"},
		"drain-wakes-one":         {"drain-wakes"},
		"shutdown-waits":          {"shutdown-returns"},
		"shutdown-panics":         {"shutdown-twice"},
		"drain-returns":           {"drain-waits-processing"},
		"drain-waits-queued":      {"drain-ignores-queued"},
		"drain-drops-requeued":    {"drain-includes-requeued"},
		"drain-not-ended":         {"shutdown-ends-drain"},
		"one-drain-ends":          {"concurrent-drains"},
		"shutdown-leaks":          {"no-goroutine-leak"},
		"drain-leaks":             {"no-goroutine-after-drain"},
		"leaked-reference":        {"no-retained-items"},
		"other-name":              {"metrics-registered"},
		"unnamed-too":             {"metrics-unnamed"},
		"depth-kept":              {"metrics-depth-adds"},
		"latency-doubled":         {"metrics-latency"},
		"work-doubled":            {"metrics-work-duration"},
		"unfinished-never":        {"metrics-unfinished"},
		"clock-ignored":           {"injected-clock"},
		"storage-ignored":         {"injected-storage"},
		"lock-kept":               {"panic-unlocks"},
		"depth-kept-at-shutdown":  {"differential"},
	},
}

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
	second     map[string]bool // pushed while it was processed

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
			second: map[string]bool{}, added: map[string]time.Time{}, started: map[string]time.Time{}}
		q.cond = sync.NewCond(&q.mu)
		switch {
		case q.queue == nil && fault == "last-first":
			q.queue = &stack{}
		case q.queue == nil || fault == "storage-ignored":
			q.queue = workqueue.DefaultQueue[string]()
		}
		switch {
		case fault == "other-name" && c.Name != "":
			c.Name += "-2"
		case fault == "unnamed-too" && c.Name == "":
			c.Name = "unnamed"
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
		if q.fault == "unfinished-never" {
			continue
		}
		unfinished.Set(sum)
		longest.Set(oldest)
	}
}

func (q *planted) Add(item string) {
	q.mu.Lock()
	if q.fault != "lock-kept" {
		defer q.mu.Unlock()
	}
	if q.down && (q.fault != "add-after-shutdown" || q.drain) && (q.fault != "add-after-drain" || !q.drain) || q.fault == "no-empty-key" && item == "" {
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
	q.second[item] = q.processing[item]
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
	if _, ok := q.added[item]; !ok {
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
		if q.fault != "depth-kept" && (q.fault != "depth-kept-at-shutdown" || !q.down) {
			q.depth.Dec()
		}
		latency := q.clock.Since(q.added[item]).Seconds()
		if q.fault == "latency-doubled" {
			latency *= 2
		}
		q.latency.Observe(latency)
		q.started[item] = q.clock.Now()
		delete(q.added, item)
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
		work := q.clock.Since(start).Seconds()
		if q.fault == "work-doubled" {
			work *= 2
		}
		q.work.Observe(work)
		delete(q.started, item)
	}
	was := q.processing[item]
	delete(q.processing, item)
	dropped := q.second[item] || q.fault == "requeue-dropped" && q.down && !q.drain || q.fault == "drain-drops-requeued" && q.drain
	delete(q.second, item)
	if q.dirty[item] && (was && !dropped || q.fault == "spurious-done") {
		q.queue.Push(item)
		for range q.queue.Len() - 1 {
			if q.fault == "requeued-first" {
				q.queue.Push(q.queue.Pop())
			}
		}
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
	for q.fault == "shutdown-waits" && !drain && len(q.processing) > 0 {
		q.cond.Wait()
	}
	if q.fault == "shutdown-panics" && q.down {
		panic("shut down already")
	}
	q.drain = drain || q.fault == "drain-not-ended" && q.drain
	if !q.down && (q.fault != "shutdown-leaks" || drain) && (q.fault != "drain-leaks" || !drain) {
		close(q.stop)
	}
	q.down = true
	if q.fault == "shutdown-wakes-one" && !drain || q.fault == "drain-wakes-one" && drain {
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

var plantedStorages = planting[newStorage]{
	clauses: storageClauses(), own: storageOnlyClauses,
	new: func(fault string) newStorage {
		return func() workqueue.Queue[string] { return &plantedStorage{fault: fault} }
	},
	faults: map[string][]string{
		"last-first":       {"storage-fifo"},
		"len-of-array":     {"storage-len"},
		"touch-adds":       {"storage-touch"},
		"leaked-reference": {"storage-no-retained-items"},
		"growth-mixes":     {"storage-differential"},
	},
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
	if last := len(s.items) - 1; s.fault == "last-first" {
		s.items[s.head], s.items[last] = s.items[last], s.items[s.head]
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
