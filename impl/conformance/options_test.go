package conformance

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/informer"
	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

type delayingConfig = workqueue.TypedDelayingQueueConfig[string]

func TestReschedulers(t *testing.T) {
	for name, new := range map[string]func(delayingConfig) workqueue.TypedDelayingInterface[string]{
		"heap":  delay.NewHeap[string],
		"heap4": delay.NewHeap4[string],
		"wheel": func(c delayingConfig) workqueue.TypedDelayingInterface[string] {
			return delay.NewWheel(c, delay.DefaultTick)
		},
		"fused": func(c delayingConfig) workqueue.TypedDelayingInterface[string] {
			return ratelimit.NewFusedQueue(ratelimit.NewDefault[string](), workqueue.TypedRateLimitingQueueConfig[string]{
				Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock})
		},
	} {
		t.Run(name, func(t *testing.T) {
			impltest.TestRescheduler(t, func(c delayingConfig) impltest.Rescheduler { return new(c).(delay.Rescheduler[string]) })
		})
	}
}

func TestOldest(t *testing.T) {
	impltest.TestOldest(t, func(every int) priorityqueue.PriorityQueue[string] {
		return priority.NewWithConfig(priority.Config[string]{OldestEvery: every})
	})
}

func TestBacklog(t *testing.T) {
	impltest.TestBacklog(t, func(backlog func(cache.InformerNameAndResource, string) cache.GaugeMetric) impl.NewInformer {
		return informer.Options{Backlog: backlog}.New
	})
}

func TestBackOff(t *testing.T) {
	impltest.TestBackOff(t, func(l workqueue.TypedRateLimiter[string], maxWait time.Duration) workqueue.TypedRateLimitingInterface[string] {
		return ratelimit.NewFusedQueueWithOptions(l, workqueue.TypedRateLimitingQueueConfig[string]{},
			ratelimit.QueueOptions{OnceWhileWaiting: true, MaxWait: maxWait})
	})
}
