package drive

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
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

// Objects without a version are told apart all the same.
func TestRecordingWithoutVersions(t *testing.T) {
	const text = `{"resource": "pods", "type": "%s", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"%s}}}` + "\n"
	var events string
	for _, e := range [][]any{{"ADDED", ""}, {"MODIFIED", ""}, {"MODIFIED", `, "resourceVersion": ""`}, {"MODIFIED", `, "resourceVersion": "7"`}, {"DELETED", ""}} {
		events += fmt.Sprintf(text, e...)
	}
	spec := Recorded("x")
	spec.Reconcile = loadgen.Reconcile{Workers: 1, Service: dist(t, "1ms")}
	open := func() (loadgen.Stream, error) {
		return trace.OpenReader("x.jsonl", strings.NewReader(events), trace.Part{})
	}
	r := virtually(t, Config{Workload: "x", Spec: spec, Trace: open, Speed: 1})
	requireBalance(t, r)
	assert.Equal(t, 5, r.Accounting.Sent)
	assert.Contains(t, r.Warnings, "of 5 events, 4 have an object without metadata.resourceVersion: each is given one that is no number")
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

// An informer of ours takes batches of the size that the workload asks for;
// one that can't is named.
func TestInformerBatch(t *testing.T) {
	for informer, honours := range map[string]bool{"plain": true, "snapshot": true, upstream: false} {
		t.Run(informer, func(t *testing.T) {
			spec := updates(t, 20, 50, 50, "constant")
			spec.Reconcile.Batch = 2
			r := virtually(t, Config{Spec: spec, Parts: Parts{Informer: informer}, Speed: 0})
			requireBalance(t, r)
			assert.Equal(t, !honours, strings.Contains(strings.Join(r.Warnings, "; "), "informer batches of 2"), r.Warnings)
		})
	}
}

// Two versions of a resource are no load of one informer; two groups that name
// their resources alike are two resources.
func TestResourcesOfARecording(t *testing.T) {
	widget := func(version, name string) loadgen.Event {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, "Widget"))
		u.SetName(name)
		return loadgen.Event{Type: watch.Added, Object: u}
	}
	_, err := ofTrace(recording(widget("x.io/v1", "a"), widget("x.io/v2", "a")), 0)
	require.EqualError(t, err, "found Widget of version v2 after v1, expected one version of a resource: an informer watches one")
	s, err := ofTrace(recording(widget("x.io/v1", "a"), widget("y.io/v1", "a")), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"widgets", "widgets.y.io"}, s.names)
}

func recording(events ...loadgen.Event) func() (loadgen.Stream, error) {
	return func() (loadgen.Stream, error) {
		left := slices.Clone(events)
		return streamFunc(func() (loadgen.Event, error) {
			if len(left) == 0 {
				return loadgen.Event{}, io.EOF
			}
			e := left[0]
			left = left[1:]
			return e, nil
		}), nil
	}
}

type streamFunc func() (loadgen.Event, error)

func (f streamFunc) Next() (loadgen.Event, error) { return f() }
