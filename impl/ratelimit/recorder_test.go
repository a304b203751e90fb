package ratelimit

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// recorder keeps what a queue reports, by metric.
type recorder struct {
	mu       sync.Mutex
	counts   map[string]float64
	observed map[string][]float64
}

func newRecorder() *recorder {
	return &recorder{counts: map[string]float64{}, observed: map[string][]float64{}}
}

type metric struct {
	r    *recorder
	name string
}

func (m metric) add(f float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.counts[m.name] += f
}

func (m metric) Inc() { m.add(1) }
func (m metric) Dec() { m.add(-1) }
func (m metric) Set(f float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.counts[m.name] = f
}
func (m metric) Observe(f float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.observed[m.name] = append(m.r.observed[m.name], f)
}

func (r *recorder) NewDepthMetric(string) workqueue.GaugeMetric       { return metric{r, "depth"} }
func (r *recorder) NewAddsMetric(string) workqueue.CounterMetric      { return metric{r, "adds"} }
func (r *recorder) NewRetriesMetric(string) workqueue.CounterMetric   { return metric{r, "retries"} }
func (r *recorder) NewLatencyMetric(string) workqueue.HistogramMetric { return metric{r, "latency"} }
func (r *recorder) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return metric{r, "work"}
}
func (r *recorder) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return metric{r, "unfinished"}
}
func (r *recorder) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return metric{r, "longest"}
}

// requireSame compares two recorders, times to within the nanoseconds that a
// bucket in floating point loses.
func requireSame(t *testing.T, want, got *recorder, at string) {
	want.mu.Lock()
	defer want.mu.Unlock()
	got.mu.Lock()
	defer got.mu.Unlock()
	require.Len(t, got.counts, len(want.counts), at)
	for name, value := range want.counts {
		require.InDelta(t, value, got.counts[name], 1e-7, "%s: %s", name, at)
	}
	for name, values := range want.observed {
		require.InDeltaSlice(t, values, got.observed[name], 1e-8, "%s: %s", name, at)
	}
}
