package queue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/impl/internal/meter"
	"github.com/informerbench/informerbench/impl/internal/workers"
)

// A gate is what the queues of one lock have in common: the lock with those who
// wait at it, shutdown, and the meter, which is nil without metrics. The meter
// calls the user's code, which may panic: under a deferred leave, and only when
// the queue's invariant holds.
type gate struct {
	workers.Workers
	shuttingDown bool
	meter        *meter.Meter
	stopMeter    sync.Once
}

func (g *gate) init(m *meter.Meter, update func()) {
	g.Workers.Init()
	if m != nil {
		g.meter = m
		m.Run(update)
	}
}

// leave releases the lock and, if items are queued, sees to it that a worker
// comes. Every operation that may have changed the queue ends with it, one that
// panicked in the user's code too.
func (g *gate) leave(queued int) {
	wake := queued > 0 && g.Wake()
	g.Unlock()
	if wake {
		g.Signal()
	}
}

// ShutDown makes the queue ignore further items and wakes every Get.
func (g *gate) ShutDown() { g.shutDown(false) }

// ShutDownWithDrain is ShutDown and waits until no item is in processing, or
// until a later ShutDown.
func (g *gate) ShutDownWithDrain() { g.shutDown(true) }

func (g *gate) shutDown(drain bool) {
	if g.meter != nil {
		g.stopMeter.Do(g.meter.Stop)
		defer g.meter.Wait()
	}
	g.Lock()
	defer g.Unlock()
	g.shuttingDown = true
	g.Close(drain)
	g.Drained()
}

// ShuttingDown tells whether the queue was shut down.
func (g *gate) ShuttingDown() bool {
	g.Lock()
	defer g.Unlock()
	return g.shuttingDown
}

// newMeter makes the meter of a queue, or nil if it needs none.
func newMeter[T comparable](config workqueue.TypedQueueConfig[T]) *meter.Meter {
	c := config.Clock
	if c == nil {
		c = clock.RealClock{}
	}
	return meter.New(config.Name, config.MetricsProvider, c)
}
