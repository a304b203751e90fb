package impltest

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

type newPriorityQueue = func(name string, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string]

// TestPriorityQueue tests a priority queue, which includes those clauses of
// TestQueue, TestDelayingQueue and TestRateLimitingQueue that controller-runtime's
// interface can express. Relaxes names the clauses that it gives up.
//
// Three things differ from client-go's queues on purpose, as they do upstream: an
// Add of a waiting item makes it ready, an item that is added while it is
// processed takes its place then, and retries count only real delays.
func TestPriorityQueue(t *testing.T, new func(name string, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string], relaxes ...string) {
	t.Helper()
	runClauses(t, priorityQueueClauses(), new, relaxes)
}

func priorityQueueClauses() []clause[newPriorityQueue] {
	queue := func(new newPriorityQueue) newQueue {
		return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			return new(c.Name, withMetrics(c.MetricsProvider))
		}
	}
	delaying := func(new newPriorityQueue) newDelayingQueue {
		return func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
			return new(c.Name, withMetrics(c.MetricsProvider))
		}
	}
	limiting := func(new newPriorityQueue) newRateLimitingQueue {
		return func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
			return new(c.Name, withMetrics(c.MetricsProvider), withLimiter(l))
		}
	}
	return slices.Concat(
		adapt(queueClauses(), queue, "injected-storage", "injected-clock", "requeue-place", "linearizable", "differential"),
		adapt(delayingClauses(), delaying, "injected-queue", "adder-never-waits", "delay-clock", "heartbeat",
			"add-keeps-waiting", "metrics-retries", "delay-concurrent", "delay-differential"),
		adapt(rateLimitingClauses, limiting, "injected-delaying-queue"),
		priorityClauses, priorityRandomClauses)
}

func withMetrics(p workqueue.MetricsProvider) priorityqueue.Opt[string] {
	return func(o *priorityqueue.Opts[string]) { o.MetricProvider = p }
}

func withLimiter(l workqueue.TypedRateLimiter[string]) priorityqueue.Opt[string] {
	return func(o *priorityqueue.Opts[string]) { o.RateLimiter = l }
}

func startPriority(t *trial, new newPriorityQueue, opts ...priorityqueue.Opt[string]) priorityqueue.PriorityQueue[string] {
	q := new("", opts...)
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

// at are the options for an addition with a priority.
func at(priority int) priorityqueue.AddOpts { return priorityqueue.AddOpts{Priority: &priority} }

// A prioritized makes Get of a priority queue answer "item@priority".
type prioritized struct {
	priorityqueue.PriorityQueue[string]
}

func (p prioritized) Get() (string, bool) {
	item, priority, shutdown := p.GetWithPriority()
	if shutdown {
		return "", true
	}
	return fmt.Sprintf("%s@%d", item, priority), false
}

func takePrioritized(t *trial, q priorityqueue.PriorityQueue[string], n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = take(t, prioritized{q})
	}
	return items
}

