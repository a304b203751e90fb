package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	cpuTime  = "cpu-sec/op"
	wallTime = "sec/op"
)

func queueCases() []benchCase {
	return []benchCase{
		{"queue", "op=cycle/n=10k", "Add, Get, Done of one item after the other", cpuTime, cycle},
		{"queue", "op=backlog/n=100k", "n items are added, then all are got and done", cpuTime, backlog},
		{"queue", "op=concurrent/producers=4/workers=16", "four producers and sixteen workers share a queue", cpuTime, concurrent},
		{"delaying-queue", "op=delay/n=10k", "n items are scheduled at random times of an hour, fall due and are got", cpuTime, delay},
		{"rate-limiting-queue", "op=retry/n=1k", "each item fails once, comes back and is forgotten", cpuTime, retry},
	}
}

func keys(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("team-%d/web-%06d-x7k2p", i/1000, i)
	}
	return list
}

func cycle(b *testing.B) {
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
	defer q.ShutDown()
	list, next, wrong := keys(10_000), 0, 0
	const batch = 100 // keeps b.Loop's own cost out of the figures
	measured(b, batch, func() {
		for _, key := range list[next : next+batch] {
			q.Add(key)
			got, _ := q.Get()
			if got != key {
				wrong++
			}
			q.Done(got)
		}
		next = (next + batch) % len(list)
	})
	if wrong > 0 || q.Len() != 0 {
		b.Fatalf("%d of the items got were not the one added, %d left in the queue", wrong, q.Len())
	}
}

func backlog(b *testing.B) {
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
	defer q.ShutDown()
	list, wrong := keys(100_000), 0
	measured(b, len(list), func() {
		for _, key := range list {
			q.Add(key)
		}
		for _, key := range list {
			got, _ := q.Get()
			if got != key {
				wrong++
			}
			q.Done(got)
		}
	})
	if wrong > 0 || q.Len() != 0 {
		b.Fatalf("%d items out of order, %d left in the queue", wrong, q.Len())
	}
}

func concurrent(b *testing.B) {
	const producers, workers, window = 4, 16, 4096
	list := keys(64 * window)
	measured(b, len(list), func() {
		q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{})
		var adding, working sync.WaitGroup
		slots := make(chan struct{}, window)
		got := make([]int, workers)
		for p := range producers {
			adding.Go(func() {
				for i := p; i < len(list); i += producers {
					slots <- struct{}{}
					q.Add(list[i])
				}
			})
		}
		for w := range workers {
			working.Go(func() {
				for {
					key, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(key)
					got[w]++
					<-slots
				}
			})
		}
		adding.Wait()
		q.ShutDown()
		working.Wait()
		sum := 0
		for _, n := range got {
			sum += n
		}
		if sum != len(list) {
			b.Fatalf("%d items got, expected %d", sum, len(list))
		}
	})
}

// A steppedClock stands still until it is stepped, and has no heartbeat: the
// fake clock would count a step tick by tick.
type steppedClock struct{ *clocktesting.FakeClock }

func newSteppedClock() steppedClock {
	return steppedClock{clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))}
}

func (steppedClock) NewTicker(time.Duration) clock.Ticker { return silentTicker{} }

type silentTicker struct{}

func (silentTicker) C() <-chan time.Time { return nil }
func (silentTicker) Stop()               {}

// untilDue steps until n items are ready: some may still be on their way into
// the heap at the first step.
func untilDue(c steppedClock, n int, ready func() int) {
	for ready() < n {
		c.Step(2 * time.Hour)
		runtime.Gosched()
	}
}

func delay(b *testing.B) {
	c := newSteppedClock()
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: c})
	defer q.ShutDown()
	list := keys(10_000)
	r := rand.New(rand.NewPCG(1, 1))
	delays := make([]time.Duration, len(list))
	for i := range delays {
		delays[i] = time.Second + time.Duration(r.Int64N(int64(time.Hour)))
	}
	measured(b, len(list), func() {
		for i, key := range list {
			q.AddAfter(key, delays[i])
		}
		untilDue(c, len(list), q.Len)
		for range list {
			key, _ := q.Get()
			q.Done(key)
		}
	})
	if q.Len() != 0 {
		b.Fatalf("%d items left in the queue", q.Len())
	}
}

func retry(b *testing.B) {
	c := newSteppedClock()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	q := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
	defer q.ShutDown()
	list, wrong := keys(1000), 0
	measured(b, len(list), func() {
		for _, key := range list {
			q.Add(key)
		}
		for range list {
			key, _ := q.Get()
			q.AddRateLimited(key)
			q.Done(key)
		}
		untilDue(c, len(list), q.Len)
		for range list {
			key, _ := q.Get()
			if q.NumRequeues(key) != 1 {
				wrong++
			}
			q.Forget(key)
			q.Done(key)
		}
	})
	if wrong > 0 || q.Len() != 0 {
		b.Fatalf("%d items did not come back as failed once, %d left in the queue", wrong, q.Len())
	}
}
