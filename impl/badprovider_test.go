package impl_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/ratelimit"
)

// A brokenProvider makes nil in the place of one metric, or panics.
type brokenProvider struct {
	prometheusProvider
	kind   string
	panics bool
}

func broken[M any](p brokenProvider, kind string, metric M) M {
	if kind != p.kind {
		return metric
	}
	if p.panics {
		panic("the provider's own words")
	}
	var none M
	return none
}

func (p brokenProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return broken(p, "depth", p.prometheusProvider.NewDepthMetric(name))
}
func (p brokenProvider) NewAddsMetric(name string) workqueue.CounterMetric {
	return broken(p, "adds", p.prometheusProvider.NewAddsMetric(name))
}
func (p brokenProvider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return broken(p, "latency", p.prometheusProvider.NewLatencyMetric(name))
}
func (p brokenProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return broken(p, "work duration", p.prometheusProvider.NewWorkDurationMetric(name))
}
func (p brokenProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return broken(p, "unfinished work", p.prometheusProvider.NewUnfinishedWorkSecondsMetric(name))
}
func (p brokenProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return broken(p, "longest running processor", p.prometheusProvider.NewLongestRunningProcessorSecondsMetric(name))
}
func (p brokenProvider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return broken(p, "retries", p.prometheusProvider.NewRetriesMetric(name))
}

// named are the constructors of every queue of ours, as functions of a provider.
func named() map[string]func(workqueue.MetricsProvider) {
	all := map[string]func(workqueue.MetricsProvider){}
	for _, v := range impl.Queues[string]() {
		if !v.Peer {
			all["queue/"+v.Name] = func(p workqueue.MetricsProvider) {
				v.New(workqueue.TypedQueueConfig[string]{Name: "q", MetricsProvider: p})
			}
		}
	}
	for _, v := range impl.DelayingQueues[string]() {
		if !v.Peer {
			all["delaying-queue/"+v.Name] = func(p workqueue.MetricsProvider) {
				v.New(workqueue.TypedDelayingQueueConfig[string]{Name: "q", MetricsProvider: p})
			}
		}
	}
	for _, v := range impl.RateLimitingQueues[string]() {
		if !v.Peer {
			all["rate-limiting-queue/"+v.Name] = func(p workqueue.MetricsProvider) {
				v.New(ratelimit.NewDefault[string](), workqueue.TypedRateLimitingQueueConfig[string]{Name: "q", MetricsProvider: p})
			}
		}
	}
	for _, v := range impl.PriorityQueues[string]() {
		if !v.Peer {
			all["priority-queue/"+v.Name] = func(p workqueue.MetricsProvider) {
				v.New("q", func(o *priorityqueue.Opts[string]) { o.MetricProvider = p })
			}
		}
	}
	return all
}

// A provider that makes no metric, or panics, is refused by the constructor and not by the
// first Add, which knows no provider; and no goroutine of a queue that was not made is left.
func TestBrokenProviders(t *testing.T) {
	kinds := []string{"depth", "adds", "latency", "work duration", "unfinished work", "longest running processor", "retries"}
	for name, construct := range named() {
		for _, kind := range kinds {
			if kind == "retries" && strings.HasPrefix(name, "queue/") {
				continue // nothing is retried
			}
			for words, panics := range map[string]bool{
				fmt.Sprintf(`work queue "q": its MetricsProvider made nil as the metric for %s, expected a metric`, kind): false,
				"the provider's own words": true,
			} {
				synctest.Test(t, func(t *testing.T) {
					assert.PanicsWithValue(t, words, func() {
						construct(brokenProvider{newPrometheusProvider(prometheus.NewRegistry()), kind, panics})
					}, "%s, %s", name, kind)
				})
			}
		}
	}
}
