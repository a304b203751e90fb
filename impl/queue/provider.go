package queue

import (
	"github.com/informerbench/informerbench/impl/internal/globalmetrics"
	"github.com/informerbench/informerbench/impl/internal/meter"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// upstream puts the program's metrics provider into a config that has a name and
// none of its own. It returns client-go's own queue if that is the only one which
// can report to it, else nil.
func upstream[T comparable](config *workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	provider, ok := globalmetrics.Provider(config.Name, config.MetricsProvider)
	if !ok {
		return workqueue.NewTypedWithConfig(*config)
	}
	config.MetricsProvider = provider
	return nil
}

// newMeter makes the meter of a queue, or nil if it needs none.
func newMeter[T comparable](config workqueue.TypedQueueConfig[T]) *meter.Meter {
	c := config.Clock
	if c == nil {
		c = clock.RealClock{}
	}
	return meter.New(config.Name, config.MetricsProvider, c)
}
