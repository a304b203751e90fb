package impltest

import (
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// delayConfigClauses are the clauses about what a delaying queue does with its
// config.
var delayConfigClauses = []clause[newDelayingQueue]{
	{name: "delay-clock", contract: "delaying queue 6", run: delayClock,
		reason: "delays are measured with the clock in the config, so that tests of a controller need not wait"},
	{name: "heartbeat", contract: "delaying queue 6", run: delayingHeartbeat,
		reason: "a ready item is found 10 s late at the latest, even if a timer is lost"},
	{name: "injected-queue", contract: "delaying queue 10", run: delayingInjectedQueue,
		reason: "ready items go to the queue in the config, which decides their order and counts them"},
	{name: "adder-never-waits", contract: "delaying queue 8", run: delayingAdderNeverWaits,
		reason: "AddAfter does not wait for the delivery of ready items: a slow consumer of delays would stop the event handlers"},
	{name: "metrics-retries", contract: "delaying queue 10", run: delayingMetricsRetries,
		reason: "the retries metric counts every AddAfter, also one without delay, until shutdown"},
	{name: "no-retained-delayed-items", contract: "delaying queue 10", run: delayingNoRetainedDelayedItems,
		reason: "an item that was delayed, handed out and is done is not kept alive by the queue"},
}

func delayClock(t *trial, new newDelayingQueue) {
	t.needs("never-early")
	clock := fakeClock()
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
	q.AddAfter("a", time.Minute)
	after(time.Hour)
	assert.Equal(t, 0, q.Len(), "Len after an hour in which the injected clock stands still")
	clock.Step(time.Minute - 1)
	synctest.Wait()
	assert.Equal(t, 0, q.Len(), "Len 1 ns too early by the injected clock")
	clock.Step(1 + tolerance(t))
	synctest.Wait()
	assert.Equal(t, 1, q.Len(), "Len when the delay has passed by the injected clock")
}

func delayingHeartbeat(t *trial, new newDelayingQueue) {
	t.needs("delay-clock", "never-early")
	clock := &forgetful{FakeClock: fakeClock()}
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Clock: clock})
	q.AddAfter("a", time.Second)
	synctest.Wait()
	for range 11 + int(tolerance(t)/time.Second) {
		clock.Step(time.Second)
		synctest.Wait()
	}
	assert.Equal(t, 1, q.Len(), "Len 10 s after the lost timer of the item")
}

func delayingInjectedQueue(t *trial, new newDelayingQueue) {
	inner := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Queue: inner})
	q.AddAfter("a", time.Second)
	q.Add("b")
	after(time.Second + tolerance(t))
	assert.Equal(t, 2, inner.Len(), "Len of the injected queue")
	assert.Equal(t, []string{"b", "a"}, takeAll(t, inner, 2))
	q.ShutDown()
	assert.True(t, inner.ShuttingDown(), "the injected queue is shutting down")
}

func delayingAdderNeverWaits(t *trial, new newDelayingQueue) {
	inner := &blocking{
		TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{}),
		release:        make(chan struct{}),
	}
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Queue: inner})
	defer close(inner.release)
	q.AddAfter("first", time.Second)
	after(time.Second + tolerance(t)) // its delivery now blocks
	added := t.Go(func() {
		for _, key := range keys("key", 3000) {
			q.AddAfter(key, time.Hour)
		}
	})
	synctest.Wait()
	assert.True(t, closed(added), "3,000 calls of AddAfter have returned while the delivery of another item blocks")
}

func delayingMetricsRetries(t *trial, new newDelayingQueue) {
	r := newRecorder()
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Name: "measured", MetricsProvider: r})
	q.AddAfter("a", time.Second)
	q.AddAfter("a", time.Second)
	q.AddAfter("b", 0)
	q.Add("c")
	synctest.Wait()
	assert.Equal(t, 3.0, r.value("retries"), "after AddAfter of a, a, b and Add of c")
	q.ShutDown()
	q.AddAfter("a", time.Second)
	synctest.Wait()
	assert.Equal(t, 3.0, r.value("retries"), "after AddAfter of a queue that is shut down")
}

