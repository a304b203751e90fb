package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/impl/ratelimit"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// engine is the state of one simulation. Whatever happens next, happens at the
// earliest of: the next step of a worker, the next delayed item of a queue, the
// next delivery of the feed, the next resync, the next work of others; of equal
// times in this order.
type engine struct {
	config    *Config
	reconcile *loadgen.Reconcile
	clock     *virtualClock
	feed      *feed
	ledger    *ledger
	stations  []*station
	stationOf []*station // by resource
	api       workqueue.TypedRateLimiter[struct{}]
	resyncAt  time.Duration
	othersAt  time.Duration
	others    *rand.Rand

	jobs  []job    // by slot
	free  []uint32 // slots
	steps stepHeap // of the jobs

	picks  uint64 // jobs so far
	source rand.PCG
	random *rand.Rand // on source

	tally

	watched func(step byte, k key) // for tests: 'g' a worker got the key, 'd' it is done
}

// never is after everything.
const never = time.Duration(math.MaxInt64)

func newEngine(c *Config, arrivals Arrivals) *engine {
	e := &engine{
		config:    c,
		reconcile: &c.Spec.Reconcile,
		clock:     &virtualClock{},
		ledger:    newLedger(c.Spec.Resources),
		resyncAt:  never,
		othersAt:  never,
	}
	e.random = rand.New(&e.source)
	if r := e.reconcile; r.QPS > 0 {
		// client-go keeps the limit in single precision.
		e.api = ratelimit.NewBucket[struct{}](rate.Limit(float32(r.QPS)), r.Burst, ratelimit.WithClock(e.clock))
		if c.Background > 0 {
			e.others, e.othersAt = rand.New(rand.NewPCG(c.Seed, 2<<32)), 0
		}
	}
	if e.reconcile.Resync > 0 {
		e.resyncAt = e.reconcile.Resync
	}
	for _, q := range c.Queues {
		p := &probe{}
		e.stations = append(e.stations, &station{
			name: q.Name, workers: q.Workers, probe: p,
			queue: newWorkQueue(e.clock, e.reconcile.Limiter, c, p),
		})
	}
	for _, q := range c.queueOf() {
		e.stationOf = append(e.stationOf, e.stations[q])
	}
	e.feed = newFeed(c, arrivals, rand.New(rand.NewPCG(c.Seed, 1<<32)), &e.tally.storeWait)
	return e
}

// run simulates to the end.
func (e *engine) run(ctx context.Context) error {
	if e.config.Warmup == 0 {
		e.begin(e.stations, 0)
	}
	if e.config.Cold {
		e.list()
		e.employ()
	}
	for ; ; e.events++ {
		if e.events&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.events >= e.config.MaxEvents {
			return e.endless()
		}
		at, happen := e.upcoming()
		if e.config.Until > 0 && at > e.config.Until {
			e.pass(e.config.Until)
			break
		}
		if at == never {
			break
		}
		e.pass(at)
		happen(e)
		e.employ()
	}
	if !e.counting {
		return fmt.Errorf("warmup: found %v, but the simulation ended at %v", e.config.Warmup, e.clock.now)
	}
	return nil
}

// upcoming is what happens next.
func (e *engine) upcoming() (at time.Duration, happen func(*engine)) {
	at = never
	if due := e.steps.first(); due < at {
		at, happen = due, (*engine).step
	}
	for _, s := range e.stations {
		if due, ok := s.queue.Next(); ok && due < at {
			at, happen = due, (*engine).promote
		}
	}
	if due, ok := e.feed.peek(); ok && due < at {
		at, happen = due, (*engine).deliver
	}
	if e.resyncAt < at && !e.ended() {
		at, happen = e.resyncAt, (*engine).resync
	}
	if e.othersAt < at && !e.ended() {
		at, happen = e.othersAt, (*engine).othersWork
	}
	return at, happen
}

// othersWork begins with the calls of a reconcile elsewhere, as many and one
// after the other as here.
func (e *engine) othersWork() {
	r := e.reconcile
	e.othersAt += max(1, seconds(randvar.Exp(e.others)/e.config.Background*max(1, r.Calls.Mean())))
	j := job{calls: int(math.Round(r.Calls.Sample(e.others)))}
	j.source.Seed(e.others.Uint64(), 0)
	e.schedule(e.clock.now, j)
}

// ended tells that the arrivals are over, in a simulation without a fixed end.
func (e *engine) ended() bool {
	_, more := e.feed.peek()
	return !more && e.config.Until == 0
}

// pass moves the time.
func (e *engine) pass(to time.Duration) {
	if !e.counting && to >= e.config.Warmup {
		e.clock.now = e.config.Warmup
		e.begin(e.stations, e.clock.now)
	}
	d := float64(to - e.clock.now)
	for _, s := range e.stations {
		s.busyArea += d * float64(s.busy)
		s.depthArea += d * float64(s.probe.depth)
	}
	e.clock.now = to
}

func (e *engine) promote() {
	for _, s := range e.stations {
		if due, ok := s.queue.Next(); ok && due <= e.clock.now {
			s.queue.Promote()
		}
	}
}

// deliver hands an event to the handler.
func (e *engine) deliver() {
	d := e.feed.pop()
	k := e.ledger.identify(d.draw)
	if !d.repeat {
		if e.arrivals == 0 {
			e.firstDue = d.draw.At
		}
		e.arrivals++
		e.lastDue = d.draw.At
		e.ledger.arrived(k, d.draw.At)
	}
	e.add(k, 0)
	if d.relist {
		e.list()
	}
	if e.ended() {
		e.window = e.sofar(e.stations, e.clock.now)
	}
}

// add is what the handler does.
func (e *engine) add(k key, priority int) {
	s := e.stationOf[k.resource()]
	before := s.probe.adds
	s.queue.add(k, priority)
	if s.probe.adds == before {
		e.coalesced++
	}
}

// list brings every object again, as a list or a resync does.
func (e *engine) list() {
	listed := 0
	for r, objects := range e.ledger.objects {
		for n := range objects {
			if objects[n].state == alive {
				e.add(keyOf(r, uint32(n)), lowPriority)
				listed++
			}
		}
	}
	e.listed += int64(listed)
	e.feed.listed(e.clock.now, listed)
}

func (e *engine) resync() {
	e.resyncAt += e.reconcile.Resync
	e.list()
}

// endless says why a simulation does not end.
func (e *engine) endless() error {
	queued := 0
	for _, s := range e.stations {
		queued += s.probe.depth
	}
	return fmt.Errorf("the simulation did not end within %d events: at the virtual time %v %d items are queued and %d events not settled; set a time at which it ends, or a load that does",
		e.config.MaxEvents, e.clock.now.Round(time.Millisecond), queued, e.ledger.open)
}
