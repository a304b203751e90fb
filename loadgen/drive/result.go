package drive

import (
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/machine"
)

// SchemaVersion is the version of a Result's JSON. It grows when a field
// changes its meaning or goes away.
const SchemaVersion = 1

// A Result is one drive: what was sent, what became of it, how long it took and
// what it cost. All times are in nanoseconds, all latencies from the moment at
// which an event was due, not from the one at which the load found time for it.
type Result struct {
	Schema      int                 `json:"schema"`
	Workload    string              `json:"workload"` // preset, spec or recording
	Arm         string              `json:"arm"`      // name of the parts in a comparison
	Round       int                 `json:"round"`
	Seed        uint64              `json:"seed"`
	Started     time.Time           `json:"started"`
	Stopped     string              `json:"stopped"` // why the load ended: "end", "duration", "interrupted"
	Setup       Setup               `json:"setup"`
	Environment machine.Environment `json:"environment"`

	Load  time.Duration `json:"loadNanoseconds"`  // from the first event's time to the end of the load
	Drain time.Duration `json:"drainNanoseconds"` // from there until everything was seen and settled

	Accounting Accounting `json:"accounting"`
	Latencies  []Latency  `json:"latencies"` // of all events and reconciles; see the names below
	Timeline   []Tick     `json:"timeline"`  // one a second
	Usage      Usage      `json:"usage"`
	Generator  Generator  `json:"generator"`
	Warnings   []string   `json:"warnings,omitempty"`
}

// Interrupted is the reason of a drive whose context ended.
const Interrupted = "interrupted"

// Names of a result's latencies. The first six are the stages of an event, in
// this order, each from the event's intended time and with one value an event,
// coalesced ones included: the latency of an event that was overtaken by a newer
// one ends when that is seen. An event that a worker sees in the cache before the
// handler gets there has no value of its own for Enqueued.
const (
	Watch       = "watch"        // the watch has delivered it
	Store       = "store"        // the cache holds it; not measured of deletions
	Enqueued    = "enqueued"     // the handler has put its key into the work queue
	PickedUp    = "picked-up"    // a worker that will see it holds the key
	Reconciled  = "reconciled"   // the first reconcile that saw it has ended, well or not
	Settled     = "settled"      // the first successful one has
	HandlerWait = "handler-wait" // from when the cache holds it until its handler is called: what the handler's backlog makes it wait; not measured of deletions
	OwnWrite    = "own-write"    // with own writes: until a client that waits for what it wrote itself would read it
	FirstList   = "first-list"   // with a cold start: settled, of the objects of the first list, from when the workers started
	QueueWait   = "queue-wait"   // from Add to Get, as client-go's workqueue_queue_duration_seconds, one a Get
	Work        = "work"         // from Get to Done, one a reconcile
	Throttle    = "throttle"     // waiting for the client's own rate limit, one an API call
	Staleness   = "staleness"    // how old what a reader sees is: the time since the first due change that it does not show, 0 if none
	Read        = "read"         // one call of a reader beside the load
	Lateness    = "lateness"     // of the load itself: from an event's time to its release
	Taken       = "taken"        // from an event's time until this process took it from the one that released it; its wait for a processor makes the difference
)

// A Setup is what was driven.
type Setup struct {
	Parts       Parts         `json:"parts"`
	Workers     int           `json:"workers"`
	TwoQueues   bool          `json:"twoQueues,omitempty"`
	QPS         float64       `json:"qps,omitempty"` // client-side limit, 0 for none
	Burst       int           `json:"burst,omitempty"`
	Service     string        `json:"service,omitempty"`     // distribution of a reconcile's own time
	Calls       string        `json:"calls,omitempty"`       // distribution of API calls a reconcile
	CallLatency string        `json:"callLatency,omitempty"` // distribution of the time of a call once it is sent
	ServiceMode string        `json:"serviceMode"`           // "sleep" or "cpu"
	Failure     float64       `json:"failure,omitempty"`
	Retries     int           `json:"retries,omitempty"` // in a row until a key is given up, 0 for no limit
	Resync      time.Duration `json:"resyncNanoseconds,omitempty"`
	Speed       float64       `json:"speed"` // 1 is the workload's own, 0 as fast as possible
	ColdStart   bool          `json:"coldStart,omitempty"`
	OwnWrites   bool          `json:"ownWrites,omitempty"`
}

// Parts name the variants on the way from a watch to a reconcile, as the
// catalogue lists them. Empty ones are what the part around them brings along.
type Parts struct {
	Informer          string `json:"informer,omitempty"`
	Indexer           string `json:"indexer,omitempty"`
	FIFO              string `json:"fifo,omitempty"`
	Queue             string `json:"queue,omitempty"`
	DelayingQueue     string `json:"delayingQueue,omitempty"`
	RateLimiter       string `json:"rateLimiter,omitempty"`
	RateLimitingQueue string `json:"rateLimitingQueue,omitempty"`
}

