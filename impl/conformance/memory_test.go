package conformance

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// A memoryQueue is what the patterns of TestMemoryIsBounded do to a queue. The two
// functions at its end are nil where the queue can't do that.
type memoryQueue struct {
	workqueue.TypedInterface[string]
	clock    *clocktesting.FakeClock
	addAt    func(item string, priority int)
	addAfter func(item string, d time.Duration)
}

// podKey makes a key whose bytes are its own, so that one that is kept shows.
func podKey(i int) string { return fmt.Sprintf("namespace-%04d/a-pod-with-a-name-%d", i%1000, i) }

// pass gets and finishes an item.
func (q memoryQueue) pass() {
	item, _ := q.Get()
	q.Done(item)
}

// patterns leave a queue with one item in processing and none queued or waiting.
// What they have used for n others must be given back.
var patterns = map[string]func(q memoryQueue, n int){
	"one after the other": func(q memoryQueue, n int) {
		for i := range n {
			q.Add(podKey(i))
			q.pass()
		}
	},
	"a burst": func(q memoryQueue, n int) {
		for i := range n {
			q.Add(podKey(i))
		}
		for range n {
			q.pass()
		}
	},
	"a burst of workers": func(q memoryQueue, n int) {
		for i := range n {
			q.Add(podKey(i))
		}
		for range n {
			q.Get()
		}
		for i := range n {
			q.Done(podKey(i))
		}
	},
	"one hot key": func(q memoryQueue, n int) {
		q.Add("hot")
		for range n {
			item, _ := q.Get()
			q.Add(item)
			q.Done(item)
		}
		q.pass()
	},
	"rising priorities": func(q memoryQueue, n int) {
		for i := range n {
			q.addAt(podKey(i), i)
			q.pass()
		}
	},
	"falling priorities": func(q memoryQueue, n int) {
		for i := range n {
			q.addAt(podKey(i), -i)
			q.pass()
		}
	},
	"a burst of priorities": func(q memoryQueue, n int) {
		for i := range n {
			q.addAt(podKey(i), i*7919%n)
		}
		for range n {
			q.pass()
		}
	},
	"a key whose priority rises": func(q memoryQueue, n int) {
		for i := range n {
			q.addAt("raised", i)
		}
		q.pass()
	},
	"a held key whose priority rises": func(q memoryQueue, n int) {
		q.Add("raised")
		q.Get()
		for i := range n {
			q.addAt("raised", i)
		}
		q.Done("raised")
		q.pass()
	},
	"a key whose time comes closer": func(q memoryQueue, n int) {
		for i := range n {
			q.addAfter("closer", time.Duration(2*n-i)*time.Second)
		}
		q.due(time.Duration(2*n)*time.Second, 1)
	},
	"a burst that is due at once": func(q memoryQueue, n int) {
		for i := range n {
			q.addAfter(podKey(i), time.Duration(1+i*7919%n)*time.Millisecond)
		}
		q.due(time.Duration(n)*time.Second, n)
	},
	"a burst whose times come closer": func(q memoryQueue, n int) {
		for closer := range 3 {
			for i := range n {
				q.addAfter(podKey(i), time.Duration(4-closer)*time.Hour)
			}
		}
		q.due(5*time.Hour, n)
	},
}

// due lets time pass until n items are queued, and passes them.
func (q memoryQueue) due(d time.Duration, n int) {
	q.clock.Step(d)
	for range n {
		q.pass()
	}
}

// memoryQueues are all variants of ours that hold items.
func memoryQueues() map[string]func(c *clocktesting.FakeClock) memoryQueue {
	all := map[string]func(*clocktesting.FakeClock) memoryQueue{
		"priority-queue/levels": func(c *clocktesting.FakeClock) memoryQueue {
			q := priority.NewWithConfig(priority.Config[string]{Clock: c})
			return memoryQueue{q, c, func(item string, p int) { q.AddWithOpts(priorityqueue.AddOpts{Priority: &p}, item) }, q.AddAfter}
		},
		"priority-queue/levels, oldest at times": func(c *clocktesting.FakeClock) memoryQueue {
			q := priority.NewWithConfig(priority.Config[string]{Clock: c, OldestEvery: 1000})
			return memoryQueue{q, c, func(item string, p int) { q.AddWithOpts(priorityqueue.AddOpts{Priority: &p}, item) }, q.AddAfter}
		},
	}
	for _, v := range impl.Queues[string]() {
		if !v.Peer {
			all["queue/"+v.Name] = func(c *clocktesting.FakeClock) memoryQueue {
				return memoryQueue{v.New(workqueue.TypedQueueConfig[string]{Clock: c}), c, nil, nil}
			}
		}
	}
	for _, v := range impl.DelayingQueues[string]() {
		if !v.Peer {
			all["delaying-queue/"+v.Name] = func(c *clocktesting.FakeClock) memoryQueue {
				q := v.New(workqueue.TypedDelayingQueueConfig[string]{Clock: c})
				return memoryQueue{q, c, nil, q.AddAfter}
			}
		}
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		if !v.Peer {
			all["rate-limiting-queue/"+v.Name] = func(c *clocktesting.FakeClock) memoryQueue {
				limiter := impl.RateLimiters[string]()[1].New()
				q := v.New(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
				return memoryQueue{q, c, nil, q.AddAfter}
			}
		}
	}
	return all
}

// Memory is bounded by what a queue holds, whatever went through it before: after n
// items, of which one is left, it keeps less than eight bytes for each, where one is
// more than forty bytes long.
func TestMemoryIsBounded(t *testing.T) {
	const n = 100_000
	for name, make := range memoryQueues() {
		for pattern, run := range patterns {
			t.Run(name+"/"+pattern, func(t *testing.T) {
				c := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
				q := make(c)
				defer q.ShutDown()
				if q.addAt == nil && containsWord(pattern, "priorit") || q.addAfter == nil && containsWord(pattern, "time", "due") {
					t.Skip("this queue has no such items")
				}
				q.Add("held")
				q.Get()
				run(q, 10)
				before := heapBytes()
				run(q, n)
				kept := heapBytes() - before
				assert.Less(t, kept, int64(8*n), "bytes kept with one item in processing, after %d", n)
				assert.Zero(t, q.Len())
				runtime.KeepAlive(q)
			})
		}
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// clockedQueues are all variants of ours with delays.
func clockedQueues() map[string]func(clock.WithTicker) workqueue.TypedDelayingInterface[string] {
	all := map[string]func(clock.WithTicker) workqueue.TypedDelayingInterface[string]{
		"priority-queue/levels": func(c clock.WithTicker) workqueue.TypedDelayingInterface[string] {
			return priority.NewWithConfig(priority.Config[string]{Clock: c})
		},
	}
	for _, v := range impl.DelayingQueues[string]() {
		if !v.Peer {
			all["delaying-queue/"+v.Name] = func(c clock.WithTicker) workqueue.TypedDelayingInterface[string] {
				return v.New(workqueue.TypedDelayingQueueConfig[string]{Clock: c})
			}
		}
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		if !v.Peer {
			all["rate-limiting-queue/"+v.Name] = func(c clock.WithTicker) workqueue.TypedDelayingInterface[string] {
				return v.New(impl.RateLimiters[string]()[0].New(), workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
			}
		}
	}
	return all
}
