// Package recorder is a metrics provider for tests.
package recorder

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// A Recorder is a provider that keeps what it is told. The metric called broken
// panics instead, once.
type Recorder struct {
	mu     sync.Mutex
	values map[string][]float64
	broken string
}

type recorded struct {
	r    *Recorder
	name string
}

// New makes a Recorder.
func New() *Recorder { return &Recorder{values: map[string][]float64{}} }

func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		fmt.Fprintf(&b, "%s=%v ", name, r.values[name])
	}
	return b.String()
}

func (r *Recorder) BreakOnce(metric string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = metric
}

func (m recorded) change(f func(v []float64) []float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	if m.r.broken == m.name {
		m.r.broken = ""
		panic("broken metrics")
	}
	m.r.values[m.name] = f(m.r.values[m.name])
}

func (m recorded) sum(n float64) {
	m.change(func(v []float64) []float64 {
		if len(v) == 0 {
			v = []float64{0}
		}
		return []float64{v[0] + n}
	})
}
func (m recorded) Inc()              { m.sum(1) }
func (m recorded) Dec()              { m.sum(-1) }
func (m recorded) Set(n float64)     { m.change(func([]float64) []float64 { return []float64{n} }) }
func (m recorded) Observe(n float64) { m.change(func(v []float64) []float64 { return append(v, n) }) }

func (r *Recorder) NewDepthMetric(string) workqueue.GaugeMetric       { return recorded{r, "depth"} }
func (r *Recorder) NewAddsMetric(string) workqueue.CounterMetric      { return recorded{r, "adds"} }
func (r *Recorder) NewLatencyMetric(string) workqueue.HistogramMetric { return recorded{r, "latency"} }
func (r *Recorder) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return recorded{r, "work"}
}
func (r *Recorder) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return recorded{r, "unfinished"}
}
func (r *Recorder) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return recorded{r, "longest"}
}
func (r *Recorder) NewRetriesMetric(string) workqueue.CounterMetric { return recorded{r, "retries"} }
