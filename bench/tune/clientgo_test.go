package tune

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// provider registers the metrics of a work queue as component-base does.
type provider struct{ *prometheus.Registry }

func registered[C prometheus.Collector](p provider, c C) C {
	p.MustRegister(c)
	return c
}

func (p provider) counter(key, name string) prometheus.Counter {
	return registered(p, prometheus.NewCounter(prometheus.CounterOpts{Subsystem: "workqueue", Name: key, ConstLabels: prometheus.Labels{"name": name}}))
}

func (p provider) gauge(key, name string) prometheus.Gauge {
	return registered(p, prometheus.NewGauge(prometheus.GaugeOpts{Subsystem: "workqueue", Name: key, ConstLabels: prometheus.Labels{"name": name}}))
}

func (p provider) histogram(key, name string) prometheus.Histogram {
	return registered(p, prometheus.NewHistogram(prometheus.HistogramOpts{
		Subsystem: "workqueue", Name: key, ConstLabels: prometheus.Labels{"name": name}, Buckets: prometheus.ExponentialBuckets(10e-9, 10, 10),
	}))
}

func (p provider) NewDepthMetric(n string) workqueue.GaugeMetric { return p.gauge("depth", n) }

func (p provider) NewAddsMetric(n string) workqueue.CounterMetric { return p.counter("adds_total", n) }

func (p provider) NewRetriesMetric(n string) workqueue.CounterMetric {
	return p.counter("retries_total", n)
}

func (p provider) NewLatencyMetric(n string) workqueue.HistogramMetric {
	return p.histogram("queue_duration_seconds", n)
}

func (p provider) NewWorkDurationMetric(n string) workqueue.HistogramMetric {
	return p.histogram("work_duration_seconds", n)
}

func (p provider) NewUnfinishedWorkSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return p.gauge("unfinished_work_seconds", n)
}

func (p provider) NewLongestRunningProcessorSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return p.gauge("longest_running_processor_seconds", n)
}

// snapshot scrapes in virtual time.
func (p provider) snapshot(t *testing.T) *scrape.Snapshot {
	families, err := p.Gather()
	require.NoError(t, err)
	var text bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&text, f)
		require.NoError(t, err)
	}
	list, err := scrape.Parse("metrics", &text)
	require.NoError(t, err)
	return list[0]
}

// client-go's own queue with workers that sleep, in virtual time, scraped twice.
func TestClientGoQueue(t *testing.T) {
	const (
		rate     = 40.0
		mean     = 0.05
		workers  = 3
		failures = 0.1
		interval = 5 * time.Minute
	)
	var d *scrape.Delta
	synctest.Test(t, func(t *testing.T) {
		p := provider{prometheus.NewRegistry()}
		q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{Name: "q", MetricsProvider: p})
		var done sync.WaitGroup
		for i := range workers {
			r := rand.New(rand.NewPCG(*seed, uint64(i)))
			done.Go(func() {
				for {
					key, shutdown := q.Get()
					if shutdown {
						return
					}
					<-time.After(time.Duration(mean * r.ExpFloat64() * 1e9))
					if r.Float64() < failures {
						q.AddRateLimited(key)
					} else {
						q.Forget(key)
					}
					q.Done(key)
				}
			})
		}
		r := rand.New(rand.NewPCG(*seed, 99))
		load := func(span time.Duration) {
			end := time.Now().Add(span)
			for n := 0; time.Now().Before(end); n++ {
				q.Add(strconv.FormatUint(r.Uint64(), 36))
				<-time.After(time.Duration(r.ExpFloat64() / rate * 1e9))
			}
		}
		load(30 * time.Second)
		begin := p.snapshot(t)
		load(interval)
		end := p.snapshot(t)
		q.ShutDown()
		done.Wait()
		var err error
		d, err = scrape.Between(begin, end, interval)
		require.NoError(t, err)
	})
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(predict.Current{Settings: predict.Settings{Workers: workers}, Told: map[string]string{"workers": "given"}}, d.Queues["q"]), Options{}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	assert.InEpsilon(t, rate, f.ArrivalRate, 0.1, "seed %d", *seed)
	assert.InEpsilon(t, mean, f.Service, 0.1, "seed %d", *seed)
	assert.InEpsilon(t, rate/(1-failures)*mean/workers, f.Utilisation, 0.1, "seed %d", *seed)
	assert.InDelta(t, failures, f.Failure, 0.02, "seed %d", *seed)
	require.NoError(t, f.reproduce(t.Context(), *seed))
	r := f.Reproduction
	assert.Regexp(t, "^good", r.Verdict, "seed %d", *seed)
}
