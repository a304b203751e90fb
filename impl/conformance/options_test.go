package conformance

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"k8s.io/client-go/util/workqueue"
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

func TestBackOff(t *testing.T) {
	impltest.TestBackOff(t, func(l workqueue.TypedRateLimiter[string], maxWait time.Duration) workqueue.TypedRateLimitingInterface[string] {
		return ratelimit.NewFusedQueueWithOptions(l, workqueue.TypedRateLimitingQueueConfig[string]{},
			ratelimit.QueueOptions{OnceWhileWaiting: true, MaxWait: maxWait})
	})
}
