package ratelimit

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
)

// A fragile provider has a metric that panics when it is used for the left-th time.
type fragile struct {
	*recorder
	name string
	left *atomic.Int32
}

func (f fragile) of(name string) fragileMetric { return fragileMetric{metric{f.recorder, name}, f} }

func (f fragile) NewAddsMetric(string) workqueue.CounterMetric      { return f.of("adds") }
func (f fragile) NewLatencyMetric(string) workqueue.HistogramMetric { return f.of("latency") }

type fragileMetric struct {
	metric
	fragile
}

func (m fragileMetric) check() {
	if m.metric.name != m.fragile.name {
		return
	}
	if m.left.Add(-1) == 0 {
		panic("broken metrics")
	}
}

func (m fragileMetric) Inc()              { m.check(); m.metric.Inc() }
func (m fragileMetric) Observe(f float64) { m.check(); m.metric.Observe(f) }

// A metric that panics in a Get, or while due items are queued, where it ends the
// goroutine that does so as upstream's ends, costs no worker its wake-up.
func TestPanicsLoseNoWakeUp(t *testing.T) {
	really := utilruntime.ReallyCrash
	defer func() { utilruntime.ReallyCrash = really }()
	utilruntime.ReallyCrash = false
	for name, new := range queues {
		for metric, want := range map[string][]string{"adds": {"a", "c"}, "latency": {"panic", "a", "b", "c"}} {
			t.Run(name+"/"+metric, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var left atomic.Int32
					q := new(queueConfig{Name: "q", MetricsProvider: fragile{newRecorder(), metric, &left}})
					defer q.ShutDown()
					got := make(chan string, 10)
					for range 2 {
						go work(q, got)
					}
					synctest.Wait()
					q.AddAfter("a", time.Second)
					q.AddAfter("b", time.Second)
					left.Store(map[string]int32{"adds": 2, "latency": 1}[metric])
					time.Sleep(time.Minute)
					synctest.Wait()
					q.Add("c")
					synctest.Wait()
					var all []string
					for len(got) > 0 {
						all = append(all, <-got)
					}
					require.ElementsMatch(t, want, all)
				})
			})
		}
	}
}

// work gets items until the queue is shut down, or panics.
func work(q rateQueue, got chan<- string) {
	defer func() {
		if recover() != nil {
			got <- "panic"
		}
	}()
	for {
		item, shutdown := q.Get()
		if shutdown {
			return
		}
		got <- item
		q.Done(item)
	}
}