var priorityClauses = []clause[newPriorityQueue]{
	{name: "priority-order", contract: "priority queue 1", run: priorityOrder,
		reason: "Get takes the item of the highest priority, below zero too; without one it is zero"},
	{name: "fifo-within-priority", contract: "priority queue 1", run: priorityFIFOWithinPriority,
		reason: "items of one priority are handed out in the order of their Adds, so that none starves"},
	{name: "many-at-once", contract: "priority queue 1", run: priorityManyAtOnce,
		reason: "AddWithOpts adds all its items, in their order"},
	{name: "raised-goes-last", contract: "priority queue 1", run: priorityRaisedGoesLast,
		reason: "an item whose priority is raised goes behind the items that had this priority before"},
	{name: "never-lowered", contract: "priority queue 1", run: priorityNeverLowered,
		reason: "an item that is added again with a lower priority keeps its priority and its place"},
	{name: "priority-while-processing", contract: "priority queue 1", run: priorityWhileProcessing,
		reason: "an item that is added while it is processed comes back with the priority of that addition"},
	{name: "place-of-add", contract: "priority queue 2", run: priorityPlaceOfAdd,
		reason: "an item that is added while it is processed takes its place then, before items that are added later"},
	{name: "processing-does-not-block", contract: "priority queue 3", run: priorityProcessingDoesNotBlock,
		reason: "an item of high priority that is processed does not keep others from being handed out"},
	{name: "waiting-does-not-block", contract: "priority queue 3", run: priorityWaitingDoesNotBlock,
		reason: "an item of high priority that waits for its time does not keep others from being handed out"},
	{name: "ready-by-time", contract: "priority queue 4", run: priorityReadyByTime,
		reason: "items of one priority that waited are handed out in the order in which they became ready"},
	{name: "add-ends-waiting", contract: "priority queue 4", run: priorityAddEndsWaiting,
		reason: "Add of a waiting item makes it ready now, with one delivery"},
	{name: "raised-while-waiting", contract: "priority queue 4", run: priorityRaisedWhileWaiting,
		reason: "a waiting item takes the higher priority and the earlier time of its additions"},
	{name: "rate-limited-or-after", contract: "priority queue 5", run: priorityRateLimitedOrAfter,
		reason: "with RateLimited and After the shorter delay counts, and the failure is counted"},
	{name: "default-limiter", contract: "priority queue 5", run: priorityDefaultLimiter,
		reason: "without a limiter in the options retries back off exponentially from 5 ms, without a bucket"},
	{name: "metrics-real-retries", contract: "priority queue 5", run: priorityMetricsRealRetries,
		reason: "the retries metric counts additions with a delay"},
}

func priorityOrder(t *trial, new newPriorityQueue) {
	q := startPriority(t, new)
	q.AddWithOpts(at(-5), "low")
	q.Add("default")
	q.AddWithOpts(at(7), "high")
	q.AddWithOpts(at(3), "middle")
	assert.Equal(t, []string{"high@7", "middle@3", "default@0", "low@-5"}, takePrioritized(t, q, 4))
}

func priorityFIFOWithinPriority(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	var want []string
	for _, priority := range []int{2, 1} {
		for _, key := range keys("key", 50) {
			want = append(want, fmt.Sprintf("%d-%s@%d", priority, key, priority))
		}
	}
	for _, key := range keys("key", 50) {
		q.AddWithOpts(at(1), "1-"+key)
		q.AddWithOpts(at(2), "2-"+key)
	}
	assert.Equal(t, want, takePrioritized(t, q, 100))
}

func priorityManyAtOnce(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(at(1))
	q.AddWithOpts(at(1), "a", "b", "a", "c")
	assert.Equal(t, []string{"a@1", "b@1", "c@1"}, takePrioritized(t, q, 3))
	expectEmpty(t, q, "after the three items")
}

func priorityRaisedGoesLast(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.Add("raised")
	q.AddWithOpts(at(5), "first")
	q.AddWithOpts(at(5), "raised")
	q.AddWithOpts(at(5), "last")
	assert.Equal(t, []string{"first@5", "raised@5", "last@5"}, takePrioritized(t, q, 3))
}

func priorityNeverLowered(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(at(5), "a")
	q.AddWithOpts(at(5), "b")
	q.AddWithOpts(at(-5), "a")
	q.Add("a")
	assert.Equal(t, []string{"a@5", "b@5"}, takePrioritized(t, q, 2))
}

func priorityWhileProcessing(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(at(5), "a")
	takePrioritized(t, q, 1)
	q.AddWithOpts(at(2), "a")
	q.AddWithOpts(at(1), "b")
	q.Done("a")
	assert.Equal(t, []string{"a@2", "b@1"}, takePrioritized(t, q, 2))
}

