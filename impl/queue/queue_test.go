package queue

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/internal/recorder"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// Before v0.35 a goroutine of client-go's queue, which ours are compared with, outlives its shutdown.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("k8s.io/client-go/util/workqueue.(*Typed[...]).updateUnfinishedWorkLoop"))
}

type config = workqueue.TypedQueueConfig[string]

var constructors = map[string]func(config) workqueue.TypedInterface[string]{
	"slice": NewSlice[string], "ring": NewRing[string], "sharded": NewSharded[string], "compact": NewCompact[string],
}

func forEach(t *testing.T, test func(t *testing.T, make func(config) workqueue.TypedInterface[string])) {
	for name, make := range constructors {
		t.Run(name, func(t *testing.T) { test(t, make) })
	}
}

// A storage in the config is used, by a queue of another variant if need be.
func TestConfiguredStorageIsUsed(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		storage := NewSliceStorage[string]()
		q := make(config{Queue: storage})
		defer q.ShutDown()
		q.Add("a")
		require.Equal(t, 1, storage.Len())
	})
}

// A panic in the user's metrics or clock leaves no lock held and the state as it
// was.
func TestPanicInMetrics(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		synctest.Test(t, func(t *testing.T) {
			r := recorder.New()
			q := make(config{Name: "q", MetricsProvider: r})
			defer q.ShutDown()
			r.BreakOnce("adds")
			require.Panics(t, func() { q.Add("a") })
			q.Add("a")
			require.Equal(t, 1, q.Len())
			q.Get()
			r.BreakOnce("work")
			require.Panics(t, func() { q.Done("a") })
			q.Add("a")
			q.Done("a")
			require.Equal(t, 1, q.Len(), "a was still in processing after the panic in Done")
		})
	})
}

// A Get that panics leaves its item to the next worker, even one that sleeps.
func TestPanicInGetPassesTheItemOn(t *testing.T) {
	for name, make := range map[string]func(config) workqueue.TypedInterface[string]{
		"compact": NewCompact[string], "sharded": NewSharded[string],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { panicInGet(t, make) })
		})
	}
}

func panicInGet(t *testing.T, new func(config) workqueue.TypedInterface[string]) {
	r := recorder.New()
	q := new(config{Name: "q", MetricsProvider: r})
	defer q.ShutDown()
	got := make(chan string, 2)
	for range 2 {
		go func() {
			defer func() {
				if recover() != nil {
					got <- "panic"
				}
			}()
			item, _ := q.Get()
			got <- item
		}()
	}
	synctest.Wait()
	r.BreakOnce("latency")
	q.Add("a")
	synctest.Wait()
	require.Len(t, got, 2)
	// The one that panics wakes the other before it gets here itself.
	require.ElementsMatch(t, []string{"panic", "a"}, []string{<-got, <-got})
}

// Unfinished work is set every half second of the injected clock, as upstream.
func TestUnfinishedWorkMatchesUpstream(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		record := func(make func(config) workqueue.TypedInterface[string]) (s string) {
			synctest.Test(t, func(t *testing.T) {
				r := recorder.New()
				fake := testclock.NewFakeClock(time.Unix(1e9, 0))
				q := make(config{Name: "q", MetricsProvider: r, Clock: fake})
				synctest.Wait() // the ticker exists
				step := func(d time.Duration) {
					fake.Step(d)
					synctest.Wait()
					s += r.String() + "\n"
				}
				q.Add("a")
				q.Add("b")
				first, _ := q.Get()
				step(499 * time.Millisecond)
				step(time.Millisecond)
				second, _ := q.Get()
				q.Add(first)
				step(time.Second)
				q.Done(first)
				step(500 * time.Millisecond)
				q.Done(second)
				step(500 * time.Millisecond)
				q.ShutDown()
				step(time.Second)
			})
			return s
		}
		want := record(func(c config) workqueue.TypedInterface[string] { return workqueue.NewTypedWithConfig(c) })
		require.Contains(t, want, "unfinished=[2.5]")
		require.Equal(t, want, record(make))
	})
}

