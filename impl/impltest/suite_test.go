package impltest

import (
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// Upstream's own types keep every clause but for the faults named here.

func TestUpstreamQueue(t *testing.T) {
	t.Parallel()
	TestQueue(t, func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(c)
	}, "fault:spurious-done", "fault:concurrent-drains")
}

func TestUpstreamStorage(t *testing.T) {
	t.Parallel()
	TestStorage(t, workqueue.DefaultQueue[string])
}

func TestUpstreamDelayingQueue(t *testing.T) {
	t.Parallel()
	TestDelayingQueue(t, workqueue.NewTypedDelayingQueueWithConfig[string],
		append(upstreamDelayRelaxes, "fault:adder-never-waits")...)
}

func TestUpstreamRateLimiter(t *testing.T) {
	t.Parallel()
	TestRateLimiter(t, workqueue.DefaultTypedControllerRateLimiter[string])
}

func TestUpstreamRateLimitingQueue(t *testing.T) {
	t.Parallel()
	TestRateLimitingQueue(t, workqueue.NewTypedRateLimitingQueueWithConfig[string], upstreamDelayRelaxes...)
}

func TestUpstreamPriorityQueue(t *testing.T) {
	t.Parallel()
	TestPriorityQueue(t, priorityqueue.New[string], upstreamPriorityRelaxes...)
}
