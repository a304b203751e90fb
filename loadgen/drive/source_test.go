package drive

import (
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A recording is driven as it was recorded, at the speed that is asked for.
func TestRecording(t *testing.T) {
	open := func() (loadgen.Stream, error) { return trace.Sample() }
	events, last := 0, time.Duration(0)
	stream, err := open()
	require.NoError(t, err)
	defer closeStream(stream)
	for {
		e, err := stream.Next()
		if err != nil {
			break
		}
		if e.Type != "BOOKMARK" {
			events, last = events+1, e.At
		}
	}
	spec := Recorded("sample")
	spec.Reconcile = loadgen.Reconcile{Workers: 2, Service: dist(t, "1ms")}
	r := virtually(t, Config{Workload: "sample", Spec: spec, Trace: open, Speed: 4})
	requireBalance(t, r)
	assert.Equal(t, events, r.Accounting.Sent)
	assert.InDelta(t, (last / 4).Seconds(), r.Load.Seconds(), 0.01)
	assert.Positive(t, r.Generator.PerEvent)
}

// A scrape finds the names that Kubernetes' components have.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	spec := updates(t, 20, 50, 50, "constant")
	spec.Reconcile.Calls, spec.Reconcile.QPS = dist(t, "1"), 1000
	r := virtually(t, Config{Spec: spec, Speed: 1, Registry: registry})
	requireBalance(t, r)
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			found[f.GetName()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	n := float64(r.Accounting.Reconciles)
	for _, name := range []string{"workqueue_adds_total", "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds",
		"rest_client_requests_total", "rest_client_rate_limiter_duration_seconds", "rest_client_request_duration_seconds"} {
		assert.Equal(t, n, found[name], name)
	}
	for _, name := range []string{"workqueue_depth", "workqueue_retries_total", "workqueue_unfinished_work_seconds",
		"workqueue_longest_running_processor_seconds", "process_cpu_seconds_total", "go_goroutines"} {
		assert.Contains(t, found, name)
	}
}

func TestAsFastAsPossible(t *testing.T) {
	r := virtually(t, Config{Spec: updates(t, 20, 200, 10, "constant"), Speed: 0})
	requireBalance(t, r)
	assert.Contains(t, strings.Join(r.Warnings, "; "), "as fast as possible")
	assert.Less(t, r.Load, time.Second)
}
