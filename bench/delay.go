package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

type delayVariant = impl.Variant[impl.NewDelayingQueue[string]]

func delayCases() []Case {
	c := component[impl.NewDelayingQueue[string]]{"delaying-queue", "client-go", impl.DelayingQueues[string]()}
	var questions []question[impl.NewDelayingQueue[string]]
	for _, n := range []int{10_000, 1_000_000} {
		questions = append(questions,
			question[impl.NewDelayingQueue[string]]{
				name: "op=schedule/n=" + human(n), unit: cpuTime, quick: n == 10_000, needs: []string{"injected-clock"},
				summary: "n items are scheduled at random times of the next hour, none is due",
				run:     func(b *testing.B, v delayVariant) { schedule(b, v, n) },
			},
			question[impl.NewDelayingQueue[string]]{
				name: "op=reschedule/n=" + human(n), unit: cpuTime, needs: []string{"injected-clock"},
				summary: "each of n pending items is scheduled again, half of them earlier than before",
				run:     func(b *testing.B, v delayVariant) { reschedule(b, v, n) },
			},
			question[impl.NewDelayingQueue[string]]{
				name: "op=pop-due/n=" + human(n), unit: cpuTime, needs: []string{"injected-clock"},
				summary: "n pending items fall due at once and are got and done",
				run:     func(b *testing.B, v delayVariant) { popDue(b, v, n) },
			})
	}
	null := func(workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
		return &nullQueue[string]{turn: turn[string]{keys: []string{settled}}, adds: 1}
	}
	return c.cases(withNull(null, questions...)...)
}

// A steppedClock stands still until it is stepped. Its tickers tick once a step,
// where the fake clock would count every tick in it: a timer that was set while
// the clock was stepped may be lost, and then that heartbeat finds what is due.
type steppedClock struct {
	*clocktesting.FakeClock
	beat stepTicker
}

func newSteppedClock() steppedClock {
	return steppedClock{clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0)), make(stepTicker, 1)}
}

// Step moves the time and then ticks.
func (c steppedClock) Step(d time.Duration) {
	c.FakeClock.Step(d)
	select {
	case c.beat <- c.Now():
	default: // a tick is to be read
	}
}

func (c steppedClock) NewTicker(time.Duration) clock.Ticker { return c.beat }

type stepTicker chan time.Time

func (t stepTicker) C() <-chan time.Time { return t }
func (stepTicker) Stop()                 {}

// A delayed is a delaying queue under a clock that stands still.
type delayed struct {
	workqueue.TypedDelayingInterface[string]
	clock steppedClock
}

func newDelayed(v delayVariant) delayed {
	clock := newSteppedClock()
	return delayed{v.New(workqueue.TypedDelayingQueueConfig[string]{Clock: clock}), clock}
}

// settled is the item that settle waits for.
const settled = "the last one"

// settle returns when everything that was scheduled before has arrived: items
// may travel to a loop of the queue's own, in order, and one that is due by
// the time it arrives comes out at once.
func (q delayed) settle(b *testing.B) {
	q.AddAfter(settled, time.Nanosecond)
	q.clock.Step(time.Millisecond)
	item, _ := q.Get()
	if item != settled {
		b.Fatalf("%q came out, expected nothing to be due", item)
	}
	q.Done(item)
}

// delaysOf are times of the next hour, none within the first minute.
func delaysOf(n int, seed uint64) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 0))
	delays := make([]time.Duration, n)
	for i := range delays {
		delays[i] = time.Minute + time.Duration(r.Int64N(int64(time.Hour)))
	}
	return delays
}

func schedule(b *testing.B, v delayVariant, n int) {
	keys, delays := stringKeys(n), delaysOf(n, 1)
	fill := func() delayed {
		q := newDelayed(v)
		for i, key := range keys {
			q.AddAfter(key, delays[i])
		}
		q.settle(b)
		return q
	}
	before := liveHeap()
	q := fill()
	live := liveSince(before)
	q.ShutDown()
	measured(b, n, false, func() { fill().ShutDown() })
	b.ReportMetric(float64(live)/float64(n), "live-B/item")
}

func reschedule(b *testing.B, v delayVariant, n int) {
	keys, delays, again := stringKeys(n), delaysOf(n, 1), delaysOf(n, 2)
	var s stopwatch
	for b.Loop() {
		q := newDelayed(v)
		for i, key := range keys {
			q.AddAfter(key, delays[i])
		}
		q.settle(b)
		s.start()
		for i, key := range keys {
			q.AddAfter(key, again[i])
		}
		q.settle(b)
		s.stop(n)
		q.ShutDown()
	}
	s.report(b, false)
}

func popDue(b *testing.B, v delayVariant, n int) {
	keys, delays := stringKeys(n), delaysOf(n, 1)
	due := make(map[string]time.Duration, n)
	for i, key := range keys {
		due[key] = delays[i]
	}
	out := make([]string, n)
	var s stopwatch
	for b.Loop() {
		q := newDelayed(v)
		for i, key := range keys {
			q.AddAfter(key, delays[i])
		}
		q.settle(b)
		s.start()
		q.clock.Step(2 * time.Hour)
		for i := range out {
			out[i], _ = q.Get()
			q.Done(out[i])
		}
		s.stop(n)
		early := 0
		for i := 1; i < n; i++ {
			// A variant may answer in ticks: order counts from a millisecond up.
			if due[out[i]]+time.Millisecond < due[out[i-1]] {
				early++
			}
		}
		if early > 0 || q.Len() != 0 {
			b.Fatalf("%d items came before one that was due earlier, %d left", early, q.Len())
		}
		q.ShutDown()
	}
	s.report(b, false)
}