func priorityPlaceOfAdd(t *trial, new newPriorityQueue) {
	q := startPriority(t, new)
	q.Add("a")
	takePrioritized(t, q, 1)
	q.Add("a")
	q.Add("b")
	synctest.Wait()
	q.Done("a")
	assert.Equal(t, []string{"a@0", "b@0"}, takePrioritized(t, q, 2))
}

func priorityProcessingDoesNotBlock(t *trial, new newPriorityQueue) {
	q := startPriority(t, new)
	q.AddWithOpts(at(9), "busy")
	takePrioritized(t, q, 1)
	q.AddWithOpts(at(9), "busy")
	q.Add("other")
	assert.Equal(t, []string{"other@0"}, takePrioritized(t, q, 1))
	expectEmpty(t, q, "while both items are processed")
}

func priorityWaitingDoesNotBlock(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute, Priority: ptr(9)}, "waiting")
	q.Add("ready")
	assert.Equal(t, []string{"ready@0"}, takePrioritized(t, q, 1))
	after(time.Minute)
	assert.Equal(t, []string{"waiting@9"}, takePrioritized(t, q, 1))
}

func priorityReadyByTime(t *trial, new newPriorityQueue) {
	t.needs("waiting-does-not-block")
	q := startPriority(t, new)
	q.AddWithOpts(priorityqueue.AddOpts{After: 3 * time.Minute}, "third")
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, "first")
	after(2 * time.Minute)
	q.Add("second")
	after(2 * time.Minute)
	assert.Equal(t, []string{"first@0", "second@0", "third@0"}, takePrioritized(t, q, 3))
}

func priorityAddEndsWaiting(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute, Priority: ptr(4)}, "a")
	q.Add("a")
	assert.Equal(t, []string{"a@4"}, takePrioritized(t, q, 1), "with the higher one of the priorities")
	q.Done("a")
	after(2 * time.Minute)
	assert.Equal(t, 0, q.Len(), "Len when the delay has passed")
}

func priorityRaisedWhileWaiting(t *trial, new newPriorityQueue) {
	t.needs("priority-order")
	q := startPriority(t, new)
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Minute, Priority: ptr(1)}, "a")
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, Priority: ptr(8)}, "a")
	after(time.Minute)
	q.AddWithOpts(at(5), "b")
	assert.Equal(t, []string{"a@8", "b@5"}, takePrioritized(t, q, 2))
}

func priorityRateLimitedOrAfter(t *trial, new newPriorityQueue) {
	t.needs("waiting-does-not-block", "many-at-once")
	l := &scripted{delay: time.Hour}
	q := startPriority(t, new, withLimiter(l))
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, After: time.Minute}, "a", "b")
	synctest.Wait()
	assert.Equal(t, []string{"a", "b"}, l.asked, "calls of When")
	after(time.Minute)
	assert.Equal(t, []string{"a@0", "b@0"}, takePrioritized(t, q, 2))
}

func priorityDefaultLimiter(t *trial, new newPriorityQueue) {
	q := startPriority(t, new)
	names := keys("key", 150)
	for _, name := range names {
		q.AddRateLimited(name)
	}
	after(baseDelay)
	assert.Equal(t, len(names), q.Len(), "Len 5 ms after the first failure of 150 items")
	q.AddRateLimited("b")
	q.AddRateLimited("b")
	synctest.Wait()
	assert.Equal(t, 2, q.NumRequeues("b"))
}

func priorityMetricsRealRetries(t *trial, new newPriorityQueue) {
	r := newRecorder()
	q := new("measured", withMetrics(r), withLimiter(&scripted{delay: time.Second}))
	t.Cleanup(q.ShutDown)
	q.AddAfter("a", time.Second)
	q.AddAfter("b", 0)
	q.AddRateLimited("c")
	q.Add("d")
	synctest.Wait()
	assert.Equal(t, 2.0, r.value("retries"), "after AddAfter with and without delay, AddRateLimited and Add")
}

func ptr(n int) *int { return &n }