// An Accounting balances: Sent = Delivered + Coalesced + Lost, and a drive is
// sound only if nothing is lost, stale or went backwards.
type Accounting struct {
	Initial   int `json:"initial"`   // objects of the first list, which are no events
	Sent      int `json:"sent"`      // events that became due
	Delivered int `json:"delivered"` // events that a reconcile saw as the newest state
	Coalesced int `json:"coalesced"` // events overtaken by a newer one before a reconcile
	Lost      int `json:"lost"`      // events that no reconcile saw or saw overtaken
	Stale     int `json:"stale"`     // keys whose last reconcile did not see their last state
	Backwards int `json:"backwards"` // reconciles that saw an older state than one before
	Together  int `json:"together"`  // reconciles that began while another worker held the key

	Bad []string `json:"bad,omitempty"` // the first few keys that make the balance fail, and how

	Adds        int `json:"adds"`       // keys put into the work queue, retries included
	Reconciles  int `json:"reconciles"` // ended
	Failures    int `json:"failures"`   // reconciles that failed
	GivenUp     int `json:"givenUp"`    // keys forgotten at the retry limit
	Needless    int `json:"needless"`   // runs of a delayed add or retry whose key another run had settled meanwhile, with nothing new since
	Requeued    int `json:"requeued"`   // successes that asked to come back later
	Unsettled   int `json:"unsettled"`  // events seen, but not successfully when the drive ended
	Hurried     int `json:"hurried"`    // reconciles cut short because the drain took too long or was interrupted; their latencies are lower bounds
	APICalls    int `json:"apiCalls"`
	Relists     int `json:"relists"`     // lists that began after the first ones
	Disconnects int `json:"disconnects"` // watches that the API server cut or ended with 410 Gone
}

// Sound reports whether everything is accounted for.
func (a Accounting) Sound() bool {
	return a.Lost == 0 && a.Stale == 0 && a.Backwards == 0 && a.Together == 0 && a.Sent == a.Delivered+a.Coalesced
}

// A Latency is the distribution of one: from 100 ns to an hour, with three
// significant digits.
type Latency struct {
	Name string `json:"name"`
	durations.Distribution
}

// Latency returns the distribution of that name; an empty one if there is none.
func (r Result) Latency(name string) durations.Distribution {
	for _, l := range r.Latencies {
		if l.Name == name {
			return l.Distribution
		}
	}
	return durations.Distribution{}
}

// A Tick is what happened since the tick before it.
type Tick struct {
	At         time.Duration `json:"atNanoseconds"` // since the first event's time
	Sent       int           `json:"sent"`
	Enqueued   int           `json:"enqueued"`
	Reconciles int           `json:"reconciles"`
	Retries    int           `json:"retries"`
	Depth      int           `json:"depth"`     // of the work queue at this moment
	Backlog    int           `json:"backlog"`   // events that the cache holds and that wait for their handler at this moment
	Unsettled  int           `json:"unsettled"` // events due and not settled at this moment
	QueueWait  time.Duration `json:"queueWaitP99Nanoseconds"`
	Settled50  time.Duration `json:"settledP50Nanoseconds"`
	Settled99  time.Duration `json:"settledP99Nanoseconds"`
	Busy       float64       `json:"busy"` // workers in a reconcile at this moment
	CPU        float64       `json:"cpu"`  // processors in use on average
	Heap       int64         `json:"heapBytes"`
}

// A Usage is what the process used from the first event's time to the end of
// the drain.
type Usage struct {
	CPU       time.Duration `json:"cpuNanoseconds"`   // whole process
	Burnt     time.Duration `json:"burntNanoseconds"` // of it, service times that were worked off or spun through, not slept
	GCCPU     time.Duration `json:"gcCPUNanoseconds"`
	Allocated int64         `json:"allocatedBytes"`
	Allocs    int64         `json:"allocs"`
	HeapPeak  int64         `json:"heapPeakBytes"` // largest of the ticks
	MutexWait time.Duration `json:"mutexWaitNanoseconds"`
	Sched99   time.Duration `json:"schedP99Nanoseconds"` // wait of runnable goroutines for a processor
}

// A Generator says what the load itself cost, measured without a controller in
// the same process.
type Generator struct {
	PerEvent time.Duration `json:"perEventNanoseconds"` // CPU time
	Share    float64       `json:"share"`               // of the drive's CPU time

	// Lateness is the p99 of how late 10,000 events a second are that are paced
	// just before the drive, when the machine has nothing else to do; 0 of a load
	// that is not paced. How late the drive's own were is among its latencies.
	Lateness time.Duration `json:"latenessNanoseconds,omitempty"`
}
