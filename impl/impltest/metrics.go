package impltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// recorder is a MetricsProvider that keeps every value.
type recorder struct {
	mu       sync.Mutex
	values   map[string]float64   // depth, adds, retries, unfinished, longest
	observed map[string][]float64 // latency, work: seconds
	made     []string             // metric(queue name), in the order of creation
}

func newRecorder() *recorder {
	return &recorder{values: map[string]float64{}, observed: map[string][]float64{}}
}

// A recorded is one metric of a recorder, as any of upstream's metric types.
type recorded struct {
	r    *recorder
	name string
}

func (r *recorder) metric(name, queue string) *recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, name+"("+queue+")")
	return &recorded{r, name}
}

func (m *recorded) Inc() { m.add(1) }
func (m *recorded) Dec() { m.add(-1) }

func (m *recorded) add(n float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.values[m.name] += n
}

func (m *recorded) Set(v float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.values[m.name] = v
}

func (m *recorded) Observe(v float64) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	m.r.observed[m.name] = append(m.r.observed[m.name], v)
}

func (r *recorder) NewDepthMetric(q string) workqueue.GaugeMetric  { return r.metric("depth", q) }
func (r *recorder) NewAddsMetric(q string) workqueue.CounterMetric { return r.metric("adds", q) }
func (r *recorder) NewLatencyMetric(q string) workqueue.HistogramMetric {
	return r.metric("latency", q)
}
func (r *recorder) NewWorkDurationMetric(q string) workqueue.HistogramMetric {
	return r.metric("work", q)
}
func (r *recorder) NewUnfinishedWorkSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return r.metric("unfinished", q)
}
func (r *recorder) NewLongestRunningProcessorSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return r.metric("longest", q)
}
func (r *recorder) NewRetriesMetric(q string) workqueue.CounterMetric { return r.metric("retries", q) }

func (r *recorder) value(name string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[name]
}

func (r *recorder) observations(name string) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.observed[name])
}

// metricClauses are the clauses about each metric.
var metricClauses = map[string][]string{
	"depth": {"metrics-depth-adds"}, "adds": {"metrics-depth-adds"}, "latency": {"metrics-latency"}, "work": {"metrics-work-duration"},
	"unfinished": {"metrics-unfinished", "no-goroutine-leak"}, "longest": {"metrics-unfinished", "no-goroutine-leak"},
	"retries": {"metrics-retries", "metrics-real-retries"},
}

// measures tells whether a metric may be compared: no clause about it is relaxed.
func (t *trial) measures(metric string) bool {
	return !t.relaxed("metrics-registered") && !slices.ContainsFunc(metricClauses[metric], t.relaxed)
}

// measurements is everything recorded that may be compared. What is zero is left
// out, since a queue need not set what it never changed.
func (t *trial) measurements(r *recorder) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(metricClauses)) {
		if v := r.values[name]; v != 0 && t.measures(name) {
			fmt.Fprintf(&b, "%s=%.6f ", name, v)
		}
		if v := r.observed[name]; v != nil && t.measures(name) {
			fmt.Fprintf(&b, "%s=%.6f ", name, v)
		}
	}
	return b.String()
}

var _ workqueue.MetricsProvider = (*recorder)(nil)

// metricsClauses are the clauses about the seven metrics of upstream's queue.
var metricsClauses = []clause[newQueue]{
	{name: "metrics-registered", contract: "queue 8", run: queueMetricsRegistered,
		reason: "dashboards find a queue by the name in its config: every metric is created once, under that name"},
	{name: "metrics-unnamed", contract: "queue 8", run: queueMetricsUnnamed,
		reason: "a queue without a name registers no metrics, so that it can't collide with another one"},
	{name: "metrics-depth-adds", contract: "queue 8", run: queueMetricsDepthAdds,
		reason: "depth and adds count an item once until it is handed out, however often it was added; alerts on backlog rely on it"},
	{name: "metrics-latency", contract: "queue 8", run: queueMetricsLatency,
		reason: "latency is the time from the first Add of an item until it is handed out, in seconds"},
	{name: "metrics-work-duration", contract: "queue 8", run: queueMetricsWorkDuration,
		reason: "work duration is the time from Get to Done, in seconds"},
	{name: "metrics-unfinished", contract: "queue 8", run: queueMetricsUnfinished,
		reason: "unfinished work and longest running processor are brought up to date twice a second, so that a stuck worker shows"},
	{name: "global-provider", contract: "queue 9", run: queueGlobalProvider, weaker: queueNoProvider,
		reason: "a queue that is given a name and no provider reports to the one that the program set; relaxed: it reports nowhere and works"},
}

func queueMetricsRegistered(t *trial, new newQueue) {
	_, r := measured(t, new)
	for _, metric := range []string{"depth", "adds", "latency", "work", "unfinished", "longest"} {
		assert.Equal(t, 1, count(r.made, metric+"(measured)"), "how often the provider was asked for %s: %v", metric, r.made)
	}
}

