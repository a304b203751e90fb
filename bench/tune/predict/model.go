package predict

import (
	"github.com/informerbench/informerbench/bench/tune/infer"
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

	Measured  *infer.Measured  `json:"-"` // nil: nothing was, as of a workload or recording
	Posterior *infer.Posterior `json:"-"` // predictions are over its members; nil: of Spec
	Queues    []QueueCost      `json:"-"` // variants whose cost is known

	load     float64                        // times as much as was measured; 0: as much
	arrivals func(seed uint64) sim.Arrivals // of a recording; nil: the spec's
	shares   []float64                      // of the adds, by resource, if there are several
}

// AllCalls is how many calls a second the client's limit has to carry.
func (m *Model) AllCalls() float64 { return m.AddRate*m.Calls + m.Background }

// Calling tells whether reconciles make API calls, as far as is known.
func (m *Model) Calling() bool {
	return m.Calls > 0 || m.Spec != nil && !m.Spec.Reconcile.Calls.IsZero()
}

// Fails tells whether there are retries that back-off could matter to.
func (m *Model) Fails() bool { return m.Spec.Reconcile.Failure > failing }

// Lists tells whether objects come by lists or resyncs, which priorities are for.
func (m *Model) Lists() bool {
	return m.Observations == 0 && (m.Spec.Reconcile.Resync > 0 || m.Spec.Faults.Gone > 0 || m.Spec.Faults.Disconnect > 0)
}

// Several tells whether the load is known to be of several resources.
func (m *Model) Several() bool { return len(m.Spec.Resources) > 1 }

// Times is a copy of the model with so many times the load.
func (m *Model) Times(load float64) *Model {
	x := *m
	x.load = load
	x.ArrivalRate, x.AddRate, x.Offered = load*x.ArrivalRate, load*x.AddRate, load*x.Offered
	return &x
}
