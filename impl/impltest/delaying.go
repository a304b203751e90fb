package impltest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

type newDelayingQueue = func(workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string]

// TestDelayingQueue tests a delaying queue, which includes the clauses of
// TestQueue. Relaxes names the clauses that it gives up.
func TestDelayingQueue(t *testing.T, new func(workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string], relaxes ...string) {
	t.Helper()
	runClauses(t, delayingQueueClauses(), new, relaxes)
}

func delayingQueueClauses() []clause[newDelayingQueue] {
	queue := func(new newDelayingQueue) newQueue {
		return func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
			return new(workqueue.TypedDelayingQueueConfig[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		}
	}
	return slices.Concat(adapt(queueClauses(), queue, "injected-storage"), delayingClauses())
}

func delayingClauses() []clause[newDelayingQueue] {
	return slices.Concat(delayClauses, delayConfigClauses, delayRandomClauses)
}

// startDelaying makes a delaying queue that is shut down when the clause ends.
func startDelaying(t *trial, new newDelayingQueue, config workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
	q := new(config)
	t.Cleanup(q.ShutDown)
	synctest.Wait()
	return q
}

func plainDelaying(t *trial, new newDelayingQueue) workqueue.TypedDelayingInterface[string] {
	return startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{})
}

// after lets d of the bubble's time pass and everything settle.
func after(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

// delayClauses are the clauses about what AddAfter does.
var delayClauses = []clause[newDelayingQueue]{
	{name: "after-zero", contract: "delaying queue 1", run: delayingAfterZero,
		reason: "AddAfter with a delay of zero or less is Add"},
	{name: "never-early", contract: "delaying queue 9", run: delayingNeverEarly,
		reason: "an item is not handed out before its delay has passed: the delay is the back-off of a failing object"},
	{name: "on-time", contract: "delaying queue 3", run: delayingOnTime, weaker: delayingOnTimeRelaxed,
		reason: "an item is queued when its delay has passed, and a blocked Get has it then"},
	{name: "earliest-wins", contract: "delaying queue 2", run: delayingEarliestWins,
		reason: "a second AddAfter of a waiting item keeps the earlier time and makes one delivery"},
	{name: "ready-order", contract: "delaying queue 3", run: delayingReadyOrder,
		reason: "items become ready in the order of their ready times, whatever the order of the calls"},
	{name: "add-keeps-waiting", contract: "delaying queue 4", run: delayingAddKeepsWaiting,
		reason: "Add of a waiting item does not cancel what waits: a periodic resync would stop"},
	{name: "due-while-queued", contract: "delaying queue 2", run: delayingDueWhileQueued,
		reason: "an item that becomes ready while it is queued is not queued twice"},
	{name: "due-while-processing", contract: "delaying queue 2", run: delayingDueWhileProcessing,
		reason: "an item that becomes ready while it is processed is handed out after Done and not before"},
	{name: "len-excludes-waiting", contract: "delaying queue 10", run: delayingLenExcludesWaiting,
		reason: "Len does not count what waits for its time"},
	{name: "shutdown-drops-waiting", contract: "delaying queue 5", run: delayingShutdownDropsWaiting,
		reason: "what still waits at shutdown is dropped, or a controller would stop only when the longest back-off has passed"},
	{name: "after-shutdown", contract: "delaying queue 5", run: delayingAfterShutdown,
		reason: "AddAfter neither blocks nor adds once shutdown began"},
	{name: "shutdown-frees-adders", contract: "delaying queue 5", run: delayingShutdownFreesAdders,
		reason: "AddAfter never blocks for ever when it runs beside ShutDown: the informer that calls it could not stop"},
	{name: "no-goroutine-left-waiting", contract: "delaying queue 7", run: delayingNoGoroutineLeftWaiting,
		reason: "no goroutine outlives ShutDown while items wait"},
}

func delayingAfterZero(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("a", 0)
	assert.Equal(t, 1, q.Len(), "Len right after AddAfter with a delay of zero")
	q.AddAfter("b", -time.Second)
	assert.Equal(t, 2, q.Len(), "Len right after AddAfter with a negative delay")
	assert.ElementsMatch(t, []string{"a", "b"}, takeAll(t, q, 2))
}

func delayingNeverEarly(t *trial, new newDelayingQueue) {
	for _, delay := range delays {
		q := plainDelaying(t, new)
		q.AddAfter("a", delay)
		after(delay - 1)
		assert.Equal(t, 0, q.Len(), "Len 1 ns before the delay of %v has passed", delay)
		expectEmpty(t, q, fmt.Sprintf("1 ns before the delay of %v has passed", delay))
	}
}

func delayingOnTime(t *trial, new newDelayingQueue) {
	for _, delay := range delays {
		q := plainDelaying(t, new)
		p := get(t, q)
		q.AddAfter("a", delay)
		after(delay)
		assert.Equal(t, `"a"`, p.String(), "Get when the delay of %v has passed", delay)
	}
}

func delayingOnTimeRelaxed(t *trial, new newDelayingQueue) {
	for _, delay := range delays {
		q := plainDelaying(t, new)
		p := get(t, q)
		q.AddAfter("a", delay)
		after(delay + heartbeat)
		assert.Equal(t, `"a"`, p.String(), "Get %v after the delay of %v has passed", heartbeat, delay)
	}
}

func delayingEarliestWins(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("sooner", 3*time.Hour)
	q.AddAfter("sooner", time.Hour)
	q.AddAfter("later", time.Hour)
	q.AddAfter("later", 3*time.Hour)
	after(time.Hour + heartbeat)
	assert.ElementsMatch(t, []string{"sooner", "later"}, takeAll(t, q, 2))
	after(3 * time.Hour)
	assert.Equal(t, 0, q.Len(), "Len after the later times: each item was delivered already")
}

func delayingReadyOrder(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	want := keys("key", 100)
	for _, i := range t.Rand().Perm(len(want)) {
		q.AddAfter(want[i], time.Duration(i+1)*time.Minute)
	}
	after(time.Duration(len(want))*time.Minute + heartbeat)
	got := takeAll(t, q, len(want))
	if t.relaxed("global-fifo") {
		slices.Sort(got)
	}
	assert.Equal(t, want, got)
}

func delayingAddKeepsWaiting(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("a", time.Minute)
	synctest.Wait()
	q.Add("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q, 1), "at once, because of Add")
	after(time.Minute + heartbeat)
	assert.Equal(t, 1, q.Len(), "Len when the delay has passed too")
}

func delayingDueWhileQueued(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("a", time.Minute)
	q.Add("a")
	after(time.Minute + heartbeat)
	assert.Equal(t, []string{"a"}, takeAll(t, q, 1))
	expectEmpty(t, q, "after the one delivery")
}

func delayingDueWhileProcessing(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.Add("a")
	take(t, q)
	q.AddAfter("a", time.Minute)
	after(time.Minute + heartbeat)
	p := get(t, q)
	assert.Equal(t, "blocked", p.String(), "Get while the item is processed")
	q.Done("a")
	synctest.Wait()
	assert.Equal(t, `"a"`, p.String(), "the blocked Get after Done")
}

func delayingLenExcludesWaiting(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("a", time.Hour)
	synctest.Wait()
	assert.Equal(t, 0, q.Len())
}

func delayingShutdownDropsWaiting(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	q.AddAfter("a", time.Minute)
	q.AddAfter("b", time.Hour)
	synctest.Wait()
	q.ShutDown()
	assert.Equal(t, "shutdown", get(t, q).String(), "Get after ShutDown")
	after(2 * time.Hour)
	assert.Equal(t, 0, q.Len(), "Len when the delays have passed")
}

func delayingAfterShutdown(t *trial, new newDelayingQueue) {
	for _, shutDown := range []func(workqueue.TypedDelayingInterface[string]){
		func(q workqueue.TypedDelayingInterface[string]) { q.ShutDown() },
		func(q workqueue.TypedDelayingInterface[string]) { q.ShutDownWithDrain() },
	} {
		q := plainDelaying(t, new)
		shutDown(q)
		added := t.Go(func() {
			for _, key := range keys("key", 3000) {
				q.AddAfter(key, time.Second)
				q.AddAfter(key, 0)
			}
		})
		after(time.Minute)
		assert.True(t, closed(added), "6,000 calls of AddAfter have returned")
		assert.Equal(t, 0, q.Len(), "Len")
	}
}

func delayingShutdownFreesAdders(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	var adders []<-chan struct{}
	for a := range 4 {
		adders = append(adders, t.Go(func() {
			for _, key := range keys(fmt.Sprint("adder-", a), 800) {
				q.AddAfter(key, time.Hour)
			}
		}))
	}
	t.Go(q.ShutDown)
	after(time.Minute)
	for _, added := range adders {
		assert.True(t, closed(added), "every call of AddAfter has returned")
	}
}

func delayingNoGoroutineLeftWaiting(t *trial, new newDelayingQueue) {
	q := plainDelaying(t, new)
	for i, key := range keys("key", 10) {
		q.AddAfter(key, time.Duration(i+1)*time.Minute)
	}
	after(2 * time.Minute)
	q.ShutDown()
	synctest.Wait()
	assert.Empty(t, t.Goroutines(), "goroutines left after ShutDown")
}

// delays are those that clauses about time try: from a retry to a resync.
var delays = []time.Duration{time.Millisecond, 999 * time.Millisecond, time.Second, 7*time.Minute + time.Microsecond, 3 * time.Hour}

// heartbeat is how late upstream finds a ready item at the latest.
const heartbeat = 10 * time.Second

// delayRandomClauses try what single calls don't show.
var delayRandomClauses = []clause[newDelayingQueue]{
	{name: "delay-concurrent", contract: "delaying queue", run: delayConcurrent,
		reason: "with many producers, some of them delaying, no item has two holders and each is processed after its last addition"},
	{name: "delay-differential", contract: "delaying queue", run: delayDifferential,
		reason: "on random calls every result and every metric is the one of client-go's delaying queue"},
}

func delayConcurrent(t *trial, new newDelayingQueue) {
	t.needs("earliest-wins")
	r := newRecorder()
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Name: "measured", MetricsProvider: r})
	var mu sync.Mutex
	rnd, n := t.Rand(), 0
	expectExact(t, q, func(key string) {
		mu.Lock()
		n++
		d := time.Duration(rnd.IntN(100)-50) * time.Millisecond // half of them now
		mu.Unlock()
		q.AddAfter(key, d)
	}, r)
	if got := r.value("retries"); got != float64(n) && t.measures("retries") {
		t.Errorf("retries metric is %v after %d calls of AddAfter", got, n)
	}
}

func delayDifferential(t *trial, new newDelayingQueue) {
	t.needs("never-early", "earliest-wins", "after-zero")
	rnd := t.Rand()
	for range 20 {
		compareDelaying(t, new, rnd)
	}
}
