package impltest

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

type newRateLimitingQueue = func(workqueue.TypedRateLimiter[string], workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string]

// TestRateLimitingQueue tests a rate limiting queue, which includes the clauses
// of TestQueue and TestDelayingQueue. Relaxes names the clauses that it gives up.
func TestRateLimitingQueue(t *testing.T, new func(workqueue.TypedRateLimiter[string], workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string], relaxes ...string) {
	t.Helper()
	runClauses(t, rateLimitingQueueClauses(), new, relaxes)
}

func rateLimitingQueueClauses() []clause[newRateLimitingQueue] {
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]
	queue := func(new newRateLimitingQueue) newQueue {
		return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			return new(limiter(), workqueue.TypedRateLimitingQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		}
	}
	delaying := func(new newRateLimitingQueue) newDelayingQueue {
		return func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
			return new(limiter(), workqueue.TypedRateLimitingQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		}
	}
	return slices.Concat(
		adapt(queueClauses(), queue, "injected-storage"),
		adapt(delayingClauses(), delaying, "injected-queue", "adder-never-waits"),
		rateLimitingClauses)
}

// A scripted limiter answers the same delay every time and records its calls.
type scripted struct {
	mu        sync.Mutex
	delay     time.Duration
	asked     []string
	forgotten []string
}

func (s *scripted) When(item string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, item)
	return s.delay
}

func (s *scripted) Forget(item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, item)
}

func (s *scripted) NumRequeues(item string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1000 + count(s.asked, item)
}

func startLimiting(t *trial, new newRateLimitingQueue, l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
	q := new(l, c)
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

var rateLimitingClauses = []clause[newRateLimitingQueue]{
	{name: "add-rate-limited", contract: "rate limiting queue 1", run: limitingAddRateLimited,
		reason: "AddRateLimited is AddAfter with the delay that the limiter answers, which is asked once"},
	{name: "limiter-asked", contract: "rate limiting queue 1", run: limitingLimiterAsked,
		reason: "NumRequeues and Forget are the limiter's"},
	{name: "forget-is-not-done", contract: "rate limiting queue 2", run: limitingForgetIsNotDone,
		reason: "Forget does not end the processing of an item, nor does Done end its back-off"},
	{name: "forget-keeps-waiting", contract: "rate limiting queue 2", run: limitingForgetKeepsWaiting,
		reason: "Forget does not cancel what waits: it only ends the back-off"},
	{name: "injected-delaying-queue", contract: "rate limiting queue 3", run: limitingInjectedDelayingQueue,
		reason: "a delaying queue in the config is used for everything but the limits"},
	{name: "retry-cycle", contract: "rate limiting queue 1", run: limitingRetryCycle,
		reason: "an object that fails is retried with growing delays until it succeeds; then its next failure is its first"},
}

func limitingAddRateLimited(t *trial, new newRateLimitingQueue) {
	l := &scripted{delay: time.Minute}
	q := startLimiting(t, new, l, workqueue.TypedRateLimitingQueueConfig[string]{})
	q.AddRateLimited("a")
	after(time.Minute - 1)
	assert.Equal(t, 0, q.Len(), "Len 1 ns before the limiter's delay has passed")
	after(1 + tolerance(t))
	assert.Equal(t, 1, q.Len(), "Len when it has passed")
	l.delay = 0
	q.AddRateLimited("b")
	synctest.Wait()
	assert.Equal(t, 2, q.Len(), "Len after a delay of zero")
	assert.Equal(t, []string{"a", "b"}, l.asked, "calls of When")
}

func limitingLimiterAsked(t *trial, new newRateLimitingQueue) {
	t.needs("add-rate-limited")
	l := &scripted{delay: time.Minute}
	q := startLimiting(t, new, l, workqueue.TypedRateLimitingQueueConfig[string]{})
	q.AddRateLimited("a")
	q.AddRateLimited("a")
	synctest.Wait()
	assert.Equal(t, 1002, q.NumRequeues("a"), "the limiter's answer")
	q.Forget("a")
	assert.Equal(t, []string{"a"}, l.forgotten, "calls of Forget")
}

func limitingForgetIsNotDone(t *trial, new newRateLimitingQueue) {
	t.needs("add-rate-limited")
	q := startLimiting(t, new, workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{})
	q.AddRateLimited("a")
	after(time.Second + tolerance(t))
	take(t, q)
	q.Forget("a")
	q.Add("a")
	p := get(t, q)
	assert.Equal(t, "blocked", p.String(), "Get after Forget and before Done")
	q.AddRateLimited("a")
	q.Done("a")
	synctest.Wait()
	assert.Equal(t, 1, q.NumRequeues("a"), "NumRequeues after Done")
}

func limitingForgetKeepsWaiting(t *trial, new newRateLimitingQueue) {
	t.needs("add-rate-limited")
	q := startLimiting(t, new, &scripted{delay: time.Minute}, workqueue.TypedRateLimitingQueueConfig[string]{})
	q.AddRateLimited("a")
	q.Forget("a")
	after(time.Minute + tolerance(t))
	assert.Equal(t, 1, q.Len(), "Len when the delay has passed")
}

func limitingInjectedDelayingQueue(t *trial, new newRateLimitingQueue) {
	inner := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{})
	q := startLimiting(t, new, &scripted{delay: time.Minute}, workqueue.TypedRateLimitingQueueConfig[string]{DelayingQueue: inner})
	q.AddRateLimited("a")
	q.Add("b")
	after(time.Minute)
	assert.Equal(t, 2, inner.Len(), "Len of the injected delaying queue")
	q.ShutDown()
	assert.True(t, inner.ShuttingDown(), "the injected delaying queue is shutting down")
}

func limitingRetryCycle(t *trial, new newRateLimitingQueue) {
	t.needs("add-rate-limited")
	r := newRecorder()
	q := startLimiting(t, new, workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Hour),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "measured", MetricsProvider: r})
	for range 2 {
		q.Add("a")
		for failure := range 6 {
			assert.Equal(t, "a", take(t, q))
			q.AddRateLimited("a")
			q.Done("a")
			after(time.Second<<failure - 1)
			assert.Equal(t, 0, q.Len(), "Len 1 ns before retry %d", failure+1)
			after(1 + tolerance(t))
		}
		assert.Equal(t, 6, q.NumRequeues("a"))
		take(t, q)
		q.Forget("a")
		q.Done("a")
	}
	if t.measures("retries") {
		assert.Equal(t, 12.0, r.value("retries"), "retries metric")
	}
}
