package impltest

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// informerMetricClauses are about what an informer tells of itself: the metrics of
// KEP-4346 and the store's version of KEP-5647.
var informerMetricClauses = []clause[newInformer]{
	{name: "metrics-registered", contract: "informer 13", run: informerMetricsRegistered,
		reason: "dashboards find an informer by its name and resource: each metric is made once with them, and none for an informer without a name"},
	{name: "metrics-queued-items", contract: "informer 13", run: informerMetricsQueuedItems,
		reason: "informer_queued_items counts what was received and is not in the store yet; alerts on an informer that falls behind rely on it"},
	{name: "metrics-latency", contract: "informer 13", run: informerMetricsLatency,
		reason: "informer_processing_latency_seconds is the time that a batch takes into the store, slow index functions included"},
	{name: "metrics-store-version", contract: "informer 13", run: informerMetricsStoreVersion,
		reason: "informer_store_resource_version follows events and bookmarks, so that a stale cache shows"},
	{name: "own-writes", contract: "informer 14", run: informerOwnWrites,
		reason: "a client waits until a handler was told of its own write, or the store has that version, and then reads the write"},
}

// An informerRecorder is a cache.InformerMetricsProvider that keeps what it is told.
type informerRecorder struct {
	mu   sync.Mutex
	made []string
	told map[string][]float64 // by metric
}

// A toldMetric is a gauge or a histogram of an informerRecorder.
type toldMetric func(float64)

func (f toldMetric) Set(v float64)     { f(v) }
func (f toldMetric) Observe(v float64) { f(v) }

func (r *informerRecorder) metric(name, of string) toldMetric {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, name+" of "+of)
	return func(v float64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.told == nil {
			r.told = map[string][]float64{}
		}
		r.told[name] = append(r.told[name], v)
	}
}

func described(id cache.InformerNameAndResource) string {
	return fmt.Sprintf("%s %s", id.Name(), id.GroupVersionResource().Resource)
}

func (r *informerRecorder) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return r.metric("queued", described(id))
}

func (r *informerRecorder) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return r.metric("latency", described(id))
}

func (r *informerRecorder) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return r.metric("version", described(id))
}

// since returns what a metric was told since the last time that it was asked for.
func (r *informerRecorder) since(name string) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told[name]
	delete(r.told, name)
	return told
}

var namedInformers atomic.Int64

// reserved is an informer's name and resource, which the clause has for itself.
func reserved(t *trial) cache.InformerNameAndResource {
	name, err := cache.NewInformerName(fmt.Sprintf("measured-%d", namedInformers.Add(1)))
	require.NoError(t, err)
	t.Cleanup(name.Release)
	return name.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "things"})
}

// measuredInformer runs a named informer through its initial list. Its index function
// takes two seconds for an object called slow.
func measuredInformer(t *trial, new newInformer, names ...string) (*informed, *informerRecorder) {
	var r informerRecorder
	i := inform(t, new, newSource(names...), cache.SharedIndexInformerOptions{
		Identifier: reserved(t), InformerMetricsProvider: &r,
		Indexers: cache.Indexers{"slow": func(obj any) ([]string, error) {
			if obj.(metav1.Object).GetName() == "slow" {
				time.Sleep(2 * time.Second)
			}
			return nil, nil
		}},
	}).run()
	return i, &r
}

func informerMetricsRegistered(t *trial, new newInformer) {
	i, r := measuredInformer(t, new)
	made := slices.Sorted(slices.Values(r.made))
	require.Len(t, made, 3)
	for n, metric := range []string{"latency", "queued", "version"} {
		assert.Regexp(t, "^"+metric+` of measured-\d+ things$`, made[n])
	}
	i.stop()
	<-i.done
	var nobody informerRecorder
	inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{InformerMetricsProvider: &nobody}).run()
	assert.Empty(t, nobody.made, "metrics of an informer without a name")
}

func informerMetricsQueuedItems(t *trial, new newInformer) {
	t.needs("metrics-registered")
	i, r := measuredInformer(t, new, "a", "b")
	initial := r.since("queued")
	require.NotEmpty(t, initial)
	assert.Zero(t, initial[len(initial)-1], "once the list is in the store: %v", initial)
	for range 3 {
		i.source.set("a")
		synctest.Wait()
		told := slices.Compact(r.since("queued"))
		assert.Equal(t, []float64{1, 0}, told[max(0, len(told)-2):], "with one event at a time: %v", told)
	}
}

func informerMetricsLatency(t *trial, new newInformer) {
	t.needs("metrics-registered", "indexers")
	i, r := measuredInformer(t, new, "a")
	assert.Equal(t, []float64{0}, r.since("latency"), "of the list")
	i.source.set("slow")
	time.Sleep(3 * time.Second)
	assert.Equal(t, []float64{2}, r.since("latency"), "of an object whose index function takes 2 s")
}

func informerMetricsStoreVersion(t *trial, new newInformer) {
	t.needs("metrics-registered", "bookmark")
	i, r := measuredInformer(t, new, "a")
	last := func() float64 {
		synctest.Wait()
		told := r.since("version")
		require.NotEmpty(t, told)
		return told[len(told)-1]
	}
	assert.InDelta(t, 11, last(), 0, "after the list")
	i.source.set("b")
	assert.InDelta(t, 12, last(), 0, "after an event")
	i.source.unset("a")
	assert.InDelta(t, 13, last(), 0, "after a deletion")
	i.source.bookmark()
	assert.InDelta(t, 14, last(), 0, "after a bookmark")
}

func informerOwnWrites(t *trial, new newInformer) {
	t.needs("in-order", "store-before-notify", "bookmark")
	i := inform(t, new, newSource("a"), cache.SharedIndexInformerOptions{})
	stored := func() int {
		n, err := strconv.Atoi(i.GetStore().LastStoreSyncResourceVersion())
		assert.NoError(t, err)
		return n
	}
	told := 0 // the newest version that the handler was told of
	tell := func(obj any) {
		o := obj.(metav1.Object)
		told, _ = strconv.Atoi(o.GetResourceVersion())
		assert.GreaterOrEqual(t, stored(), told, "the store's version when a handler is told of one")
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, obj any) { tell(obj) }, DeleteFunc: tell})
	require.NoError(t, err)
	i.run()
	for n, write := range []func(){func() { i.source.set("a") }, func() { i.source.set("b", "a") }, func() { i.source.unset("b") }} {
		write()
		synctest.Wait()
		assert.Equal(t, []int{12, 14, 15}[n], told, "the version of write %d, which the handler is told of", n)
		assert.Equal(t, told, stored(), "the store's version after write %d", n)
		i.expectTruth("after a write that the handler was told of")
	}
	i.source.bookmark()
	synctest.Wait()
	assert.Equal(t, 16, stored(), "the store's version after a bookmark, which no handler is told of")
}
