package delay

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

type newQueue = func(workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string]

var variants = map[string]newQueue{
	"heap":  NewHeap[string],
	"heap4": NewHeap4[string],
	// With a tick of one nanosecond a wheel is exact.
	"wheel": func(c workqueue.TypedDelayingQueueConfig[string]) workqueue.TypedDelayingInterface[string] {
		return NewWheel(c, time.Nanosecond)
	},
}

// each runs test on every variant in a bubble of its own, so that time is
// virtual and a leaked goroutine is a deadlock.
func each(t *testing.T, test func(t *testing.T, new newQueue)) {
	for name, new := range variants {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, new) })
		})
	}
}

// take gets and finishes everything that is ready.
func take(q workqueue.TypedInterface[string]) []string {
	var items []string
	for q.Len() > 0 {
		item, _ := q.Get()
		q.Done(item)
		items = append(items, item)
	}
	return items
}

func TestReadyInOrderOfTime(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		q := new(workqueue.TypedDelayingQueueConfig[string]{})
		defer q.ShutDown()
		q.AddAfter("third", 3*time.Second)
		q.AddAfter("first", time.Second)
		q.AddAfter("second", 2*time.Second)
		q.AddAfter("second too", 2*time.Second)
		q.AddAfter("at once", 0)
		require.Equal(t, []string{"at once"}, take(q))
		time.Sleep(time.Second - 1)
		synctest.Wait()
		require.Empty(t, take(q), "ready a nanosecond early")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"first", "second", "second too", "third"}, take(q))
	})
}

func TestEarlierTimeIsKept(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		q := new(workqueue.TypedDelayingQueueConfig[string]{})
		defer q.ShutDown()
		q.AddAfter("sooner", time.Hour)
		q.AddAfter("sooner", time.Second)
		q.AddAfter("later", time.Second)
		q.AddAfter("later", time.Hour)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"sooner", "later"}, take(q))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		require.Empty(t, take(q), "delivered twice")
	})
}

func TestAddDoesNotCancel(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		q := new(workqueue.TypedDelayingQueueConfig[string]{})
		defer q.ShutDown()
		q.AddAfter("key", time.Second)
		q.Add("key")
		require.Equal(t, []string{"key"}, take(q))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"key"}, take(q))
	})
}

// What waits at shutdown is dropped, AddAfter does nothing any more, and the
// bubble finds a goroutine that stays.
func TestShutDownDropsAndEnds(t *testing.T) {
	for name, shutDown := range map[string]func(workqueue.TypedInterface[string]){
		"ShutDown":          workqueue.TypedInterface[string].ShutDown,
		"ShutDownWithDrain": workqueue.TypedInterface[string].ShutDownWithDrain,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, new newQueue) {
				q := new(workqueue.TypedDelayingQueueConfig[string]{})
				q.AddAfter("waits", time.Second)
				q.Add("ready")
				shutDown(q)
				q.AddAfter("too late", time.Second)
				q.AddAfter("too late", 0)
				shutDown(q)
				item, over := q.Get()
				require.Equal(t, "ready", item)
				require.False(t, over)
				q.Done(item)
				time.Sleep(time.Minute)
				synctest.Wait()
				_, over = q.Get()
				require.True(t, over)
			})
		})
	}
}

func TestNoGoroutineStays(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for name, new := range variants {
		q := new(workqueue.TypedDelayingQueueConfig[string]{Name: name})
		q.AddAfter("waits", time.Hour)
		q.ShutDownWithDrain()
	}
	goleak.VerifyNone(t, before)
}

// A queue that the caller brought and shuts down ends the loop as well.
func TestInnerQueueShutDown(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		inner := workqueue.NewTyped[string]()
		q := new(workqueue.TypedDelayingQueueConfig[string]{Queue: inner, Name: "named"})
		q.AddAfter("waits", time.Second)
		inner.ShutDown()
		q.AddAfter("too late", time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, q.Len())
	})
}

// full is a queue whose Add ends everything.
type full struct {
	workqueue.TypedInterface[string]
	end func()
}

func (q *full) Add(string) { q.end() }

// Upstream's ShutDown does not wait for the loop, which may be the one that calls it.
func TestShutDownFromTheInnerQueue(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		for _, drain := range []bool{false, true} {
			inner := &full{TypedInterface: workqueue.NewTyped[string]()}
			q := new(workqueue.TypedDelayingQueueConfig[string]{Queue: inner})
			ended := make(chan struct{})
			inner.end = func() {
				if drain {
					q.ShutDownWithDrain()
				} else {
					q.ShutDown()
				}
				close(ended)
			}
			q.AddAfter("last", time.Second)
			<-ended
		}
	})
}

