// Package gate is what the work queues of one lock have in common.
package gate

import (
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/meter"
	"github.com/informerbench/informerbench/impl/internal/workers"
)

// A Gate is the lock with those who wait at it, shutdown, and the meter, which
// is nil without metrics. The meter calls the user's code, which may panic: under
// a deferred Leave, and only when the queue's invariant holds. Init it first.
type Gate struct {
	workers.Workers
	Closed    atomic.Bool // shutdown began; set under the lock
	Meter     *meter.Meter
	stopMeter sync.Once
}

// Init makes the zero Gate usable. update sets the metrics of what is in
// processing; it is called twice a second and takes the lock itself.
func (g *Gate) Init(m *meter.Meter, update func()) {
	g.Workers.Init()
	if m != nil {
		g.Meter = m
		m.Run(update)
	}
}

// Due tells whether Leave has somebody to wake. Where it has not, Unlock does and
// is no call.
func (g *Gate) Due(queued int) bool { return queued > 0 && g.Sleepers() }

// Leave releases the lock and, if items are queued, sees to it that a worker
// comes. Every operation that may have changed the queue ends with it, one that
// panicked in the user's code too.
func (g *Gate) Leave(queued int) {
	wake := g.Due(queued) && g.Wake()
	g.Unlock()
	if wake {
		g.Signal()
	}
}

// ShutDown makes the queue ignore further items and wakes every Get.
func (g *Gate) ShutDown() { g.shutDown(false) }

// ShutDownWithDrain is ShutDown and waits until no item is in processing, or
// until a later ShutDown.
func (g *Gate) ShutDownWithDrain() { g.shutDown(true) }

func (g *Gate) shutDown(drain bool) {
	if g.Meter != nil {
		g.stopMeter.Do(g.Meter.Stop)
		defer g.Meter.Wait()
	}
	g.Lock()
	defer g.Unlock()
	g.Closed.Store(true)
	g.Close(drain)
	g.Drained()
}

// ShuttingDown tells whether the queue was shut down. It takes no lock: who is
// told so and locks finds the queue closed.
func (g *Gate) ShuttingDown() bool { return g.Closed.Load() }
