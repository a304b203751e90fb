package queue

import (
	"github.com/informerbench/informerbench/impl/internal/core"
	"k8s.io/client-go/util/workqueue"
)

// A compactQueue is the core as it is.
type compactQueue[T comparable] = core.Queue[T, struct{}]

// NewCompact makes the compact queue. A storage in config.Queue takes the place
// of the table's own order, so such a queue is the one that NewRing makes.
func NewCompact[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Queue != nil {
		return NewRing(config)
	}
	q := new(compactQueue[T])
	q.Init(newMeter(config))
	q.Run()
	return q
}

// newMeter makes the meter of a queue, or nil if it needs none.
func newMeter[T comparable](config workqueue.TypedQueueConfig[T]) *core.Meter {
	return core.NewMeter(config.Name, config.MetricsProvider, config.Clock)
}
