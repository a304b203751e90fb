package impltest

import (
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// Upstream's own types keep every clause but for the faults named here.

func TestUpstreamQueue(t *testing.T) {
	TestQueue(t, func(c workqueue.TypedQueueConfig[string]) workqueue.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(c)
	}, "fault:spurious-done", "fault:concurrent-drains")
}

func TestUpstreamStorage(t *testing.T) { TestStorage(t, workqueue.DefaultQueue[string]) }

func TestUpstreamDelayingQueue(t *testing.T) {
	TestDelayingQueue(t, workqueue.NewTypedDelayingQueueWithConfig[string],
		"fault:spurious-done", "fault:concurrent-drains", "fault:no-goroutine-after-drain",
		"fault:adder-never-waits", "fault:no-retained-delayed-items")
}

func TestUpstreamRateLimiter(t *testing.T) {
	TestRateLimiter(t, workqueue.DefaultTypedControllerRateLimiter[string])
}

func TestUpstreamRateLimitingQueue(t *testing.T) {
	TestRateLimitingQueue(t, workqueue.NewTypedRateLimitingQueueWithConfig[string],
		"fault:spurious-done", "fault:concurrent-drains", "fault:no-goroutine-after-drain", "fault:no-retained-delayed-items")
}

func TestUpstreamPriorityQueue(t *testing.T) {
	TestPriorityQueue(t, priorityqueue.New[string],
		"len-counts-queued", "drain-after-shutdown", "requeue-after-shutdown", "drain-waits-processing",
		"drain-includes-requeued", "shutdown-ends-drain", "panic-unlocks",
		"fault:shutdown-twice", "fault:concurrent-drains", "priority-linearizable")
}
