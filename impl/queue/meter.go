package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// updatePeriod is how often the unfinished-work metrics are set, as upstream.
const updatePeriod = 500 * time.Millisecond

// A meter feeds upstream's metrics (contract, work queue clause 8). Its methods
// call the user's code, which may panic: queues call them under a deferred
// unlock and only when their invariant holds.
//
// Moments are durations since the meter was made. clock.Since reads the
// monotonic clock only, which costs about half of clock.Now, and Get needs one
// moment where upstream reads the clock twice.
type meter struct {
	clock      clock.WithTicker
	begin      time.Time
	depth      workqueue.GaugeMetric
	adds       workqueue.CounterMetric
	latency    workqueue.HistogramMetric
	work       workqueue.HistogramMetric
	unfinished workqueue.SettableGaugeMetric
	longest    workqueue.SettableGaugeMetric
}

// newMeter makes the meter of a queue, or nil if the queue has no name or no
// provider.
func newMeter(name string, provider workqueue.MetricsProvider, c clock.WithTicker) *meter {
	if name == "" || provider == nil {
		return nil
	}
	if c == nil {
		c = clock.RealClock{}
	}
	return &meter{
		clock:      c,
		begin:      c.Now(),
		depth:      provider.NewDepthMetric(name),
		adds:       provider.NewAddsMetric(name),
		latency:    provider.NewLatencyMetric(name),
		work:       provider.NewWorkDurationMetric(name),
		unfinished: provider.NewUnfinishedWorkSecondsMetric(name),
		longest:    provider.NewLongestRunningProcessorSecondsMetric(name),
	}
}

// now is the present moment.
func (m *meter) now() time.Duration { return m.clock.Since(m.begin) }

// add counts an item that became dirty and returns the moment.
func (m *meter) add() time.Duration {
	m.adds.Inc()
	m.depth.Inc()
	return m.now()
}

// get counts an item that is handed out and was added at the given moment, and
// returns the moment. Upstream never finds again the add time of a key that
// differs from itself, so known is false for one.
func (m *meter) get(added time.Duration, known bool) time.Duration {
	m.depth.Dec()
	now := m.now()
	if known {
		m.latency.Observe((now - added).Seconds())
	}
	return now
}

// done records an item that was handed out at the given moment.
func (m *meter) done(started time.Duration) {
	m.work.Observe((m.now() - started).Seconds())
}

// A tally sums the ages of the items in processing.
type tally struct {
	now            time.Duration
	total, longest float64
}

func (t *tally) item(started time.Duration) {
	age := (t.now - started).Seconds()
	t.total += age
	t.longest = max(t.longest, age)
}

func (m *meter) set(t tally) {
	m.unfinished.Set(t.total)
	m.longest.Set(t.longest)
}

// A loop runs a function every updatePeriod of a clock until it is stopped. The
// zero loop does not run.
type loop struct {
	once sync.Once
	stop chan struct{}
	wg   sync.WaitGroup
}

func (l *loop) run(c clock.WithTicker, update func()) {
	l.stop = make(chan struct{})
	l.wg.Go(func() {
		t := c.NewTicker(updatePeriod)
		defer t.Stop()
		for {
			select {
			case <-t.C():
				update()
			case <-l.stop:
				return
			}
		}
	})
}

func (l *loop) end() {
	if l.stop != nil {
		l.once.Do(func() { close(l.stop) })
	}
}

// wait returns when the goroutine has ended, as upstream's shutdown does.
func (l *loop) wait() { l.wg.Wait() }

// upstream returns client-go's own queue if that is the only one which can
// serve config: a queue with a name and without a provider reports to the
// provider of workqueue.SetProvider, which only client-go can read. Otherwise
// it returns nil.
func upstream[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Name == "" || config.MetricsProvider != nil {
		return nil
	}
	// client-go starts a ticker if and only if a provider is set; its ShutDown
	// waits for the goroutine that does it.
	probe := &tickerProbe{}
	workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: config.Name, Clock: probe}).ShutDown()
	if !probe.ticked {
		return nil
	}
	return workqueue.NewTypedWithConfig(config)
}

type tickerProbe struct {
	clock.RealClock
	ticked bool
}

func (p *tickerProbe) NewTicker(d time.Duration) clock.Ticker {
	p.ticked = true
	return p.RealClock.NewTicker(d)
}