func delayingNoRetainedDelayedItems(t *trial, new newDelayingQueue) {
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{})
	n := 0
	// The first half becomes ready, the other half goes on waiting.
	watched := watch(t, func(key string) {
		n++
		q.AddAfter(key, time.Duration(n)*time.Minute)
	})
	expectDelayedCollected(t, q, watched)
}

// tolerance is how late a delaying queue may be.
func tolerance(t *trial) time.Duration {
	if t.relaxed("on-time") {
		return heartbeat
	}
	return 0
}

// forgetful is a clock that loses timers of less than the heartbeat.
type forgetful struct{ *testclock.FakeClock }

func (c *forgetful) NewTimer(d time.Duration) clock.Timer {
	if d < heartbeat {
		d = 1000 * time.Hour
	}
	return c.FakeClock.NewTimer(d)
}

func (c *forgetful) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

func (c *forgetful) AfterFunc(d time.Duration, f func()) clock.Timer {
	if d < heartbeat {
		d = 1000 * time.Hour
	}
	return c.FakeClock.AfterFunc(d, f)
}

// blocking is a queue whose Add blocks until release is closed.
type blocking struct {
	workqueue.TypedInterface[string]
	release chan struct{}
}

func (b *blocking) Add(item string) {
	<-b.release
	b.TypedInterface.Add(item)
}

// compareDelaying makes the same random calls on a new delaying queue and on
// client-go's. Ready times differ, so that their order is defined.
func compareDelaying(t *trial, new newDelayingQueue, rnd *rand.Rand) {
	r, wantR := newRecorder(), newRecorder()
	q := startDelaying(t, new, workqueue.TypedDelayingQueueConfig[string]{Name: "measured", MetricsProvider: r})
	want := startDelaying(t, workqueue.NewTypedDelayingQueueWithConfig[string],
		workqueue.TypedDelayingQueueConfig[string]{Name: "measured", MetricsProvider: wantR})
	var held []string
	log := callLog{t: t}
	names := keys("key", 1+rnd.IntN(12))
	down := rnd.IntN(diffCalls * 2)
	ordered := !t.unordered() && !t.relaxed("on-time")
	for i := range diffCalls {
		switch op := rnd.IntN(12); {
		case i == down:
			log.add("ShutDown")
			q.ShutDown()
			want.ShutDown()
		case op < 2 && !t.relaxed("add-keeps-waiting"):
			key := names[rnd.IntN(len(names))]
			log.add("Add(%s)", key)
			q.Add(key)
			want.Add(key)
		case op < 5:
			key := names[rnd.IntN(len(names))]
			d := time.Duration(rnd.IntN(5000)-500)*time.Millisecond + time.Duration(i)
			log.add("AddAfter(%s, %v)", key, d)
			q.AddAfter(key, d)
			want.AddAfter(key, d)
		case op < 8:
			if want.Len() == 0 && !want.ShuttingDown() || !ordered {
				continue
			}
			log.add("Get")
			got, expected := get(t, q), get(t, want)
			log.equal(expected.String(), got.String(), "Get")
			if a := expected.answer.Load(); !a.shutdown {
				held = append(held, a.item)
			}
		case op < 10:
			if len(held) == 0 {
				continue
			}
			at := rnd.IntN(len(held))
			log.add("Done(%s)", held[at])
			q.Done(held[at])
			want.Done(held[at])
			held = slices.Delete(held, at, at+1)
		default:
			d := time.Duration(rnd.IntN(1500)) * time.Millisecond
			log.add("%v pass", d)
			time.Sleep(d)
		}
		synctest.Wait()
		if t.relaxed("on-time") {
			continue
		}
		log.equal(want.Len(), q.Len(), "Len")
		if ordered {
			log.equal(t.measurements(wantR), t.measurements(r), "metrics")
		}
	}
	after(5*time.Second + tolerance(t))
	if t.relaxed("on-time") || !ordered {
		return
	}
	log.equal(want.Len(), q.Len(), "Len at the end")
}
