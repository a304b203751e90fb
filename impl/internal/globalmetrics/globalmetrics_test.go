package globalmetrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
)

// gauges is a provider whose metrics are counted by name.
type gauges map[string]prometheus.Gauge

type observer struct{ prometheus.Gauge }

func (o observer) Observe(v float64) { o.Set(v) }

func (g gauges) of(metric, queue string) prometheus.Gauge {
	key := queue + "_" + metric
	if g[key] == nil {
		g[key] = prometheus.NewGauge(prometheus.GaugeOpts{Name: key})
	}
	return g[key]
}

func (g gauges) NewDepthMetric(q string) workqueue.GaugeMetric     { return g.of("depth", q) }
func (g gauges) NewAddsMetric(q string) workqueue.CounterMetric    { return g.of("adds", q) }
func (g gauges) NewRetriesMetric(q string) workqueue.CounterMetric { return g.of("retries", q) }
func (g gauges) NewLatencyMetric(q string) workqueue.HistogramMetric {
	return observer{g.of("latency", q)}
}
func (g gauges) NewWorkDurationMetric(q string) workqueue.HistogramMetric {
	return observer{g.of("work", q)}
}
func (g gauges) NewUnfinishedWorkSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return g.of("unfinished", q)
}
func (g gauges) NewLongestRunningProcessorSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return g.of("longest", q)
}

// set is the program's provider. SetProvider works once in a process, the test
// may run more often.
var set gauges

func TestProvider(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	if set == nil {
		p, ok := Provider("pods", nil)
		require.True(t, ok)
		require.Nil(t, p, "no provider is set")
		set = gauges{}
		workqueue.SetProvider(set)
	}
	p, ok := Provider("pods", nil)
	require.True(t, ok, "the fields of client-go's queue can't be read")
	require.NotNil(t, p)
	require.Equal(t, set.NewDepthMetric("pods"), p.NewDepthMetric("pods"))
	require.Equal(t, set.NewAddsMetric("pods"), p.NewAddsMetric("pods"))
	require.Equal(t, set.NewLatencyMetric("pods"), p.NewLatencyMetric("pods"))
	require.Equal(t, set.NewWorkDurationMetric("pods"), p.NewWorkDurationMetric("pods"))
	require.Equal(t, set.NewRetriesMetric("pods"), p.NewRetriesMetric("pods"))
	require.Equal(t, set.NewUnfinishedWorkSecondsMetric("pods"), p.NewUnfinishedWorkSecondsMetric("pods"))
	require.Equal(t, set.NewLongestRunningProcessorSecondsMetric("pods"), p.NewLongestRunningProcessorSecondsMetric("pods"))

	p, ok = Provider("", nil)
	require.True(t, ok)
	require.Nil(t, p, "a queue without a name reports nothing")

	given := gauges{}
	p, ok = Provider("pods", given)
	require.True(t, ok)
	require.Equal(t, workqueue.MetricsProvider(given), p, "the configuration's own comes first")
}
