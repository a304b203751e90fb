package core

import (
	"fmt"
	"iter"
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// updatePeriod is how often the unfinished-work metrics are set, as upstream.
const updatePeriod = 500 * time.Millisecond

// A Meter feeds the metrics of a queue with upstream's meaning. It calls the
// user's clock and metrics, so a queue calls it before it changes its state: a
// panic in there leaves the state as it was. Moments are durations since one
// moment, any. But for Run, Stop and Wait it is used under the queue's lock.
type Meter struct {
	clock      clock.WithTicker
	begin      time.Time
	elapsed    elapsed // the clock, if it is one
	depth      workqueue.GaugeMetric
	adds       workqueue.CounterMetric
	latency    workqueue.HistogramMetric
	work       workqueue.HistogramMetric
	unfinished workqueue.SettableGaugeMetric
	longest    workqueue.SettableGaugeMetric
	stop       chan struct{}
	ended      chan struct{}
}

// Reports tells whether a queue has metrics: it needs a name and a provider. What
// workqueue.SetProvider set can be read by client-go alone, so a queue that has
// only a name says in the log that it reports nowhere, if it is to say so.
func Reports(name string, provider workqueue.MetricsProvider, say bool) bool {
	if name != "" && provider == nil && say {
		klog.Background().Info("The work queue has a name but no MetricsProvider in its configuration: its metrics are reported nowhere", "queue", name)
	}
	return name != "" && provider != nil
}

// Made is what a provider made for a queue: nothing would end the program at the
// first Add, in code that knows no provider.
func Made[M any](metric M, kind, queue string) M {
	if any(metric) == nil {
		panic(fmt.Sprintf("work queue %q: its MetricsProvider made nil as the metric for %s, expected a metric", queue, kind))
	}
	return metric
}

// NewMeter makes the meter of a queue, or nil if the queue does not report.
func NewMeter(name string, provider workqueue.MetricsProvider, c clock.WithTicker) *Meter {
	if !Reports(name, provider, true) {
		return nil
	}
	if c == nil {
		c = clock.RealClock{}
	}
	elapsed, _ := c.(elapsed)
	return &Meter{
		clock:      c,
		begin:      c.Now(),
		elapsed:    elapsed,
		depth:      Made(provider.NewDepthMetric(name), "depth", name),
		adds:       Made(provider.NewAddsMetric(name), "adds", name),
		latency:    Made(provider.NewLatencyMetric(name), "latency", name),
		work:       Made(provider.NewWorkDurationMetric(name), "work duration", name),
		unfinished: Made(provider.NewUnfinishedWorkSecondsMetric(name), "unfinished work", name),
		longest:    Made(provider.NewLongestRunningProcessorSecondsMetric(name), "longest running processor", name),
		stop:       make(chan struct{}),
		ended:      make(chan struct{}),
	}
}

// elapsed is a clock that tells the time since it was made for less than Since
// takes.
type elapsed interface{ Elapsed() Elapsed }

// Elapsed is a time since a clock was made. The type tells a clock of ours from one
// whose Elapsed may be anything.
type Elapsed time.Duration

// Now is the present moment.
func (m *Meter) Now() time.Duration {
	if m.elapsed != nil {
		return time.Duration(m.elapsed.Elapsed())
	}
	return m.clock.Since(m.begin)
}

// Add counts an item that became dirty and returns the moment.
func (m *Meter) Add() time.Duration {
	now := m.Now()
	m.adds.Inc()
	m.depth.Inc()
	return now
}

// Get counts an item that is handed out. Upstream never finds the add time of a
// key that differs from itself again, so known is false for one.
func (m *Meter) Get(t *keytable.Times, known bool) {
	now := m.Now()
	m.depth.Dec()
	if known {
		m.latency.Observe(seconds(now - t.Added))
	}
	t.Started = now
}

// Done records an item that is done.
func (m *Meter) Done(t *keytable.Times) {
	m.work.Observe(seconds(m.Now() - t.Started))
}

// seconds is d.Seconds() with one division.
func seconds(d time.Duration) float64 { return float64(d) / 1e9 }

// Unfinished sets the metrics of the items in processing from the moments at
// which they were handed out.
func (m *Meter) Unfinished(started iter.Seq[time.Duration]) {
	now := m.Now()
	var total, longest float64
	for at := range started {
		age := seconds(now - at)
		total += age
		longest = max(longest, age)
	}
	m.unfinished.Set(total)
	m.longest.Set(longest)
}

// Run calls update every half second until Stop.
func (m *Meter) Run(update func()) {
	ticker := m.clock.NewTicker(updatePeriod)
	go func() {
		defer close(m.ended)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C():
				update()
			case <-m.stop:
				return
			}
		}
	}()
}

// Stop ends what Run started. Call it once.
func (m *Meter) Stop() { close(m.stop) }

// Wait returns when the goroutine of Run has ended.
func (m *Meter) Wait() { <-m.ended }
