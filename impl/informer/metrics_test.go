package informer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/impl/informer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// A recorder is a provider that keeps what its metrics are told, by informer and
// metric.
type recorder struct {
	mu   sync.Mutex
	told map[string]map[string][]float64
}

func (r *recorder) metric(id cache.InformerNameAndResource, name string) told {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = map[string]map[string][]float64{}
	}
	if r.told[id.Name()] == nil {
		r.told[id.Name()] = map[string][]float64{}
	}
	return func(v float64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told[id.Name()][name] = append(r.told[id.Name()][name], v)
	}
}

type told func(float64)

func (f told) Set(v float64)     { f(v) }
func (f told) Observe(v float64) { f(v) }

func (r *recorder) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return r.metric(id, "queued")
}
func (r *recorder) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return r.metric(id, "latency")
}
func (r *recorder) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return r.metric(id, "version")
}

// live runs a named informer through a list, events and a bookmark, each of which
// is handled before the next comes, and a resync.
func live(t *testing.T, new newInformer, name string, provider cache.InformerMetricsProvider) {
	named, err := cache.NewInformerName(name)
	require.NoError(t, err)
	defer named.Release()
	id := named.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	events := make(chan watch.Event)
	lw := listOf(*pod("a"), *pod("b"))
	lw.WatchFuncWithContext = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if o.SendInitialEvents != nil {
			return nil, errors.New("no streaming")
		}
		return watch.NewProxyWatcher(events), nil
	}
	i := new(lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute, Identifier: id, InformerMetricsProvider: provider})
	_, err = i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	go i.RunWithContext(ctx)
	for n, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Added, watch.Bookmark} {
		synctest.Wait()
		p := pod("c")
		p.ResourceVersion = []string{"11", "12", "13", "12345678901234567890", "15"}[n]
		events <- watch.Event{Type: kind, Object: p}
	}
	time.Sleep(90 * time.Second)
	cancel()
	synctest.Wait()
}

type newInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

func TestMetricsMatchClientGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		live(t, informer.New, "ours", &r)
		live(t, cache.NewSharedIndexInformerWithOptions, "upstream", &r)
		ours, upstream := r.told["ours"], r.told["upstream"]
		for _, name := range []string{"queued", "version"} { // gauges may be told again what they say
			ours[name], upstream[name] = slices.Compact(ours[name]), slices.Compact(upstream[name])
		}
		upstream["queued"] = append(upstream["queued"], 1, 0) // it does not tell of the bookmark
		assert.Equal(t, upstream, ours)
	})
}

// Processing that panics has no latency, as in client-go.
func TestPanicsAreNotMeasured(t *testing.T) {
	really := utilruntime.ReallyCrash
	defer func() { utilruntime.ReallyCrash = really }()
	utilruntime.ReallyCrash = false
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		for name, new := range map[string]newInformer{"ours": informer.New, "upstream": cache.NewSharedIndexInformerWithOptions} {
			live(t, func(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
				broken := false
				options.Indexers = cache.Indexers{"breaks once": func(obj any) ([]string, error) {
					if !broken && obj.(*corev1.Pod).ResourceVersion == "12" {
						broken = true
						return nil, errors.New("broken")
					}
					return nil, nil
				}}
				return new(lw, example, options)
			}, name, &r)
		}
		assert.NotEmpty(t, r.told["ours"]["latency"])
		assert.Equal(t, r.told["upstream"]["latency"], r.told["ours"]["latency"])
	})
}

// A named informer without a provider says in the log that it has no metrics: it can't
// read what a program gave cache.SetInformerMetricsProvider.
func TestNamedWithoutProvider(t *testing.T) {
	defer klog.ClearLogger()
	synctest.Test(t, func(t *testing.T) {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true))
		live(t, informer.New, "nobody listens", nil)
		logged := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		assert.Equal(t, 1, strings.Count(logged, "no InformerMetricsProvider"), logged)
		assert.Contains(t, logged, "nobody listens")
	})
}

// A gauge for each handler counts the notifications that wait for it.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		named, err := cache.NewInformerName("backlog")
		require.NoError(t, err)
		defer named.Release()
		var of []string
		i := informer.Options{Backlog: func(id cache.InformerNameAndResource, handler string) cache.GaugeMetric {
			of = append(of, handler)
			return r.metric(id, "backlog")
		}}.New(listOf(*pod("a"), *pod("b"), *pod("c")), &corev1.Pod{}, cache.SharedIndexInformerOptions{Identifier: named.WithResource(schema.GroupVersionResource{})})
		gate := make(chan struct{})
		h, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-gate }})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		go i.RunWithContext(ctx)
		for range 2 {
			synctest.Wait()
			gate <- struct{}{}
		}
		synctest.Wait()
		assert.Equal(t, []float64{3, 2, 1, 0}, r.told["backlog"]["backlog"])
		require.NoError(t, i.RemoveEventHandler(h))
		close(gate)
		cancel()
		synctest.Wait()
		assert.Equal(t, []float64{3, 2, 1, 0, 0}, r.told["backlog"]["backlog"])
		assert.Equal(t, []string{"github.com/informerbench/informerbench/impl/informer_test.TestBacklog.func1"}, of)
	})
}

// nilMetric is a provider that makes nil in the place of one metric.
type nilMetric struct {
	*recorder
	kind string
}

func (p nilMetric) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	if p.kind == "queued items" {
		return nil
	}
	return p.recorder.NewQueuedItemMetric(id)
}

func (p nilMetric) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	if p.kind == "processing latency" {
		return nil
	}
	return p.recorder.NewProcessingLatencyMetric(id)
}

func (p nilMetric) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	if p.kind == "the store's resource version" {
		return nil
	}
	return p.recorder.NewStoreResourceVersionMetric(id)
}

// A provider that makes no metric is refused by the constructor, not by the first event.
func TestProviderWithoutAMetric(t *testing.T) {
	for _, kind := range []string{"queued items", "processing latency", "the store's resource version"} {
		named, err := cache.NewInformerName("lacking")
		require.NoError(t, err)
		options := cache.SharedIndexInformerOptions{
			Identifier:              named.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}),
			InformerMetricsProvider: nilMetric{&recorder{}, kind},
		}
		assert.PanicsWithValue(t, `informer "lacking" of pods: its InformerMetricsProvider made nil as the metric for `+kind+`, expected a metric`,
			func() { informer.New(listOf(), &corev1.Pod{}, options) })
		named.Release()
	}
}
