package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// A Result is what one simulation counted and measured after its warm-up.
//
// Rates, shares and depths are over the load: from the end of the warm-up to the
// last arrival or, with Config.Until, to the end. If all events were due at
// once, the load goes on until they are settled.
type Result struct {
	Seed   uint64        `json:"seed"`
	Load   time.Duration `json:"loadNanoseconds"`
	Drain  time.Duration `json:"drainNanoseconds"` // from the last arrival until all was settled; 0 with Config.Until
	Events int64         `json:"events"`           // of the simulation, the warm-up's included

	Arrivals   int64 `json:"arrivals"`   // events that the handler saw
	Listed     int64 `json:"listed"`     // objects that lists and resyncs brought again
	Adds       int64 `json:"adds"`       // items queued, as workqueue_adds_total
	Coalesced  int64 `json:"coalesced"`  // adds of the handler whose key was queued already
	Reconciles int64 `json:"reconciles"` // ended
	Failures   int64 `json:"failures"`
	Retries    int64 `json:"retries"`   // delayed adds, as workqueue_retries_total
	GivenUp    int64 `json:"givenUp"`   // failures at the limit of retries
	Requeued   int64 `json:"requeued"`  // successes that came back later
	Unsettled  int64 `json:"unsettled"` // events at the end
	APICalls   int64 `json:"apiCalls"`

	Throughput  float64 `json:"throughput"`  // reconciles a second
	Utilisation float64 `json:"utilisation"` // share of the workers' time with an item
	CallRate    float64 `json:"callRate"`    // API calls a second
	Depth       float64 `json:"depth"`       // mean, as workqueue_depth
	MaxDepth    int     `json:"maxDepth"`
	Demand      Demand  `json:"demand"`

	QueueWait durations.Histogram `json:"queueWait"` // from Add to Get, as workqueue_queue_duration_seconds
	Work      durations.Histogram `json:"work"`      // from Get to Done, as workqueue_work_duration_seconds
	Settle    durations.Histogram `json:"settle"`    // from an event's time to the end of the first successful reconcile that saw it
	Throttle  durations.Histogram `json:"throttle"`  // of an API call, for the client's rate limit
	Pairs     []Pair              `json:"-"`         // of a reconcile's own work and its calls' waits for that limit; some thousand, evenly spread over the time
	StoreWait durations.Histogram `json:"storeWait"` // of a batch, for the store's lock

	Queues []QueueResult `json:"queues"`
}

// A QueueResult is of one queue.
type QueueResult struct {
	Name        string              `json:"name"`
	Workers     int                 `json:"workers"`
	Adds        int64               `json:"adds"`
	Utilisation float64             `json:"utilisation"`
	Depth       float64             `json:"depth"`
	MaxDepth    int                 `json:"maxDepth"`
	QueueWait   durations.Histogram `json:"queueWait"`
	Work        durations.Histogram `json:"work"`
}

// Demand is what the load would take if nothing held it up.
type Demand struct {
	Workers float64 `json:"workers"` // kept busy on average by work and API latency, without waits for the rate limit
	QPS     float64 `json:"qps"`     // API calls a second
	Retries float64 `json:"retries"` // AddRateLimited calls a second

	// Load is the largest ratio of a demand to what there is, and Bottleneck what
	// it is of: "workers", "client QPS", "retry bucket" or "queue". From 1 on the system is
	// not stable: what waits grows, or stops growing only because later changes
	// of the same objects coalesce.
	Load       float64 `json:"load"`
	Bottleneck string  `json:"bottleneck"`
}

// Stable reports whether the controller kept up.
func (d Demand) Stable() bool { return d.Load < 1 }

// Advice says in one sentence by how much an unstable system is overloaded and
// what would stabilise it; nothing for a stable one.
func (d Demand) Advice() string {
	if d.Stable() {
		return ""
	}
	more := fmt.Sprintf("the load is %.2f times what the controller can carry: ", d.Load)
	switch d.Bottleneck {
	case "client QPS":
		return more + fmt.Sprintf("the client's limit is the bottleneck, and above %.3g queries a second would be stable", d.QPS)
	case "retry bucket":
		return more + fmt.Sprintf("the retry limiter's bucket is the bottleneck, and above %.3g retries a second would be stable", d.Retries)
	case "queue":
		return more + "the queue is the bottleneck, and a cheaper one or several would be stable"
	}
	return more + fmt.Sprintf("workers are the bottleneck, and %d would be stable", int(math.Floor(d.Workers))+1)
}

// tally counts while an engine runs.
type tally struct {
	counting bool // the warm-up is over
	events   int64

	since             time.Duration
	backlog           int // items queued at since
	arrivals          int64
	firstDue, lastDue time.Duration
	listed            int64
	coalesced         int64
	reconciles        int64
	failed            int64
	firstFailed       int64 // of keys that had not failed since they were forgotten
	givenUp           int64
	requeued          int64
	apiCalls          int64
	own               time.Duration
	settled           durations.Histogram
	throttle          durations.Histogram
	pairs             pairs
	storeWait         durations.Histogram
	window            progress // at the last arrival
}

