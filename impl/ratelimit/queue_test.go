package ratelimit

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

type (
	queueConfig = workqueue.TypedRateLimitingQueueConfig[string]
	rateQueue   = workqueue.TypedRateLimitingInterface[string]
)

// queues are our queues, each with a limiter of ours.
var queues = map[string]func(queueConfig) rateQueue{
	"heap":  func(c queueConfig) rateQueue { return NewHeapQueue(NewMapDefault[string](), c) },
	"heap4": func(c queueConfig) rateQueue { return NewHeap4Queue[string](NewDefault[string](), c) },
	"fused": func(c queueConfig) rateQueue { return NewFusedQueue[string](NewDefault[string](), c) },
	"fused, a limiter from elsewhere": func(c queueConfig) rateQueue {
		return NewFusedQueue(workqueue.DefaultTypedControllerRateLimiter[string](), c)
	},
}

// replay runs operations on our queue and client-go's in virtual time and
// compares every result and every metric. Two bytes are an operation.
func replay(t *testing.T, new func(queueConfig) rateQueue, ops []byte) {
	synctest.Test(t, func(t *testing.T) {
		ourMetrics, theirMetrics := newRecorder(), newRecorder()
		ours := new(queueConfig{Name: "ours", MetricsProvider: ourMetrics})
		theirs := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
			queueConfig{Name: "theirs", MetricsProvider: theirMetrics})
		defer ours.ShutDown()
		defer theirs.ShutDown()
		var held []string
		for i := 0; i+1 < len(ops); i += 2 {
			op, arg := ops[i]%12, ops[i+1]
			at := fmt.Sprintf("operation %d: %d(%d)", i/2, op, arg)
			key := fmt.Sprint("key", arg%13)
			switch op {
			case 0:
				ours.Add(key)
				theirs.Add(key)
			case 1:
				d := time.Duration(arg) * time.Duration(arg) * 37 * time.Microsecond
				ours.AddAfter(key, d)
				theirs.AddAfter(key, d)
			case 2, 3, 4:
				ours.AddRateLimited(key)
				theirs.AddRateLimited(key)
			case 5, 6:
				if theirs.Len() == 0 {
					break
				}
				want, _ := theirs.Get()
				got, _ := ours.Get()
				require.Equal(t, want, got, at)
				held = append(held, got)
			case 7, 8:
				if len(held) == 0 {
					break
				}
				n := int(arg) % len(held)
				ours.Done(held[n])
				theirs.Done(held[n])
				held = append(held[:n], held[n+1:]...)
			case 9:
				ours.Forget(key)
				theirs.Forget(key)
			case 10, 11:
				time.Sleep(time.Duration(arg)*time.Duration(arg)*300*time.Microsecond + 7)
			}
			synctest.Wait()
			require.Equal(t, theirs.Len(), ours.Len(), at)
			require.Equal(t, theirs.NumRequeues(key), ours.NumRequeues(key), at)
			time.Sleep(1013) // two calls at one moment could have one ready time
			synctest.Wait()
			requireSame(t, theirMetrics, ourMetrics, at)
		}
		time.Sleep(20 * time.Minute) // past the longest back-off
		synctest.Wait()
		for theirs.Len() > 0 {
			want, _ := theirs.Get()
			got, _ := ours.Get()
			require.Equal(t, want, got, "at the end")
		}
		require.Zero(t, ours.Len())
	})
}

func TestQueuesMatchClientGo(t *testing.T) {
	for name, new := range queues {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				seed := rand.Uint64()
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					ops := make([]byte, 800)
					for i := range ops {
						ops[i] = byte(rng.Uint32())
					}
					replay(t, new, ops)
				})
			}
		})
	}
}

func FuzzQueuesMatchClientGo(f *testing.F) {
	f.Add([]byte{0, 1, 5, 0, 2, 1, 7, 0, 10, 99, 5, 0, 9, 1, 7, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		for name, new := range queues {
			t.Run(name, func(t *testing.T) { replay(t, new, ops[:min(len(ops), 300)]) })
		}
	})
}

// verify states the invariant of fused.
func (q *fused[T]) verify(t *testing.T) {
	q.Lock()
	defer q.Unlock()
	length, queued, waiting := 0, 0, 0
	for slot := q.Ready.Head; length < q.Ready.Len; slot = q.Keys.At(slot).Word & core.End {
		length++
		require.EqualValues(t, uint32(core.Dirty), q.Keys.At(slot).Word&(core.Dirty|core.Processing))
	}
	for _, e := range q.Keys.All() {
		require.NotEqual(t, core.Entry[wait]{}, *e, "an entry that nothing needs")
		if e.Word&(core.Dirty|core.Processing) == core.Dirty {
			queued++
		}
		if e.X != 0 {
			waiting++
		}
	}
	require.Equal(t, length, queued)
	require.Equal(t, q.times.N, waiting)
	require.LessOrEqual(t, q.times.Len(), 2*waiting+64)
	if waiting > 0 {
		require.LessOrEqual(t, q.armed, q.times.Min().At)
	}
}

