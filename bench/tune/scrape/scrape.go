// Package scrape reads what a controller tells about itself at /metrics. Its steps, in order:
//
//  1. [Read] takes a file, gzipped or not, or a URL, in the Prometheus text
//     format or OpenMetrics, of one scrape or many; [Parse] keeps the families
//     that concern work queues and API calls, by process (target) and time, merged
//     over all labels but the queue's name. [Query] asks a Prometheus server.
//  2. [Over] adds up what one process counted over a series, step by step; [Between]
//     subtracts two snapshots; [Since] takes all that one process counted.
//     [Sum] adds replicas.
//
// What it can't use is an error that names the source, the family and the
// queue; what it can use with a doubt is told in [Queue.Doubts].
package scrape

import (
	"maps"
	"slices"
	"time"
)

// A Snapshot is one reading of a process's counters.
type Snapshot struct {
	Source  string
	Target  string    // pod or address, where the text holds several; "" if it doesn't tell
	Taken   time.Time // when; zero if the text doesn't tell
	Started time.Time // when the process started; zero if it doesn't tell
	Counts
}

// Counts is what a process counted: from its start in a [Snapshot], in an
// interval in a [Delta].
type Counts struct {
	Queues map[string]Queue `json:"queues"`
	Client Client           `json:"client"`
}

// Names lists the queues in the order of their names.
func (c Counts) Names() []string { return slices.Sorted(maps.Keys(c.Queues)) }

// A Queue is what client-go's work queue and controller-runtime's controller of
// one name count.
type Queue struct {
	Name    string    `json:"name"`
	Prefix  string    `json:"prefix,omitempty"` // what its program puts in front of workqueue_…, as cilium_operator_k8s_
	Adds    float64   `json:"adds"`             // keys added that were not waiting already; later adds of a waiting key count nowhere
	Retries float64   `json:"retries"`          // calls of AddAfter and AddRateLimited
	Wait    Histogram `json:"wait"`             // from the add to the get
	Work    Histogram `json:"work"`             // from the get to done
	// Reconcile is controller-runtime's own time of a reconcile, the same as Work in
	// finer buckets; in a Delta it has taken the place of Work.
	Reconcile Histogram          `json:"reconcile"`
	Results   map[string]float64 `json:"results,omitempty"` // controller-runtime's reconciles by result: success, error, requeue, requeue_after

	// Gauges, as they were at the end.
	Depth      float64 `json:"depth"`      // keys waiting
	Grown      float64 `json:"grown"`      // how much more than at the begin
	Unfinished float64 `json:"unfinished"` // seconds that running reconciles have taken so far, in all
	Longest    float64 `json:"longest"`    // seconds that the longest of them has taken
	Workers    float64 `json:"workers"`    // controller-runtime's MaxConcurrentReconciles; 0 if not told

	// Kind is what the labels of workqueue_depth tell of the queue.
	Kind Kind `json:"kind"`

	Steps []Step `json:"steps,omitempty"` // of a series of scrapes, what was counted from each to the next

	Doubts []string `json:"doubts,omitempty"` // what of the above is missing or merged
	Reset  bool     `json:"reset,omitempty"`  // a counter fell between begin and end: nothing of the above holds

	series map[string]int // of each family that were merged into one
}

// A Kind of queue.
type Kind string

const (
	Untold      Kind = ""            // the scrape holds no depth
	Plain       Kind = "plain"       // client-go's, or another that knows no priorities
	Prioritised Kind = "prioritised" // controller-runtime's priority queue, which counts its keys by priority since v0.21
)

// A Client is what client-go's REST clients count, all of a process together.
type Client struct {
	Requests map[string]float64 `json:"requests,omitempty"` // answers by HTTP status code
	Limiter  Histogram          `json:"limiter"`            // waits for the client-side rate limiter
	Request  Histogram          `json:"request"`            // whole requests; client-go includes the limiter's wait
	Retries  float64            `json:"retries"`            // requests sent again
}

// Calls is how many requests were made, by the fullest of the families.
func (c Client) Calls() float64 {
	sum := 0.0
	for _, n := range c.Requests {
		sum += n
	}
	return max(sum, c.Limiter.Count(), c.Request.Count())
}

// A Delta is what a process counted in an interval.
type Delta struct {
	Interval time.Duration `json:"interval"`
	Told     string        `json:"told"`           // where the interval is known from
	Gaps     []string      `json:"gaps,omitempty"` // of a series: what is not known of it
	Counts

	restarted bool // only what was counted since is here
}
