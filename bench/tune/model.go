package tune

import (
	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// A Model is a controller and its load as they were measured. All durations are
// in seconds, all rates a second.
type Model struct {
	Interval     float64 `json:"intervalSeconds"`
	Told         string  `json:"told"`         // where the interval is known from
	Observations float64 `json:"observations"` // reconciles that ended

	ArrivalRate float64 `json:"arrivalRate"`       // adds that are no retries; without those that found their key waiting
	AddRate     float64 `json:"addRate"`           // all adds
	RawRate     float64 `json:"rawRate,omitempty"` // arrivals with those that found their key waiting; if the number of keys is known
	Coalesced   float64 `json:"coalesced"`         // share of them that did
	Dispersion  float64 `json:"dispersion"`        // of arrivals: 1 is at random, 0 even, more is bursts
	Bursts      string  `json:"bursts"`            // in words

	Work        float64 `json:"workMean"`            // from get to done, as measured
	Busy        float64 `json:"busyMean"`            // of it, what is no wait for the client's rate limit
	Service     float64 `json:"serviceMean"`         // of that, what is no API call; all of it where nothing times the calls
	ServiceCV   float64 `json:"serviceCV,omitempty"` // coefficient of variation of Busy; none for a workload or recording, whose distributions say it
	Calls       float64 `json:"calls"`               // API calls a reconcile
	CallLatency float64 `json:"callLatencyMean"`     // of a call once sent
	CallRate    float64 `json:"callRate"`            // of this queue
	Background  float64 `json:"background"`          // calls a second of others that share the client's limit
	Throttle    float64 `json:"throttleMean"`        // wait of a call for the limit, as measured

	Failure     float64 `json:"failure"`     // probability that a reconcile fails
	Utilisation float64 `json:"utilisation"` // of the workers, as measured
	Offered     float64 `json:"offered"`     // workers that the load would keep busy without waits for the limit
	Backlog     float64 `json:"backlog"`     // how much the queue grew, in reconciles
	Depth       float64 `json:"depth"`       // mean number of waiting keys, by Little's law

	Spec *loadgen.Spec `json:"-"` // the same as a workload

	found     *infer.Posterior // predictions are over its members; nil: of Spec
	wait      scrape.Histogram
	work      scrape.Histogram
	load      float64                        // times as much as was measured; 0: as much
	arrivals  func(seed uint64) sim.Arrivals // of a recording; nil: the spec's
	priority  bool
	several   bool      // resources
	series    bool      // it was measured by one of scrapes
	size      float64   // of batches in which keys arrive
	guessed   bool      // there are few keys, as only the waits tell
	undivided bool      // nothing tells how many of the calls are this queue's, whose client has a limit of its own
	shares    []float64 // of the adds, by resource, if there are several
	queues    []QueueCost
}

// A Bucket compares what was measured with what the model makes of it.
type Bucket struct {
	Low      float64 `json:"low"`  // seconds, exclusive
	High     float64 `json:"high"` // seconds, inclusive; 0: no end
	Measured float64 `json:"measured"`
	Model    float64 `json:"model"` // mean of simulations as long as the measurement
	From     float64 `json:"from"`  // the least and ...
	To       float64 `json:"to"`    // ... the most of them
}

// A Reproduction says how well the model repeats what was measured.
type Reproduction struct {
	Wait     []Bucket   `json:"wait"`
	Work     []Bucket   `json:"work"`
	Distance float64    `json:"distance"` // the larger share of reconciles that lie in another bucket, of the two
	WaitMean [2]float64 `json:"waitMean"` // measured and the model's
	WorkMean [2]float64 `json:"workMean"`
	Verdict  string     `json:"verdict"`
}

// calling tells whether reconciles make API calls, as far as is known.
func (m *Model) calling() bool {
	return m.Calls > 0 || m.Spec != nil && !m.Spec.Reconcile.Calls.IsZero()
}

// coarsened merges the buckets below the floor.
func coarsened(h scrape.Histogram) scrape.Histogram {
	first := 0
	for first+1 < len(h.Bounds) && h.Bounds[first+1] <= floor*1.001 {
		first++
	}
	if first == 0 {
		return h
	}
	low := 0.0
	for _, n := range h.Counts[:first+1] {
		low += n
	}
	return scrape.Histogram{Bounds: h.Bounds[first:], Counts: append([]float64{low}, h.Counts[first+1:]...), Sum: h.Sum}
}
