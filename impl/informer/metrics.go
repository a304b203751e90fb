package informer

import (
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics are the ones of upstream's provider, for informers with a reserved
// name and a provider in their options.
type metrics struct {
	latency         cache.HistogramMetric
	resourceVersion cache.GaugeMetric
}

func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) metrics {
	if provider == nil || !id.Reserved() {
		return metrics{}
	}
	return metrics{
		latency:         provider.NewProcessingLatencyMetric(id),
		resourceVersion: provider.NewStoreResourceVersionMetric(id),
	}
}

// processed measures from its call to the call of its result.
func (m metrics) processed(store cache.Store) func() {
	if m.latency == nil {
		return func() {}
	}
	begun := time.Now()
	return func() {
		m.latency.Observe(time.Since(begun).Seconds())
		if rv, err := strconv.ParseInt(lastDigits(store.LastStoreSyncResourceVersion()), 10, 64); err == nil {
			m.resourceVersion.Set(float64(rv))
		}
	}
}

// lastDigits keeps a gauge exact: a float64 has 53 bits.
func lastDigits(resourceVersion string) string {
	return resourceVersion[max(0, len(resourceVersion)-15):]
}