// progress is what grew with the time.
type progress struct {
	at                 time.Duration
	busyArea           []float64 // by station
	depthArea          []float64
	backlog            int
	reconciles, failed int64
	firstFailed        int64
	apiCalls           int64
	own                time.Duration
}

// begin begins to count.
func (t *tally) begin(stations []*station, now time.Duration) {
	events, settled, throttle, storeWait := t.events, t.settled, t.throttle, t.storeWait
	for _, d := range []*durations.Histogram{&settled, &throttle, &storeWait} {
		d.Reset()
	}
	*t = tally{counting: true, events: events, since: now, settled: settled, throttle: throttle, storeWait: storeWait}
	for _, s := range stations {
		s.busyArea, s.depthArea = 0, 0
		s.probe.reset()
		t.backlog += s.probe.depth
	}
}

// sofar is the progress up to now.
func (t *tally) sofar(stations []*station, now time.Duration) progress {
	p := progress{at: now, reconciles: t.reconciles, failed: t.failed, firstFailed: t.firstFailed, apiCalls: t.apiCalls, own: t.own}
	for _, s := range stations {
		p.busyArea = append(p.busyArea, s.busyArea)
		p.depthArea = append(p.depthArea, s.depthArea)
		p.backlog += s.probe.depth
	}
	return p
}

func (e *engine) result() Result {
	t := &e.tally
	w := e.sofar(e.stations, e.clock.now)
	r := Result{
		Seed: e.config.Seed, Load: e.clock.now - t.since, Events: t.events,
		Arrivals: t.arrivals, Listed: t.listed, Coalesced: t.coalesced, Reconciles: t.reconciles, Failures: t.failed,
		GivenUp: t.givenUp, Requeued: t.requeued, Unsettled: e.ledger.open, APICalls: t.apiCalls,
		Settle: t.settled, Throttle: t.throttle, Pairs: t.pairs.list, StoreWait: t.storeWait,
	}
	if last := t.window; e.config.Until == 0 && last.at > t.since && t.lastDue > t.firstDue {
		w = last
		r.Load, r.Drain = last.at-t.since, e.clock.now-last.at
	}
	span := float64(max(1, w.at-t.since))
	workers := 0
	for i, s := range e.stations {
		q := QueueResult{
			Name: s.name, Workers: s.workers, Adds: s.probe.adds, MaxDepth: s.probe.maxDepth,
			Utilisation: w.busyArea[i] / span / float64(s.workers), Depth: w.depthArea[i] / span,
			QueueWait: s.probe.wait, Work: s.probe.work,
		}
		workers += s.workers
		r.Queues = append(r.Queues, q)
		r.Adds += q.Adds
		r.Retries += s.probe.retries
		r.Utilisation += w.busyArea[i] / span
		r.Depth += q.Depth
		r.MaxDepth += q.MaxDepth
	}
	r.Utilisation /= float64(workers)
	r.QueueWait, r.Work = merged(r.Queues)
	r.Throughput = float64(w.reconciles) / span * 1e9
	r.CallRate = float64(w.apiCalls) / span * 1e9
	r.Demand = t.demand(w, e.config, r.Queues)
	return r
}

// merged is the wait and the work of all queues together.
func merged(queues []QueueResult) (wait, work durations.Histogram) {
	if len(queues) == 1 {
		return queues[0].QueueWait, queues[0].Work
	}
	for _, q := range queues {
		wait.Merge(q.QueueWait)
		work.Merge(q.Work)
	}
	return wait, work
}

// demand is what the load would have taken: what was done, and what was not done
// but came to wait.
func (t *tally) demand(w progress, c *Config, queues []QueueResult) Demand {
	r := &c.Spec.Reconcile
	span := (w.at - t.since).Seconds()
	if span <= 0 || w.reconciles == 0 {
		return Demand{Bottleneck: "workers"}
	}
	growth := 1 + float64(w.backlog-t.backlog)/float64(w.reconciles)
	d := Demand{
		Workers: growth * w.own.Seconds() / span,
		QPS:     growth * float64(w.apiCalls) / span,
		Retries: growth * float64(w.firstFailed) / span * chain(float64(w.failed)/float64(w.reconciles), r.Retries),
	}
	for _, q := range queues {
		// Busy workers are counted rather than their own work, unless they are
		// busy waiting for tokens.
		load := q.Utilisation
		if r.QPS == 0 || d.QPS < r.QPS {
			load *= growth
		}
		d.consider(load, "workers")
	}
	if r.QPS > 0 {
		d.consider(d.QPS/r.QPS, "client QPS")
	}
	if r.Limiter.Rate > 0 {
		d.consider(d.Retries/r.Limiter.Rate, "retry bucket")
	}
	return d
}

// chain is how many retries follow from a first failure on average, when each
// fails with that probability and the last of so many is not tried again; 0 is
// without a limit.
func chain(failure float64, retries int) float64 {
	switch {
	case retries == 0:
		return 1 / max(1-failure, 1e-6)
	case failure >= 1:
		return float64(retries)
	}
	return (1 - math.Pow(failure, float64(retries))) / (1 - failure)
}

func (d *Demand) consider(load float64, name string) {
	if load > d.Load || d.Bottleneck == "" {
		d.Load, d.Bottleneck = load, name
	}
}
