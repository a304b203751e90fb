package queue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// upstream returns client-go's own queue if that is the only one which can
// serve config: a queue with a name and without a provider reports to the
// provider of workqueue.SetProvider, which only client-go can read. Otherwise
// it returns nil.
func upstream[T comparable](config workqueue.TypedQueueConfig[T]) workqueue.TypedInterface[T] {
	if config.Name == "" || config.MetricsProvider != nil {
		return nil
	}
	// client-go starts a ticker if and only if a provider is set; its ShutDown
	// waits for the goroutine that does it.
	probe := &tickerProbe{}
	workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: config.Name, Clock: probe}).ShutDown()
	if !probe.ticked {
		return nil
	}
	return workqueue.NewTypedWithConfig(config)
}

type tickerProbe struct {
	clock.RealClock
	ticked bool
}

func (p *tickerProbe) NewTicker(d time.Duration) clock.Ticker {
	p.ticked = true
	return p.RealClock.NewTicker(d)
}
