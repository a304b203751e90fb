package bench

import (
	"math"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
)

// countingMetrics is the cheapest MetricsProvider that still keeps what it is
// told, so that a case shows what the queue's own part of its metrics costs.
type countingMetrics struct{}

var _ workqueue.MetricsProvider = countingMetrics{}

type counter struct{ n atomic.Int64 }

func (c *counter) Inc()              { c.n.Add(1) }
func (c *counter) Dec()              { c.n.Add(-1) }
func (c *counter) Set(v float64)     { c.n.Store(int64(math.Float64bits(v))) }
func (c *counter) Observe(v float64) { c.n.Add(int64(v * 1e9)) }

func (countingMetrics) NewDepthMetric(string) workqueue.GaugeMetric            { return new(counter) }
func (countingMetrics) NewAddsMetric(string) workqueue.CounterMetric           { return new(counter) }
func (countingMetrics) NewLatencyMetric(string) workqueue.HistogramMetric      { return new(counter) }
func (countingMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return new(counter) }
func (countingMetrics) NewRetriesMetric(string) workqueue.CounterMetric        { return new(counter) }
func (countingMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return new(counter)
}
func (countingMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return new(counter)
}
