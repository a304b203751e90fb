package informer

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// metrics are the ones of upstream's provider, for informers with a reserved
// name.
type metrics struct {
	queued          cache.GaugeMetric
	latency         cache.HistogramMetric
	resourceVersion cache.GaugeMetric
}

// newMetrics asks a provider for the metrics.
func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) metrics {
	if !id.Reserved() {
		return metrics{}
	}
	if provider == nil {
		klog.Background().Info("Informer has a name but no InformerMetricsProvider: it has no metrics. What cache.SetInformerMetricsProvider was given only client-go can read",
			"informer", id.Name(), "resource", id.GroupVersionResource())
		return metrics{}
	}
	return metrics{
		queued:          made(provider.NewQueuedItemMetric(id), "queued items", id),
		latency:         made(provider.NewProcessingLatencyMetric(id), "processing latency", id),
		resourceVersion: made(provider.NewStoreResourceVersionMetric(id), "the store's resource version", id),
	}
}

// made is what a provider made: nothing would end the program at the first event, in
// code that knows no provider.
func made[M any](metric M, kind string, id cache.InformerNameAndResource) M {
	if any(metric) == nil {
		panic(fmt.Sprintf("informer %q of %s: its InformerMetricsProvider made nil as the metric for %s, expected a metric",
			id.Name(), id.GroupVersionResource().GroupResource(), kind))
	}
	return metric
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
