package delay

import "k8s.io/client-go/util/workqueue"

// newInner makes the work queue of a configuration that brings none.
func newInner[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	return workqueue.NewTypedWithConfig(config)
}