func TestFusedInvariant(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fake := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := NewFusedQueue[int](NewDefault[int](WithClock(fake)), workqueue.TypedRateLimitingQueueConfig[int]{Clock: fake}).(*fused[int])
	var held []int
	for range 20_000 {
		key := rng.IntN(300)
		switch rng.IntN(9) {
		case 0:
			q.Add(key)
		case 1, 2:
			q.AddAfter(key, time.Duration(rng.IntN(1e9)))
		case 3:
			q.AddRateLimited(key)
		case 4, 5:
			if q.Len() > 0 {
				item, _ := q.Get()
				held = append(held, item)
			}
		case 6, 7:
			if len(held) > 0 {
				q.Done(held[0])
				held = held[1:]
			}
			q.Done(-1)
			q.Forget(key)
		case 8:
			fake.Step(time.Duration(rng.IntN(1e8)))
		}
		if rng.IntN(10) == 0 {
			q.verify(t)
		}
	}
	for _, item := range held {
		q.Done(item)
	}
	for key := range 300 {
		q.Forget(key)
	}
	q.ShutDown()
	q.verify(t)
	for q.Len() > 0 {
		item, _ := q.Get()
		q.Done(item)
	}
	require.Zero(t, q.Keys.Len(), "entries left when all is done and forgotten")
}

func TestConfiguredDelayingQueueIsUsed(t *testing.T) {
	for name, new := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := delay.NewHeap4(workqueue.TypedDelayingQueueConfig[string]{})
				q := new(queueConfig{DelayingQueue: inner})
				defer q.ShutDown()
				q.AddRateLimited("key")
				time.Sleep(time.Second)
				synctest.Wait()
				item, _ := inner.Get()
				require.Equal(t, "key", item)
				require.Equal(t, 1, q.NumRequeues("key"))
			})
		})
	}
}

// Producers, failing workers and a drain at once, on the real clock; the race
// detector watches.
func TestConcurrentRetries(t *testing.T) {
	for name, new := range queues {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			q := new(queueConfig{Name: "named", MetricsProvider: newRecorder()})
			const keys, workers = 90, 8
			var done, work sync.WaitGroup
			done.Add(keys)
			for range workers {
				work.Go(func() {
					for {
						item, over := q.Get()
						if over {
							return
						}
						if q.NumRequeues(item) < 1 {
							q.AddRateLimited(item)
						} else {
							q.Forget(item)
							done.Done()
						}
						q.Done(item)
					}
				})
			}
			for key := range keys {
				q.Add(fmt.Sprint(key))
			}
			done.Wait()
			q.ShutDownWithDrain()
			work.Wait()
			require.Zero(t, q.Len())
		})
	}
}

// explosive panics on demand, as a clock and as a metrics provider.
type explosive struct {
	clock.RealClock
	*recorder
	armed *bool
}

type explosiveMetric struct {
	metric
	armed *bool
}

func (e explosive) Since(begin time.Time) time.Duration {
	e.check()
	return e.RealClock.Since(begin)
}

func (e explosive) check() {
	if *e.armed {
		panic("exploded")
	}
}

func (m explosiveMetric) Inc() {
	explosive{armed: m.armed}.check()
	m.metric.Inc()
}

func (e explosive) NewAddsMetric(string) workqueue.CounterMetric {
	return explosiveMetric{metric{e.recorder, "adds"}, e.armed}
}

func TestPanicsLeaveNoLock(t *testing.T) {
	for name, new := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				armed := false
				x := explosive{recorder: newRecorder(), armed: &armed}
				q := new(queueConfig{Name: "named", MetricsProvider: x, Clock: x})
				q.Add("held")
				held, _ := q.Get()
				synctest.Wait()
				armed = true
				require.Panics(t, func() { q.Add("key") })
				require.Panics(t, func() { q.AddAfter("key", time.Second) })
				require.Panics(t, func() { q.Done(held) })
				armed = false
				require.Zero(t, q.Len())
				q.Done(held)
				q.Add("key")
				item, _ := q.Get()
				require.Equal(t, "key", item)
				q.Done(item)
				q.ShutDown()
			})
		})
	}
}

func TestFusedAllocatesNothing(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := NewFusedQueue[string](NewController[string](time.Second, time.Hour, 1e6, 1e6), queueConfig{Clock: fake})
	defer q.ShutDown()
	q.AddAfter("first", time.Millisecond)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		q.Add("key")
		item, _ := q.Get()
		q.AddRateLimited(item)
		q.Done(item)
		q.Forget(item)
	}))
}

// After shutdown an Add is ignored whatever its item, as client-go's.
func TestUnhashableItemIsIgnoredAfterShutDown(t *testing.T) {
	for name, q := range map[string]workqueue.TypedRateLimitingInterface[any]{
		"client-go": workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[any]()),
		"fused":     NewFusedQueue(NewDefault[any](), workqueue.TypedRateLimitingQueueConfig[any]{}),
		"heap4":     NewHeap4Queue(NewDefault[any](), workqueue.TypedRateLimitingQueueConfig[any]{}),
	} {
		q.Add(1)
		q.ShutDown()
		require.NotPanics(t, func() { q.Add([]int{1}) }, name)
		require.NotPanics(t, func() { q.AddAfter([]int{1}, time.Hour) }, name)
		require.Equal(t, 1, q.Len(), name)
	}
}
