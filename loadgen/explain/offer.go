package explain

import (
	"math"
	"strconv"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A Reconcile is the load that a controller is offered.
type Reconcile struct {
	Workers      int     `json:"workers"`
	Keys         float64 `json:"keys"`         // a second that are queued: events, resyncs, asked-for turns; as if none were coalesced
	Attempts     float64 `json:"attempts"`     // reconciles of a key until it succeeds or is given up
	Reconciles   float64 `json:"reconciles"`   // a second
	Service      float64 `json:"service"`      // mean seconds of one, with its API calls
	Utilisation  float64 `json:"utilisation"`  // share of the time that a worker is busy; 1 and above can't be kept up
	PeakUse      float64 `json:"peakUse"`      // utilisation while the load is highest
	Calls        float64 `json:"calls"`        // API calls a second
	QPS          float64 `json:"qps"`          // their limit; 0: none
	Retries      float64 `json:"retries"`      // a second
	RetryLimit   float64 `json:"retryLimit"`   // what the limiter lets through in the long run
	DrainSeconds float64 `json:"drainSeconds"` // that workers need for the initial population, without other load
}

// offer works out the controller's load and warns of what can't be kept up.
func (e *Explanation) offer(spec *loadgen.Spec) {
	c := &spec.Reconcile
	objects := 0.0
	for _, r := range spec.Resources {
		objects += float64(r.Count)
	}
	keys := e.Total.Rate
	if c.Resync > 0 {
		keys += objects / c.Resync.Seconds()
	}
	// A key is tried until it succeeds, or retries failures in a row are followed by one more.
	givenUp := 0.0
	if c.Retries > 0 {
		givenUp = math.Pow(c.Failure, float64(c.Retries+1))
	}
	attempts := (1 - givenUp) / (1 - c.Failure)
	if c.Failure == 1 {
		attempts = float64(c.Retries + 1)
		if c.Retries == 0 {
			attempts = math.MaxInt32 // for ever
			e.warn("every reconcile fails and none is given up: keys are retried for ever")
		}
	}
	if again := c.RequeueShare * (1 - givenUp); again < 1 {
		keys /= 1 - again
	} else if keys > 0 { // each key comes again for ever: as many as there are, each once in a while
		keys += objects / max(c.RequeueAfter.Mean(), 1e-3)
	}
	it := Reconcile{
		Workers: c.Workers, Keys: keys, Attempts: attempts, Reconciles: keys * attempts,
		Service: c.Service.Mean() + c.Calls.Mean()*c.CallLatency.Mean(),
		QPS:     c.QPS, RetryLimit: c.Limiter.Rate,
	}
	it.Utilisation = it.Reconciles * it.Service / float64(c.Workers)
	if e.Total.Rate > 0 {
		it.PeakUse = it.Utilisation * max(1, e.Total.Peak/e.Total.Rate)
	}
	it.Calls = it.Reconciles * c.Calls.Mean()
	it.Retries = keys * (attempts - 1)
	it.DrainSeconds = objects * attempts * it.Service / float64(c.Workers)
	e.Reconcile = it
	e.judge(spec)
}

func (e *Explanation) judge(spec *loadgen.Spec) {
	it := &e.Reconcile
	unlimited := e.Total.Rate == 0
	switch {
	case unlimited:
		e.warn("events come as fast as possible: the controller's load has no rate")
	case it.Utilisation >= 1:
		e.warn("unstable: %s reconciles/s of %s need %.1f workers against %d; the queue grows", plain(it.Reconciles), durations.Seconds(it.Service), it.Reconciles*it.Service, it.Workers)
	case it.PeakUse >= 1:
		e.warn("the load's peaks need %.1f workers against %d; the queue grows while they last", it.PeakUse*float64(it.Workers), it.Workers)
	}
	if it.QPS > 0 && it.Calls >= it.QPS {
		e.warn("unstable: %s API calls/s against a client limit of %s/s; reconciles wait for it ever longer", plain(it.Calls), plain(it.QPS))
	}
	if it.Retries > it.RetryLimit {
		e.warn("unstable: %s retries/s against the limiter's %s/s; retries move ever further into the future", plain(it.Retries), plain(it.RetryLimit))
	}
	if r := spec.Reconcile; r.Resync > 0 && it.DrainSeconds >= r.Resync.Seconds() {
		e.warn("unstable: a resync every %v queues what takes %s to drain", r.Resync, durations.Seconds(it.DrainSeconds))
	}
	for _, r := range spec.Readers {
		if r.Rate == 0 {
			e.warn("reading without pause (%s, goroutines: %d) takes all the CPU there is", r.Kind, r.Goroutines)
		}
	}
}

// plain writes four digits, and those of a large number in full, without an exponent.
func plain(x float64) string {
	if x >= 1e4 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
