package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A station is a work queue with its workers.
type station struct {
	name    string
	queue   workQueue
	probe   *probe
	workers int
	busy    int
	waking  int

	busyArea, depthArea float64 // integrals over time, in nanoseconds
}

// A job is a worker's present item.
type job struct {
	station  *station // nil: others' calls
	waking   bool     // for an item that it has not got yet
	key      key
	priority int
	source   rand.PCG      // of its own, so that draws do not depend on what else goes on
	calls    int           // still to make
	service  time.Duration // work alone
	own      time.Duration // work and API latency without waiting for tokens
	held     time.Duration // waits for tokens
}

// employ gives items to idle workers: at once or, if a worker takes time to wake
// up, by waking as many as there are items.
func (e *engine) employ() {
	for _, s := range e.stations {
		if e.config.Handover == 0 {
			for s.busy < s.workers && e.take(s) {
			}
			continue
		}
		for s.busy+s.waking < s.workers && s.waking < s.probe.depth {
			s.waking++
			e.schedule(e.clock.now+e.config.Handover, job{station: s, waking: true})
		}
	}
}

// take lets a worker begin with the next item.
func (e *engine) take(s *station) bool {
	k, priority, ok := s.queue.get()
	if ok {
		s.busy++
		e.start(job{station: s, key: k, priority: priority})
	}
	return ok
}

func (e *engine) start(j job) {
	if e.watched != nil {
		e.watched('g', j.key)
	}
	e.ledger.begins(j.key)
	e.picks++
	e.source.Seed(e.config.Seed, e.picks)
	j.service = seconds(e.reconcile.Service.Sample(e.random))
	j.own = j.service
	j.calls = e.drawCalls()
	at := e.clock.now + j.own
	if e.api == nil {
		for ; j.calls > 0; j.calls-- {
			latency := e.callLatency()
			e.apiCalls++
			j.own += latency
			at += latency
		}
	}
	j.source = e.source
	e.schedule(at, j)
}

func (e *engine) schedule(at time.Duration, j job) {
	slot := uint32(len(e.jobs))
	if n := len(e.free); n > 0 {
		slot, e.free = e.free[n-1], e.free[:n-1]
		e.jobs[slot] = j
	} else {
		e.jobs = append(e.jobs, j)
	}
	e.steps.push(at, slot)
}

// drawCalls rounds to whole calls.
func (e *engine) drawCalls() int { return int(math.Round(e.reconcile.Calls.Sample(e.random))) }

func (e *engine) callLatency() time.Duration {
	return seconds(e.reconcile.CallLatency.Sample(e.random))
}

// step continues the job whose time has come: with its next API call, for which
// it takes a token now, or with its end.
func (e *engine) step() {
	slot := e.steps.pop()
	j := &e.jobs[slot]
	e.source = j.source
	switch {
	case j.waking:
		e.free = append(e.free, slot)
		j.station.waking--
		e.take(j.station)
		return
	case j.calls == 0 && j.station == nil:
		e.free = append(e.free, slot)
		return
	case j.calls == 0:
		e.free = append(e.free, slot)
		e.finish(*j)
		return
	}
	j.calls--
	wait := e.api.When(struct{}{})
	latency := e.callLatency()
	if j.station != nil {
		e.apiCalls++
		e.throttle.Record(wait)
		j.held += wait
	}
	j.own += latency
	j.source = e.source
	e.steps.push(e.clock.now+wait+latency, slot)
}

func (e *engine) finish(j job) {
	s, r := j.station, e.reconcile
	s.busy--
	e.reconciles++
	e.own += j.own
	if e.api != nil {
		e.pairs.add(Pair{j.service, j.held})
	}
	switch {
	case r.Failure > 0 && randvar.Float64(e.random) < r.Failure:
		e.failed++
		failures := s.queue.NumRequeues(j.key)
		if failures == 0 {
			e.firstFailed++
		}
		if r.Retries == 0 || failures < r.Retries {
			s.queue.addRateLimited(j.key, j.priority)
		} else {
			s.queue.Forget(j.key)
			e.ledger.release(j.key)
			e.givenUp++
		}
	default:
		s.queue.Forget(j.key)
		e.ledger.settled(j.key, e.settle)
		if r.RequeueShare > 0 && randvar.Float64(e.random) < r.RequeueShare && !e.ended() {
			e.requeued++
			s.queue.addAfter(j.key, j.priority, seconds(r.RequeueAfter.Sample(e.random)))
		}
	}
	s.queue.Done(j.key)
	if e.watched != nil {
		e.watched('d', j.key)
	}
	e.take(s) // it is awake
}

func (e *engine) settle(at time.Duration, count int64) {
	e.settled.RecordMany(e.clock.now-at, count)
}
