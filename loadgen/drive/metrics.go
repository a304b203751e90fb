package drive

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics are the work queues' MetricsProvider: the drive records how long
// keys wait, and what a scrape asks for goes to Prometheus.
type queueMetrics struct {
	wait    *meter
	record  func() bool // past the warm-up
	exposed *exposed    // nil if nobody scrapes
}

var _ workqueue.MetricsProvider = queueMetrics{}

// A waitHistogram takes what a queue observes at Get: the time since Add.
type waitHistogram struct {
	queueMetrics
	prometheus.Observer
}

func (h waitHistogram) Observe(seconds float64) {
	if h.record() {
		h.wait.record(time.Duration(seconds * float64(time.Second)))
	}
	if h.Observer != nil {
		h.Observer.Observe(seconds)
	}
}

// nothing is every metric that is not exposed.
type nothing struct{}

func (nothing) Inc()            {}
func (nothing) Dec()            {}
func (nothing) Set(float64)     {}
func (nothing) Observe(float64) {}

func (m queueMetrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	h := waitHistogram{queueMetrics: m}
	if m.exposed != nil {
		h.Observer = m.exposed.queueDuration.WithLabelValues(name)
	}
	return h
}

func (m queueMetrics) NewDepthMetric(name string) workqueue.GaugeMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.depth.WithLabelValues(name)
}

func (m queueMetrics) NewAddsMetric(name string) workqueue.CounterMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.adds.WithLabelValues(name)
}

func (m queueMetrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.retries.WithLabelValues(name)
}

func (m queueMetrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.workDuration.WithLabelValues(name)
}

func (m queueMetrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.unfinished.WithLabelValues(name)
}

func (m queueMetrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	if m.exposed == nil {
		return nothing{}
	}
	return m.exposed.longest.WithLabelValues(name)
}

// exposed are the metrics that Kubernetes' components serve of their work queues
// and clients, under the same names and with the same buckets.
type exposed struct {
	depth, unfinished, longest       *prometheus.GaugeVec
	adds, retries, requests          *prometheus.CounterVec
	queueDuration, workDuration      *prometheus.HistogramVec
	limiterDuration, requestDuration *prometheus.HistogramVec
}

// expose registers the metrics, those of the process and of the Go runtime too.
func expose(registry *prometheus.Registry) *exposed {
	decades := prometheus.ExponentialBuckets(10e-9, 10, 10)
	client := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"name"})
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	e := &exposed{
		depth:           gauge("workqueue_depth", "Keys that wait in the work queue."),
		unfinished:      gauge("workqueue_unfinished_work_seconds", "Seconds of work that is under way."),
		longest:         gauge("workqueue_longest_running_processor_seconds", "Seconds that the longest of it takes so far."),
		adds:            counter("workqueue_adds_total", "Keys added to the work queue.", "name"),
		retries:         counter("workqueue_retries_total", "Keys added to the work queue after a delay.", "name"),
		queueDuration:   histogram("workqueue_queue_duration_seconds", "Seconds from Add to Get.", decades, "name"),
		workDuration:    histogram("workqueue_work_duration_seconds", "Seconds from Get to Done.", decades, "name"),
		requests:        counter("rest_client_requests_total", "API calls by status code.", "code", "host", "method"),
		limiterDuration: histogram("rest_client_rate_limiter_duration_seconds", "Seconds that calls wait for the client's rate limit.", client, "host", "verb"),
		requestDuration: histogram("rest_client_request_duration_seconds", "Seconds from a call to its answer, the rate limit included.", client, "host", "verb"),
	}
	registry.MustRegister(e.depth, e.unfinished, e.longest, e.adds, e.retries, e.queueDuration, e.workDuration,
		e.requests, e.limiterDuration, e.requestDuration,
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	return e
}

// call notes one API call of a reconcile.
func (e *exposed) call(throttled, whole time.Duration) {
	if e == nil {
		return
	}
	const host, verb = "simulated", "PUT"
	e.requests.WithLabelValues("200", host, verb).Inc()
	e.limiterDuration.WithLabelValues(host, verb).Observe(throttled.Seconds())
	e.requestDuration.WithLabelValues(host, verb).Observe(whole.Seconds())
}
