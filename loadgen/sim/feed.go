package sim

import (
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A feed takes events from their source to the moment at which the informer's
// handler adds their keys:
//
//  1. The watch delivers an event when it happens, or later: the server sends a
//     limited number a second, a connection breaks, a watch that has expired
//     begins again with a list. Some events come twice, or an old one again.
//  2. The informer takes what has come, up to a batch, waits for the store's lock
//     and writes. The handler sees the batch when all of it is written.
type feed struct {
	source Arrivals
	spec   *loadgen.Spec
	store  Store
	crowds []crowd
	random *rand.Rand

	received delivery // the next event from the watch
	more     bool
	repeat   int // deliveries still to come of what was duplicated
	sentAt   time.Duration
	sent     int           // since the last list
	cutAt    time.Duration // of the next disconnect
	upAt     time.Duration // when the watch works again

	batch  []delivery
	next   int                  // in batch
	freeAt time.Duration        // when the informer can take the next batch
	waited *durations.Histogram // for the store's lock
}

// A delivery is an event on its way. Without an intended time of its own it is
// one more Add of a key and nothing to settle.
type delivery struct {
	at     time.Duration // when it is delivered
	draw   loadgen.Draw  // Draw.At is the intended time
	repeat bool
	relist bool // all objects are listed again after it
}

func newFeed(c *Config, source Arrivals, random *rand.Rand, waited *durations.Histogram) *feed {
	f := &feed{
		source: source, spec: c.Spec, store: c.Store, crowds: c.Store.crowds(c.Spec), random: random, waited: waited,
		cutAt: c.Spec.Faults.Disconnect,
	}
	f.receive()
	f.fill()
	return f
}

// peek is when the next delivery is made.
func (f *feed) peek() (at time.Duration, ok bool) {
	if f.next == len(f.batch) {
		return 0, false
	}
	return f.batch[f.next].at, true
}

// pop makes the next delivery.
func (f *feed) pop() delivery {
	d := f.batch[f.next]
	f.next++
	if f.next == len(f.batch) {
		f.fill()
	}
	return d
}

// receive reads the next event from the watch.
func (f *feed) receive() {
	if f.repeat > 0 {
		f.repeat--
		f.received = delivery{at: f.received.at, draw: f.received.draw, repeat: true}
		return
	}
	draw, ok := f.source.Next()
	f.more = ok
	if !ok {
		return
	}
	faults := &f.spec.Faults
	at := draw.At
	if faults.Throttle > 0 {
		at = max(at, f.sentAt+seconds(1/faults.Throttle))
	}
	f.sentAt = at
	for faults.Disconnect > 0 && at >= f.cutAt {
		f.upAt = max(f.upAt, f.cutAt+f.call())
		f.cutAt += faults.Disconnect
	}
	d := delivery{draw: draw}
	if f.sent++; faults.Gone > 0 && f.sent >= faults.Gone {
		f.sent = 0
		f.upAt = max(f.upAt, at+f.call()+faults.SlowList)
		d.relist = true
	}
	d.at = max(at, f.upAt)
	f.received = d
	if faults.Duplicate > 0 && randvar.Float64(f.random) < faults.Duplicate {
		f.repeat++
	}
	if faults.Stale > 0 && randvar.Float64(f.random) < faults.Stale {
		f.repeat++
	}
}

// call is how long a request of the reflector takes.
func (f *feed) call() time.Duration { return seconds(f.spec.Reconcile.CallLatency.Sample(f.random)) }

// fill makes a batch of what the informer finds when it is free.
func (f *feed) fill() {
	f.batch, f.next = f.batch[:0], 0
	if !f.more {
		return
	}
	begin := max(f.freeAt, f.received.at)
	for f.more && f.received.at <= begin && len(f.batch) < f.spec.Reconcile.Batch {
		f.batch = append(f.batch, f.received)
		f.receive()
	}
	waited := time.Duration(0)
	if len(f.crowds) > 0 {
		waited = wait(f.crowds, f.random)
		f.waited.Record(waited)
	}
	f.freeAt = begin + waited + time.Duration(len(f.batch))*f.store.Update
	for i := range f.batch {
		f.batch[i].at = f.freeAt
	}
}

// listed keeps the informer busy with n objects that came at once.
func (f *feed) listed(now time.Duration, n int) {
	f.freeAt = max(f.freeAt, now) + time.Duration(n)*f.store.Update
}
