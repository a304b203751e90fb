package informer

import (
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"k8s.io/client-go/tools/cache"
)

// metrics are the ones of upstream's provider, for informers with a reserved
// name.
type metrics struct {
	queued          cache.GaugeMetric
	latency         cache.HistogramMetric
	resourceVersion cache.GaugeMetric
}

// newMetrics asks a provider for the metrics, or the program's if it is nil.
func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) metrics {
	if !id.Reserved() {
		return metrics{}
	}
	if provider == nil {
		provider = globalProvider()
	}
	if provider == nil {
		return metrics{}
	}
	return metrics{
		queued:          provider.NewQueuedItemMetric(id),
		latency:         provider.NewProcessingLatencyMetric(id),
		resourceVersion: provider.NewStoreResourceVersionMetric(id),
	}
}

// globalProvider is what cache.SetInformerMetricsProvider was given, or one that
// does nothing. client-go alone can read it, but a store of its own has it. It is
// nil should a version of client-go keep it elsewhere.
func globalProvider() cache.InformerMetricsProvider {
	store := reflect.ValueOf(cache.NewStore(keyFunc, cache.WithStoreMetrics(cache.InformerNameAndResource{}, nil)))
	if store.Kind() != reflect.Pointer || store.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := store.Elem().FieldByName("metrics")
	if !field.IsValid() || field.Type() != reflect.TypeFor[cache.InformerMetricsProvider]() {
		return nil
	}
	return *(*cache.InformerMetricsProvider)(unsafe.Pointer(field.UnsafeAddr()))
}

// measure measures process. Of one that panics it tells nothing, as upstream.
func (m metrics) measure(store cache.Store, process func() error) error {
	if m.latency == nil {
		return process()
	}
	begun := time.Now()
	err := process()
	m.latency.Observe(time.Since(begun).Seconds())
	if rv, err := strconv.ParseInt(lastDigits(store.LastStoreSyncResourceVersion()), 10, 64); err == nil {
		m.resourceVersion.Set(float64(rv))
	}
	return err
}

// lastDigits keeps a gauge exact: a float64 has 53 bits.
func lastDigits(resourceVersion string) string {
	return resourceVersion[max(0, len(resourceVersion)-15):]
}