// lossy is a clock whose timers never fire.
type lossy struct{ clock.RealClock }

func (lossy) NewTimer(time.Duration) clock.Timer {
	return clock.RealClock{}.NewTimer(1000 * time.Hour)
}

func TestHeartbeatFindsWhatALostTimerMissed(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		q := new(workqueue.TypedDelayingQueueConfig[string]{Clock: lossy{}})
		defer q.ShutDown()
		q.AddAfter("key", time.Second)
		time.Sleep(alarm.Heartbeat)
		synctest.Wait()
		require.Equal(t, []string{"key"}, take(q))
	})
}

// A fake clock that leaps over many ready times, stands still and leaps again,
// while the loop re-uses its timer.
func TestFakeClock(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		fake := clocktesting.NewFakeClock(time.Unix(0, 0))
		q := new(workqueue.TypedDelayingQueueConfig[string]{Clock: fake})
		defer q.ShutDown()
		require.True(t, fake.HasWaiters(), "no heartbeat")
		for range 100 {
			q.AddAfter("a", 50*time.Millisecond)
			q.AddAfter("b", 20*time.Second)
			synctest.Wait()
			fake.Step(50 * time.Millisecond)
			synctest.Wait()
			require.Equal(t, []string{"a"}, take(q))
			fake.Step(time.Hour)
			synctest.Wait()
			require.Equal(t, []string{"b"}, take(q))
		}
	})
}

func TestLongestDelay(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		q := new(workqueue.TypedDelayingQueueConfig[string]{})
		defer q.ShutDown()
		time.Sleep(time.Second)
		q.AddAfter("never", 1<<63-1)
		q.AddAfter("soon", time.Second)
		time.Sleep(24 * time.Hour) // virtual, though each heartbeat in it takes time
		synctest.Wait()
		require.Equal(t, []string{"soon"}, take(q))
	})
}

// explosive is a clock that panics on demand.
type explosive struct {
	clock.RealClock
	armed bool
}

func (e *explosive) Since(begin time.Time) time.Duration {
	if e.armed {
		panic("the clock exploded")
	}
	return e.RealClock.Since(begin)
}

func TestPanicInClockLeavesNoLock(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		c := &explosive{}
		q := new(workqueue.TypedDelayingQueueConfig[string]{Clock: c})
		defer q.ShutDown()
		synctest.Wait()
		c.armed = true
		require.PanicsWithValue(t, "the clock exploded", func() { q.AddAfter("key", time.Second) })
		c.armed = false
		q.AddAfter("key", time.Second)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"key"}, take(q))
	})
}

func TestUnhashableKeyLeavesNoLock(t *testing.T) {
	for name, new := range map[string]func(workqueue.TypedDelayingQueueConfig[any]) workqueue.TypedDelayingInterface[any]{
		"heap":  NewHeap[any],
		"heap4": NewHeap4[any],
	} {
		t.Run(name, func(t *testing.T) {
			q := new(workqueue.TypedDelayingQueueConfig[any]{})
			for _, key := range []any{[]int{1}, [2]any{math.NaN(), []int{1}}} { // the second differs from itself before it comes to the slice
				require.Panics(t, func() { q.AddAfter(key, time.Hour) })
			}
			q.AddAfter(1, time.Hour)
			q.ShutDown()
		})
	}
}

// A steppingClock is later by a step at each look.
type steppingClock struct {
	*clocktesting.FakeClock
	step time.Duration
}

func (c steppingClock) Since(t time.Time) time.Duration {
	c.Step(c.step)
	return c.FakeClock.Since(t)
}

// A clock that steps at each look neither keeps a timer from being set nor the queue
// from shutting down.
func TestSteppingClock(t *testing.T) {
	each(t, func(t *testing.T, new newQueue) {
		c := steppingClock{clocktesting.NewFakeClock(time.Unix(0, 0)), 2 * time.Millisecond}
		q := new(workqueue.TypedDelayingQueueConfig[string]{Clock: c})
		q.AddAfter("key", time.Second)
		synctest.Wait() // for ever, were the loop to look again and again
		require.Zero(t, q.Len())
		c.Step(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"key"}, take(q))
		q.ShutDown()
	})
}

// Heap4 drops outdated nodes before they outnumber the keys.
func TestOutdatedNodesAreBounded(t *testing.T) {
	h := newHeap4[string]()
	for i := range 100_000 {
		h.add(h.hash("key"), "key", 0, int64(1_000_000-i))
		require.LessOrEqual(t, h.times.Len(), 2*h.keys.Len()+64)
	}
	require.Equal(t, []string{"key"}, h.due(1_000_000, nil, 10))
	require.Equal(t, int64(never), h.next())
}