func TestUnnamedQueueHasNoMetricsAndNoGoroutine(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		r := recorder.New()
		before := runtime.NumGoroutine()
		q := make(config{MetricsProvider: r})
		require.LessOrEqual(t, runtime.NumGoroutine(), before) // one of another test may end
		q.Add("a")
		require.Empty(t, r.String())
	})
}

// An item that can't be hashed panics in Add and Done, as in a map, and leaves
// no lock held, whether or not Done expects to need no hash.
func TestUnhashableItemLeavesNoLockHeld(t *testing.T) {
	for name, make := range map[string]func(workqueue.TypedQueueConfig[any]) workqueue.TypedInterface[any]{
		"sharded": NewSharded[any], "compact": NewCompact[any],
	} {
		t.Run(name, func(t *testing.T) {
			q := make(workqueue.TypedQueueConfig[any]{})
			defer q.ShutDown()
			for range 3 {
				q.Add(1)
				item, _ := q.Get()
				require.Panics(t, func() { q.Add([]int{1}) })
				require.Panics(t, func() { q.Done([]int{1}) })
				q.Done(item)
				require.Panics(t, func() { q.Done([]int{1}) })
			}
			require.Zero(t, q.Len())
		})
	}
}

// After shutdown an Add is ignored whatever its item, as client-go's.
func TestUnhashableItemIsIgnoredAfterShutDown(t *testing.T) {
	for name, make := range map[string]func(workqueue.TypedQueueConfig[any]) workqueue.TypedInterface[any]{
		"client-go": func(c workqueue.TypedQueueConfig[any]) workqueue.TypedInterface[any] {
			return workqueue.NewTypedWithConfig(c)
		},
		"slice": NewSlice[any], "ring": NewRing[any], "sharded": NewSharded[any], "compact": NewCompact[any],
	} {
		for _, queue := range []string{"", "q"} {
			t.Run(name+"/"+queue, func(t *testing.T) {
				q := make(workqueue.TypedQueueConfig[any]{Name: queue, MetricsProvider: recorder.New()})
				q.Add(1)
				q.ShutDown()
				require.NotPanics(t, func() { q.Add([]int{1}) })
				require.Equal(t, 1, q.Len())
			})
		}
	}
}

// A queue that has a name only reports nowhere, which it says in the log; it never
// is client-go's own.
func TestNoProvider(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		var log bytes.Buffer
		klog.LogToStderr(false)
		klog.SetOutput(&log)
		defer klog.LogToStderr(true)
		q := make(config{Name: "nowhere"})
		defer q.ShutDown()
		klog.Flush()
		require.NotContains(t, fmt.Sprintf("%T", q), "workqueue.", "client-go's own queue")
		require.Equal(t, 1, strings.Count(log.String(), "reported nowhere"), log.String())
		require.Contains(t, log.String(), `queue="nowhere"`)
	})
}

// Table, slab and directory shrink when a backlog is worked off.
func TestMemoryIsGivenBackAfterABurst(t *testing.T) {
	const n = 200_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/pod-%d", i%50, i)
	}
	q := NewCompact(config{}).(*compactQueue[string])
	before := heap()
	for _, k := range keys {
		q.Add(k)
	}
	built := heap() - before
	for range keys {
		k, _ := q.Get()
		q.Done(k)
	}
	left := heap() - before
	require.Less(t, left, built/10, "of %d bytes", built)
	require.Zero(t, q.Keys.Len())
	runtime.KeepAlive(q)
	runtime.KeepAlive(keys)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestCompactDoesNotAllocate(t *testing.T) {
	strings := NewCompact(config{})
	structs := NewCompact(workqueue.TypedQueueConfig[types.NamespacedName]{})
	// Time stands still, because what a tick of the metrics allocates in its
	// goroutine would be counted with the cycles that it comes between.
	timed := NewCompact(config{Name: "q", MetricsProvider: silent{recorder.New()}, Clock: testclock.NewFakeClock(time.Unix(0, 0))})
	defer timed.ShutDown()
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	for name, cycle := range map[string]func(){
		"string": func() { window(strings, keys) },
		"timed":  func() { window(timed, keys) },
		"struct": func() {
			for _, k := range keys {
				structs.Add(types.NamespacedName{Name: k})
			}
			for range keys {
				k, _ := structs.Get()
				structs.Done(k)
			}
		},
	} {
		cycle()
		require.Zero(t, testing.AllocsPerRun(10, cycle), name)
	}
}

