package conformance

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

func containsWord(s string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// An injected clock may be set back, also to before the queue was made, and an item
// is ready when its delay has passed since AddAfter, neither later nor earlier.
func TestClockSetBack(t *testing.T) {
	for name, make := range clockedQueues() {
		for _, back := range []time.Duration{time.Second, 10 * time.Second, time.Hour, 100 * 365 * 24 * time.Hour} {
			t.Run(fmt.Sprint(name, "/", back), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
					q := make(c)
					defer q.ShutDown()
					c.SetTime(c.Now().Add(-back))
					q.AddAfter("a", 10*time.Second)
					synctest.Wait()
					c.Step(10*time.Second - time.Millisecond)
					synctest.Wait()
					assert.Zero(t, q.Len(), "early")
					c.Step(time.Millisecond)
					synctest.Wait()
					assert.Equal(t, 1, q.Len(), "10 s after AddAfter")
				})
			})
		}
	}
}

// steppingOnce is a fake clock that steps while a timer is made or reset, once.
type steppingOnce struct {
	*clocktesting.FakeClock
	step *atomic.Int64
}

func (c steppingOnce) move() { c.Step(time.Duration(c.step.Swap(0))) }

func (c steppingOnce) NewTimer(d time.Duration) clock.Timer {
	c.move()
	return steppingTimer{c.FakeClock.NewTimer(d), c}
}

type steppingTimer struct {
	clock.Timer
	clock steppingOnce
}

func (t steppingTimer) Reset(d time.Duration) bool {
	t.clock.move()
	return t.Timer.Reset(d)
}

// A step while the timer is armed is found at once, however small it is: the item is
// ready when its time has come, not at the following step.
func TestClockStepsWhileTimerIsArmed(t *testing.T) {
	for name, make := range clockedQueues() {
		for _, step := range []time.Duration{1, 500 * time.Microsecond, 999_999, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond} {
			t.Run(fmt.Sprint(name, "/", step), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := steppingOnce{clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0)), new(atomic.Int64)}
					q := make(c)
					defer q.ShutDown()
					for _, item := range []string{"new timer", "timer reset"} {
						synctest.Wait()
						c.step.Store(int64(step))
						q.AddAfter(item, 10*time.Millisecond)
						synctest.Wait()
						assert.Zero(t, c.step.Load(), "the clock did not step")
						c.Step(10*time.Millisecond - step)
						synctest.Wait()
						assert.Equal(t, 1, q.Len(), "%s: 10 ms after AddAfter", item)
						q.Get()
						q.Done(item)
					}
				})
			})
		}
	}
}

// A queue may be made outside of a synctest bubble and used by many goroutines in
// several of them, one after the other, and outside again.
func TestQueueIsSharedBetweenBubbles(t *testing.T) {
	queues := map[string]workqueue.TypedInterface[string]{"priority-queue/levels": priority.NewWithConfig(priority.Config[string]{})}
	for _, v := range impl.Queues[string]() {
		if !v.Peer {
			queues["queue/"+v.Name] = v.New(workqueue.TypedQueueConfig[string]{})
		}
	}
	for name, q := range queues {
		t.Run(name, func(t *testing.T) {
			defer q.ShutDown()
			contend := func() {
				var workers sync.WaitGroup
				for worker := range 8 {
					workers.Go(func() {
						for i := range 500 {
							q.Add(podKey(1000*worker + i)) // nobody else's, so there is an item for each Get
							item, _ := q.Get()
							q.Done(item)
						}
					})
				}
				workers.Wait()
			}
			for range 3 {
				synctest.Test(t, func(*testing.T) { contend() })
				contend()
			}
			assert.Zero(t, q.Len())
		})
	}
}
