package queue

import (
	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// newMeter makes the meter of a queue, or nil if it needs none.
func newMeter[T comparable](config workqueue.TypedQueueConfig[T]) *meter.Meter {
	c := config.Clock
	if c == nil {
		c = clock.RealClock{}
	}
	return meter.New(config.Name, config.MetricsProvider, c)
}
