package impl_test

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// prometheusProvider is a workqueue.MetricsProvider under upstream's names.
type prometheusProvider struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec
}

func newPrometheusProvider(registry prometheus.Registerer) prometheusProvider {
	label := []string{"name"}
	gauge := func(name string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: "workqueue", Name: name}, label)
		registry.MustRegister(v)
		return v
	}
	counter := func(name string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: "workqueue", Name: name}, label)
		registry.MustRegister(v)
		return v
	}
	histogram := func(name string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: "workqueue", Name: name,
			Buckets: prometheus.ExponentialBuckets(10e-9, 10, 12)}, label)
		registry.MustRegister(v)
		return v
	}
	return prometheusProvider{
		depth: gauge("depth"), unfinished: gauge("unfinished_work_seconds"), longest: gauge("longest_running_processor_seconds"),
		adds: counter("adds_total"), retries: counter("retries_total"),
		latency: histogram("queue_duration_seconds"), work: histogram("work_duration_seconds"),
	}
}

func (p prometheusProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.depth.WithLabelValues(name)
}
func (p prometheusProvider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.adds.WithLabelValues(name)
}
func (p prometheusProvider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.latency.WithLabelValues(name)
}
func (p prometheusProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.work.WithLabelValues(name)
}
func (p prometheusProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.unfinished.WithLabelValues(name)
}
func (p prometheusProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.longest.WithLabelValues(name)
}
func (p prometheusProvider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.retries.WithLabelValues(name)
}