func queueMetricsUnnamed(t *trial, new newQueue) {
	r := newRecorder()
	q := start(t, new, workqueue.TypedQueueConfig[string]{MetricsProvider: r})
	q.Add("a")
	take(t, q)
	q.Done("a")
	synctest.Wait()
	assert.Empty(t, r.made, "metrics that the queue asked for")
}

var namedQueues atomic.Int64

// globalMetrics are those that a queue without a provider reports. They are looked for where
// controller-runtime, which this package links in, makes a program report.
func globalMetrics(t *trial, new newQueue) (reported []string) {
	name := fmt.Sprintf("global-%d", namedQueues.Add(1))
	q := start(t, new, workqueue.TypedQueueConfig[string]{Name: name})
	q.Add("a")
	q.Done(take(t, q))
	synctest.Wait()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "name" && label.GetValue() == name {
					reported = append(reported, family.GetName())
				}
			}
		}
	}
	return reported
}

func queueGlobalProvider(t *trial, new newQueue) {
	assert.Subset(t, globalMetrics(t, new), []string{"workqueue_depth", "workqueue_adds_total", "workqueue_queue_duration_seconds",
		"workqueue_work_duration_seconds", "workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds"})
}

// queueNoProvider is what is left to a queue that is not client-go's, which can't know the
// program's provider: none of the metrics, and not some.
func queueNoProvider(t *trial, new newQueue) { assert.Empty(t, globalMetrics(t, new)) }

func queueMetricsDepthAdds(t *trial, new newQueue) {
	t.needs("metrics-registered", "added-once", "requeue-after-done")
	q, r := measured(t, new)
	expect := func(depth, adds float64, when string) {
		synctest.Wait()
		q.Len()
		assert.Equal(t, depth, r.value("depth"), "depth %s", when)
		assert.Equal(t, adds, r.value("adds"), "adds %s", when)
	}
	q.Add("a")
	q.Add("a")
	q.Add("b")
	expect(2, 2, "after Add of a, a, b")
	item := take(t, q)
	expect(1, 2, "after Get")
	q.Add(item)
	q.Add(item)
	expect(2, 3, "after two Adds of the item that is processed")
	q.Done(item)
	expect(2, 3, "after its Done, which queues it again")
	take(t, q)
	take(t, q)
	expect(0, 3, "after Get of both")
}

func queueMetricsLatency(t *trial, new newQueue) {
	t.needs("metrics-registered", "requeue-after-done")
	q, r := measured(t, new)
	q.Add("a")
	synctest.Wait()
	time.Sleep(2 * time.Second)
	q.Add("a")
	synctest.Wait()
	time.Sleep(time.Second)
	take(t, q)
	assert.Equal(t, []float64{3}, r.observations("latency"), "Add, 2 s, Add again, 1 s, Get")
	q.Add("a")
	synctest.Wait()
	time.Sleep(4 * time.Second)
	q.Done("a")
	synctest.Wait()
	time.Sleep(time.Second)
	take(t, q)
	assert.Equal(t, []float64{3, 5}, r.observations("latency"), "Add while processed, 4 s, Done, 1 s, Get")
}

func queueMetricsWorkDuration(t *trial, new newQueue) {
	t.needs("metrics-registered", "done-unknown")
	q, r := measured(t, new)
	q.Add("a")
	synctest.Wait()
	time.Sleep(2 * time.Second)
	take(t, q)
	time.Sleep(7 * time.Second)
	q.Add("a")
	synctest.Wait()
	assert.Empty(t, r.observations("work"), "before Done")
	q.Done("a")
	q.Done("a")
	synctest.Wait()
	require.NotEmpty(t, r.observations("work"), "after Done")
	assert.InDelta(t, 7, r.observations("work")[0], 0, "Add, 2 s, Get, 7 s, Done")
	assert.Len(t, r.observations("work"), 1, "a second Done of an item is no work")
}

func queueMetricsUnfinished(t *trial, new newQueue) {
	t.needs("metrics-registered")
	q, r := measured(t, new)
	q.Add("a")
	q.Add("b")
	take(t, q)
	time.Sleep(4 * time.Second)
	take(t, q)
	time.Sleep(6*time.Second + time.Millisecond)
	synctest.Wait()
	assert.InDelta(t, 16, r.value("unfinished"), 1.01, "unfinished work of items held for 10 s and 6 s")
	assert.InDelta(t, 10, r.value("longest"), 0.51, "longest running of items held for 10 s and 6 s")
	q.Done("a")
	q.Done("b")
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Zero(t, r.value("unfinished"), "unfinished work after Done")
	assert.Zero(t, r.value("longest"), "longest running after Done")
}

// measured makes a queue with metrics on.
func measured(t *trial, new newQueue) (workqueue.TypedInterface[string], *recorder) {
	r := newRecorder()
	return start(t, new, workqueue.TypedQueueConfig[string]{Name: "measured", MetricsProvider: r}), r
}

func count(list []string, s string) int {
	n := 0
	for _, e := range list {
		if e == s {
			n++
		}
	}
	return n
}
