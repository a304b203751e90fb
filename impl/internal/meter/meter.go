// Package meter feeds the metrics of a work queue with upstream's meaning.
package meter

import (
	"time"

	"github.com/informerbench/informerbench/impl/internal/ticks"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// updatePeriod is how often the unfinished-work metrics are set, as upstream.
const updatePeriod = 500 * time.Millisecond

// A Meter calls the user's clock and metrics, so a queue calls it before it
// changes its state and under a deferred unlock: a panic in there leaves the
// state as it was. Moments are durations since one moment, any.
// But for Run, Stop and Wait it is used under the queue's lock.
type Meter struct {
	clock      clock.WithTicker
	begin      time.Time
	ticks      *ticks.Clock // in place of the real clock, or nil
	elapsed    elapsed      // the clock, if it is one
	depth      workqueue.GaugeMetric
	adds       workqueue.CounterMetric
	latency    workqueue.HistogramMetric
	work       workqueue.HistogramMetric
	unfinished workqueue.SettableGaugeMetric
	longest    workqueue.SettableGaugeMetric
	stop       chan struct{}
	ended      chan struct{}
}

// New makes the meter of a queue, or nil if the queue has no name or no
// provider.
func New(name string, provider workqueue.MetricsProvider, c clock.WithTicker) *Meter {
	if name == "" || provider == nil {
		return nil
	}
	var counter *ticks.Clock
	if _, ok := c.(clock.RealClock); ok {
		counter = ticks.New()
	}
	elapsed, _ := c.(elapsed)
	return &Meter{
		clock:      c,
		begin:      c.Now(),
		ticks:      counter,
		elapsed:    elapsed,
		depth:      provider.NewDepthMetric(name),
		adds:       provider.NewAddsMetric(name),
		latency:    provider.NewLatencyMetric(name),
		work:       provider.NewWorkDurationMetric(name),
		unfinished: provider.NewUnfinishedWorkSecondsMetric(name),
		longest:    provider.NewLongestRunningProcessorSecondsMetric(name),
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
	if m.ticks != nil {
		return m.ticks.Now()
	}
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

// Get counts an item that is handed out and was added at the given moment, and
// returns the moment. Upstream never finds the add time of a key that differs
// from itself again, so known is false for one.
func (m *Meter) Get(added time.Duration, known bool) time.Duration {
	now := m.Now()
	m.depth.Dec()
	if known {
		m.latency.Observe(m.seconds(now - added))
	}
	return now
}

// Done records an item that was handed out at the given moment.
func (m *Meter) Done(started time.Duration) {
	m.work.Observe(m.seconds(m.Now() - started))
}

// seconds is d.Seconds, to the bit, without its two integer divisions where d is
// short, as most are. That is 4% of what a queue costs with metrics.
func (m *Meter) seconds(d time.Duration) float64 {
	if 0 <= d && d < time.Second {
		return float64(d) / 1e9
	}
	if d < 0 && m.ticks != nil {
		return 0 // the later moment was told with an earlier anchor
	}
	return d.Seconds()
}

// Unfinished sets the metrics of the items in processing from the moments at
// which they were handed out.
func (m *Meter) Unfinished(started func(yield func(time.Duration) bool)) {
	now := m.Now()
	if m.ticks != nil {
		now = m.ticks.Renew()
	}
	var total, longest float64
	for at := range started {
		age := m.seconds(now - at)
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