func window(q workqueue.TypedInterface[string], keys []string) {
	for _, k := range keys {
		q.Add(k)
		q.Add(k)
	}
	for range keys {
		k, _ := q.Get()
		q.Add(k)
		q.Done(k)
	}
	for range keys {
		k, _ := q.Get()
		q.Done(k)
	}
}

// silent is a provider whose metrics do nothing.
type silent struct{ *recorder.Recorder }
type nothing struct{}

func (nothing) Inc()            {}
func (nothing) Dec()            {}
func (nothing) Observe(float64) {}

func (silent) NewDepthMetric(string) workqueue.GaugeMetric            { return nothing{} }
func (silent) NewAddsMetric(string) workqueue.CounterMetric           { return nothing{} }
func (silent) NewLatencyMetric(string) workqueue.HistogramMetric      { return nothing{} }
func (silent) NewWorkDurationMetric(string) workqueue.HistogramMetric { return nothing{} }

// A ring grows over its end in the right order, and shrinks after a burst.
func TestRingStorageResizes(t *testing.T) {
	r := NewRingStorage[int]().(*ringStorage[int])
	next, want := 0, 0
	push := func(n int) {
		for range n {
			r.Push(next)
			next++
		}
	}
	pop := func(n int) {
		for range n {
			require.Equal(t, want, r.Pop())
			want++
		}
	}
	push(6)
	pop(5)
	push(100_000)
	require.Len(t, r.buf, 1<<17)
	pop(100_001)
	require.Zero(t, r.Len())
	require.LessOrEqual(t, len(r.buf), minRing)
	push(10)
	pop(10)
	for _, v := range r.buf {
		require.Zero(t, v, "popped slots are cleared")
	}
}

// strangeClock's Elapsed has nothing to do with CoarseClock's.
type strangeClock struct{ clock.RealClock }

func (strangeClock) Elapsed() time.Duration { return 42 * time.Hour }

func TestElapsedOfAnotherClock(t *testing.T) {
	forEach(t, func(t *testing.T, make func(config) workqueue.TypedInterface[string]) {
		synctest.Test(t, func(t *testing.T) {
			r := recorder.New()
			q := make(config{Name: "q", MetricsProvider: r, Clock: strangeClock{}})
			q.Add("a")
			time.Sleep(time.Second)
			q.Get()
			require.Contains(t, r.String(), "latency=[1]")
			q.ShutDown()
		})
	})
}

func TestCoarseClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := testclock.NewFakeClock(time.Unix(1e9, 0))
		c := NewCoarseClock(fake, 10*time.Millisecond)
		begin := c.Now()
		require.Equal(t, fake.Now(), begin)
		fake.Step(9 * time.Millisecond)
		synctest.Wait()
		require.Zero(t, c.Since(begin), "within a tick")
		fake.Step(time.Millisecond)
		synctest.Wait()
		require.Equal(t, 10*time.Millisecond, c.Since(begin))
		require.Equal(t, fake.Now(), c.Now())
		r := recorder.New()
		q := NewCompact(config{Name: "q", MetricsProvider: r, Clock: c})
		q.Add("a")
		fake.Step(20 * time.Millisecond)
		synctest.Wait()
		q.Get()
		require.Contains(t, r.String(), "latency=[0.02]")
		q.ShutDown()
		c.Stop()
		c.Stop()
	})
}
