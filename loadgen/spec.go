// Package loadgen makes the watch events that drive the variants. Its steps, in order:
//
//  1. A [Spec] says what happens: which objects there are, how they change,
//     how skewed, how fast, what goes wrong. It is a preset ([Presets]) or a
//     YAML file; [Open] takes either.
//  2. A [Schedule] draws from the spec's seed which object changes when, and
//     how, without making the object: what a simulation needs.
//  3. A [Generator] draws the same and makes realistic objects of it, a
//     [Stream] of events. The same spec gives the same events, byte for byte.
//
// Each event carries the time at which it is due, whether or not the consumer
// keeps up; package pace waits for it, package fakeapi serves the events to a
// real reflector. A recording takes the place of 1 to 3: package trace.
//
// An event with its object costs, in processor time over a whole preset (go test
// -bench Preset, one run at GOMAXPROCS=1 on a machine with other work):
//
//	lease-heartbeats                        0.4 µs
//	crash-loop, job-burst, hot-keys         1.0 to 1.2 µs
//	relist-storm, reader-pressure           1.3 to 1.4 µs
//	scale-up, rolling-update, steady, 65k   1.6 to 2.0 µs
//	node-failure                            2.3 µs
//	resync-storm, unstructured objects      6.8 µs
package loadgen

import (
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A Spec describes a workload: populations of objects, what happens to them,
// and what the controller does about it. The zero value of an optional field
// means its default; [Spec.Complete] fills it in. In YAML such a field is left
// out: a zero that would not be taken as such is refused.
type Spec struct {
	Name        string        `yaml:"name,omitempty"`
	Description string        `yaml:"description,omitempty"`
	Source      string        `yaml:"source,omitempty"` // the published figure it models
	Seed        uint64        `yaml:"seed"`
	Duration    time.Duration `yaml:"duration,omitempty"` // how long the events go on; 0: until every resource's count is reached
	Resources   []Resource    `yaml:"resources"`          // at least one
	Faults      Faults        `yaml:"faults,omitempty"`
	Readers     []Readers     `yaml:"readers,omitempty"`
	Reconcile   Reconcile     `yaml:"reconcile,omitempty"`
}

// A Resource is a population of one kind and what happens to it.
type Resource struct {
	Name          string       `yaml:"name"`                 // unique; default the kind's plural
	Kind          string       `yaml:"kind"`                 // pod (default), node, lease, endpointslice, custom, or metadata: pods as a metadata informer holds them
	Count         int          `yaml:"count"`                // objects alive at the start
	Namespaces    int          `yaml:"namespaces,omitempty"` // default 1
	Nodes         int          `yaml:"nodes,omitempty"`      // pods: default one for 30
	Replicas      int          `yaml:"replicas,omitempty"`   // pods a deployment, or endpoints a slice, default 20
	ManagedFields bool         `yaml:"managedFields"`        // default true in YAML: 41% of a recorded pod's 6.5 KB
	Size          randvar.Dist `yaml:"size,omitempty"`       // bytes as JSON; smaller than the kind's bare object counts as that
	Skew          Skew         `yaml:"skew,omitempty"`
	Events        Events       `yaml:"events,omitempty"`
}

// A Skew says how unequally the objects (or the deployments that roll, or the
// nodes that fail) are chosen.
type Skew struct {
	Kind     string        `yaml:"kind"`               // uniform (default), zipf, lognormal, hotset, movinghotset
	S        float64       `yaml:"s,omitempty"`        // zipf: the k-th object is chosen in proportion to 1/k^s
	Sigma    float64       `yaml:"sigma,omitempty"`    // lognormal: standard deviation of the logarithm of an object's rate
	Fraction float64       `yaml:"fraction,omitempty"` // hot sets: this fraction of the objects ...
	Share    float64       `yaml:"share,omitempty"`    // ... takes this share of the choices
	Every    time.Duration `yaml:"every,omitempty"`    // movinghotset: the set moves on to other objects
}

// Events is what happens to a population.
type Events struct {
	// Pattern is one of
	//
	//	none          the population only stands there
	//	mix           adds, updates and deletes drawn by the weights of Mix
	//	heartbeat     updates of every object in turn
	//	lifecycle     arrivals of new objects, each of which lives as Life says
	//	rollout       deployments replace all their pods, Parallel at a time
	//	node-failure  nodes fail and their pods move, Parallel at a time
	//	follow        endpoint slices change with the pods of the first resource of pods
	//
	// Default: none without further fields, follow for endpoint slices beside
	// pods, else mix.
	Pattern  string   `yaml:"pattern"`
	Mix      Mix      `yaml:"mix,omitempty"`
	Life     Life     `yaml:"life,omitempty"`
	Parallel int      `yaml:"parallel,omitempty"` // default 1
	Arrivals Arrivals `yaml:"arrivals,omitempty"` // of events; with pattern lifecycle, of new objects
	Count    int      `yaml:"count,omitempty"`    // at most this many events after the initial population
}

// A Mix holds relative weights; {0, 1, 0} means updates only.
type Mix struct {
	Add    float64 `yaml:"add"`
	Update float64 `yaml:"update"`
	Delete float64 `yaml:"delete"`
}

// A Life is one add, modifications, and one delete. Of a pod's modifications
// the first three bring it up and the last two take it down; a node's, a
// lease's or a custom object's all come at its start.
type Life struct {
	Modifications randvar.Dist `yaml:"modifications,omitempty"` // default 5
	Between       randvar.Dist `yaml:"between,omitempty"`       // seconds from one to the next, default exp(1s)
	Age           randvar.Dist `yaml:"age,omitempty"`           // seconds from there to the end; not given: it lives on
}

// Arrivals is a stochastic process of points in time.
type Arrivals struct {
	// Kind is one of
	//
	//	poisson   at random (default)
	//	constant  evenly spaced
	//	onoff     at random while on, none while off: bursts
	//	diurnal   at random, the rate swings as a sine, lowest at the start
	//	ramp      at random, the rate goes from Rate to To in a line
	//	step      at random, the rate jumps from Rate to To, and back
	Kind   string        `yaml:"kind"`
	Rate   float64       `yaml:"rate"`             // events a second: the mean, or where ramp and step begin; 0: as fast as possible
	On     randvar.Dist  `yaml:"on,omitempty"`     // onoff: seconds, default exp(1s)
	Off    randvar.Dist  `yaml:"off,omitempty"`    // onoff: seconds, default exp(9s)
	Period time.Duration `yaml:"period,omitempty"` // diurnal: default 24h
	Swing  float64       `yaml:"swing,omitempty"`  // diurnal: from 0 to 1, default 0.5: the rate is between 0.5 and 1.5 of the mean
	To     float64       `yaml:"to,omitempty"`     // ramp, step: events a second
	After  time.Duration `yaml:"after,omitempty"`  // ramp, step: when it begins
	Over   time.Duration `yaml:"over,omitempty"`   // ramp, step: how long it lasts; default until the end
}

// Faults are what goes wrong between the API server and a watch. Their zero
// values mean never.
type Faults struct {
	Gone       int           `yaml:"gone,omitempty"`       // after every so many events the server forgets its history: watches end with 410 Gone
	Disconnect time.Duration `yaml:"disconnect,omitempty"` // watches are cut this often
	SlowList   time.Duration `yaml:"slowList,omitempty"`   // a list takes this long
	NoListEnd  bool          `yaml:"noListEnd,omitempty"`  // a streamed list never ends: the bookmark after its objects does not come
	Duplicate  float64       `yaml:"duplicate,omitempty"`  // share of the events that come twice
	Stale      float64       `yaml:"stale,omitempty"`      // share of the events after which the object's previous version comes again, and then the right one
	Bookmarks  time.Duration `yaml:"bookmarks,omitempty"`  // how often a watch that asked for bookmarks gets one; default 1m
	Throttle   float64       `yaml:"throttle,omitempty"`   // events a second that a watch sends at most
}

// Readers are goroutines that read the cache beside the stream.
type Readers struct {
	Kind       string  `yaml:"kind"`                 // list (default), by-index or get
	Goroutines int     `yaml:"goroutines,omitempty"` // default 1
	Rate       float64 `yaml:"rate,omitempty"`       // reads a second in all; 0: without pause
}

// Reconcile is what the controller does with a key.
type Reconcile struct {
	Workers      int           `yaml:"workers,omitempty"`      // default 5
	Service      randvar.Dist  `yaml:"service,omitempty"`      // seconds of a reconcile's own work, without its calls
	Calls        randvar.Dist  `yaml:"calls,omitempty"`        // API calls a reconcile makes, one after the other
	CallLatency  randvar.Dist  `yaml:"callLatency,omitempty"`  // seconds of a call once it is sent
	QPS          float64       `yaml:"qps,omitempty"`          // client-side limit of the calls; 0: none
	Burst        int           `yaml:"burst,omitempty"`        // default QPS, rounded up
	Failure      float64       `yaml:"failure,omitempty"`      // probability that a reconcile fails
	Retries      int           `yaml:"retries,omitempty"`      // failures in a row until the key is forgotten; 0: never
	RequeueShare float64       `yaml:"requeueShare,omitempty"` // share of the successes that ask for another turn ...
	RequeueAfter randvar.Dist  `yaml:"requeueAfter,omitempty"` // ... after so many seconds
	Limiter      Limiter       `yaml:"limiter,omitempty"`      // of the retries
	Resync       time.Duration `yaml:"resync,omitempty"`       // every object is queued again this often; 0: never
	Batch        int           `yaml:"batch,omitempty"`        // deltas an informer takes at a time, default 1000
}

// A Limiter delays retries by the longer of an exponential back-off for each
// key and a token bucket for all. Defaults: 5ms, 1000s, 10, 100.
type Limiter struct {
	BaseDelay time.Duration `yaml:"baseDelay,omitempty"`
	MaxDelay  time.Duration `yaml:"maxDelay,omitempty"`
	Rate      float64       `yaml:"rate,omitempty"` // retries a second
	Burst     int           `yaml:"burst,omitempty"`
}
