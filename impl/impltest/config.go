package impltest

import (
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"
)

// configClauses are the clauses about what a queue does with its config.
var configClauses = []clause[newQueue]{
	{name: "injected-clock", contract: "queue 8", run: queueInjectedClock,
		reason: "durations are measured with the clock in the config, so that tests of a controller need not wait"},
	{name: "injected-storage", contract: "queue 10", run: queueInjectedStorage,
		reason: "the storage in the config decides the order; it is told by Touch of an item that is added again while it waits there"},
	{name: "panic-unlocks", contract: "queue 8", run: queuePanicUnlocks,
		reason: "a panic in a metrics provider leaves no lock held: the worker's recovery would be followed by a deadlock"},
}

func queueInjectedClock(t *trial, new newQueue) {
	clock, r := fakeClock(), newRecorder()
	q := start(t, new, workqueue.TypedQueueConfig[string]{Name: "clocked", MetricsProvider: r, Clock: clock})
	q.Add("a")
	synctest.Wait()
	time.Sleep(time.Minute)
	clock.Step(3 * time.Second)
	take(t, q)
	time.Sleep(time.Minute)
	for range 10 {
		clock.Step(time.Second)
		synctest.Wait()
	}
	if t.measures("unfinished") {
		assert.InDelta(t, 10, r.value("unfinished"), 0.51, "unfinished work 10 s after Get, by the injected clock")
	}
	q.Done("a")
	synctest.Wait()
	if t.measures("latency") {
		assert.Equal(t, []float64{3}, r.observations("latency"), "Add, 3 s by the injected clock, Get")
	}
	if t.measures("work") {
		assert.Equal(t, []float64{10}, r.observations("work"), "Get, 10 s by the injected clock, Done")
	}
}

func queueInjectedStorage(t *trial, new newQueue) {
	t.needs("added-once", "requeue-after-done", "single-holder")
	s := &stack{}
	q := start(t, new, workqueue.TypedQueueConfig[string]{Queue: s})
	q.Add("a")
	q.Add("b")
	q.Add("c")
	q.Add("a")
	assert.Equal(t, []string{"a"}, s.touched, "Touch after Add of a, b, c, a")
	assert.Equal(t, "c", take(t, q), "Get from a storage that hands out the last item first")
	q.Add("c")
	q.Add("c")
	assert.Equal(t, []string{"a"}, s.touched, "no Touch of an item that is processed")
	q.Done("c")
	assert.Equal(t, 3, q.Len())
	assert.Equal(t, []string{"c", "b", "a"}, takeAll(t, q, 3))
}

func queuePanicUnlocks(t *trial, new newQueue) {
	r := &panicker{recorder: newRecorder()}
	q := start(t, new, workqueue.TypedQueueConfig[string]{Name: "panics", MetricsProvider: r})
	func() {
		defer func() { _ = recover() }()
		q.Add("a")
	}()
	q.Len()
	q.Add("b")
	take(t, q)
}

func fakeClock() *testclock.FakeClock {
	return testclock.NewFakeClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// stack is a storage that hands out the last item first.
type stack struct{ items, touched []string }

func (s *stack) Touch(item string) { s.touched = append(s.touched, item) }
func (s *stack) Push(item string)  { s.items = append(s.items, item) }
func (s *stack) Len() int          { return len(s.items) }
func (s *stack) Pop() string {
	last := len(s.items) - 1
	item := s.items[last]
	s.items[last] = ""
	s.items = s.items[:last]
	return item
}

// panicker is a provider whose adds metric panics once.
type panicker struct {
	*recorder
	panicked bool
}

func (p *panicker) NewAddsMetric(string) workqueue.CounterMetric { return p }

func (p *panicker) Inc() {
	if !p.panicked {
		p.panicked = true
		panic("a fault in the provider")
	}
}
