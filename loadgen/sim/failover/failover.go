// Package failover runs leader elections in virtual time and says how long a
// controller is without a leader, what the election costs the API server and
// whether two candidates ever led at once.
//
//  1. A Config names the elector, the three settings, the network and what
//     happens: a Scenario.
//  2. Simulate plays it out many times. The electors are the real ones, in a
//     testing/synctest bubble each: an hour passes in milliseconds, and a leader
//     is seen to lead from the instant OnStartedLeading is called to the instant
//     its context ends.
//  3. A Result sums up the runs.
//
// Bubbles need a *testing.T. A program that is no test gets one in a child
// process that calls testing.Main, as benchrun does.
package failover

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"k8s.io/client-go/tools/leaderelection"
)

// Settings are the three that users choose, and what is done at a clean end.
type Settings struct {
	LeaseDuration time.Duration `json:"leaseDurationNanoseconds"`
	RenewDeadline time.Duration `json:"renewDeadlineNanoseconds"`
	RetryPeriod   time.Duration `json:"retryPeriodNanoseconds"`
}

// Defaults are the settings of Kubernetes' own components.
var Defaults = Settings{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}

func (s Settings) String() string {
	return fmt.Sprintf("%v/%v/%v", s.LeaseDuration, s.RenewDeadline, s.RetryPeriod)
}

// Validate reports the first setting that electors refuse.
func (s Settings) Validate() error {
	switch {
	case s.RetryPeriod <= 0:
		return fmt.Errorf("retry period: found %v, expected more than 0", s.RetryPeriod)
	case float64(s.RenewDeadline) <= leaderelection.JitterFactor*float64(s.RetryPeriod):
		return fmt.Errorf("renew deadline: found %v, expected more than %v times the retry period %v", s.RenewDeadline, leaderelection.JitterFactor, s.RetryPeriod)
	case s.LeaseDuration <= s.RenewDeadline:
		return fmt.Errorf("lease duration: found %v, expected more than the renew deadline %v", s.LeaseDuration, s.RenewDeadline)
	case s.LeaseDuration > 24*time.Hour:
		return fmt.Errorf("lease duration: found %v, expected at most a day", s.LeaseDuration)
	}
	return nil
}

// A Scenario is what happens to the leader.
type Scenario string

// The scenarios.
const (
	Start     Scenario = "start"     // nobody holds the lease and all candidates begin within a retry period
	Release   Scenario = "release"   // the leader ends cleanly and gives the lease back
	Crash     Scenario = "crash"     // the leader's process dies
	Partition Scenario = "partition" // the leader's calls hang from then on, its work goes on
	SlowAPI   Scenario = "slow-api"  // every call takes Config.Slow for Config.SlowFor
	Steady    Scenario = "steady"    // nothing for Config.Watch but the network's latency, errors and spikes
)

// Scenarios lists all, in that order.
func Scenarios() []Scenario {
	return []Scenario{Start, Release, Crash, Partition, SlowAPI, Steady}
}

// NewElector makes a candidate. An elector that takes no options ignores them:
// then its jitter is not seeded and its clock runs at rate 1.
type NewElector func(leaderelection.LeaderElectionConfig, election.Options) (election.Elector, error)

// A Config is an election to simulate. The zero value of an optional field means
// its default.
type Config struct {
	Settings
	Scenario   Scenario      `json:"scenario"`
	Candidates int           `json:"candidates"`                   // default 2
	Latency    randvar.Dist  `json:"latency"`                      // seconds of a call, half of them each way; default lognormal(5ms, 100ms)
	Errors     float64       `json:"errors,omitempty"`             // share of calls that the server answers with an error
	SpikeEvery time.Duration `json:"spikeEveryNanoseconds"`        // mean time between latency spikes; 0 is none
	Spike      randvar.Dist  `json:"spike,omitzero"`               // seconds that a spike adds to every call of its time, which is as long
	Slow       randvar.Dist  `json:"slow,omitzero"`                // scenario slow-api: seconds of a call; default 3s
	SlowFor    time.Duration `json:"slowForNanoseconds,omitempty"` // default the renew deadline
	Watch      time.Duration `json:"watchNanoseconds,omitempty"`   // scenario steady: default 10 minutes
	Rates      []float64     `json:"rates,omitempty"`              // of the candidates' clocks, 1 is true time; default all 1
	Runs       int           `json:"runs"`                         // default 10,000
	Seed       uint64        `json:"seed"`
}

// validate fills in the defaults and reports the first field that is out of range.
func (c *Config) validate() error {
	if err := c.Settings.Validate(); err != nil {
		return err
	}
	if !slices.Contains(Scenarios(), c.Scenario) {
		return fmt.Errorf("scenario: unknown value %q, expected one of %v", c.Scenario, Scenarios())
	}
	c.Candidates = cmp.Or(c.Candidates, 2)
	c.Runs = cmp.Or(c.Runs, 10_000)
	c.Watch = cmp.Or(c.Watch, 10*time.Minute)
	c.SlowFor = cmp.Or(c.SlowFor, c.RenewDeadline)
	if c.Latency.IsZero() {
		c.Latency = dist("lognormal(5ms, 100ms)")
	}
	if c.Slow.IsZero() {
		c.Slow = dist("3s")
	}
	switch {
	case c.Candidates < 1 || c.Candidates > 100:
		return fmt.Errorf("candidates: found %d, expected 1 to 100", c.Candidates)
	case c.Runs < 1 || c.Runs > 10_000_000:
		return fmt.Errorf("runs: found %d, expected 1 to 10,000,000", c.Runs)
	case !(c.Errors >= 0 && c.Errors < 1):
		return fmt.Errorf("errors: found %v, expected a share from 0 to below 1", c.Errors)
	case c.SpikeEvery > 0 && c.Spike.IsZero():
		return fmt.Errorf("spike: missing, expected how long a spike is when there is one every %v", c.SpikeEvery)
	case c.Watch < 0 || c.Watch > 24*time.Hour:
		return fmt.Errorf("watch: found %v, expected at most a day", c.Watch)
	case len(c.Rates) != 0 && len(c.Rates) != c.Candidates:
		return fmt.Errorf("rates: found %d, expected one for each of %d candidates", len(c.Rates), c.Candidates)
	}
	for _, rate := range c.Rates {
		if !(rate > 0.01 && rate < 100) {
			return fmt.Errorf("rates: found %v, expected a number from 0.01 to 100", rate)
		}
	}
	return nil
}

// dist parses a distribution that is known to be right.
func dist(text string) randvar.Dist {
	d, _ := randvar.Parse(text)
	return d
}

// A Result sums up the runs of a Config.
type Result struct {
	Config Config `json:"config"`
	// Leaderless is how long nobody led: from the start (start) or from when the
	// old leader's work ended (the others). Runs in which the leader stayed have
	// none; their count is that of the others.
	Leaderless durations.Distribution `json:"leaderless"`
	// Failover is how long after the event another candidate led, in the runs in
	// which one did. A partitioned leader still leads for some of that time.
	Failover     durations.Distribution `json:"failover"`
	Kept         int                    `json:"kept"`                   // runs in which the leader stayed the leader
	Unrecovered  int                    `json:"unrecovered"`            // runs in which none led again within four lease durations
	Overlaps     int                    `json:"overlaps"`               // runs in which two led at once
	LongestBoth  time.Duration          `json:"longestBothNanoseconds"` // the longest time that two led at once
	Losses       float64                `json:"lossesAnHour"`           // times that a leader stopped without an event, an hour
	LeaderCalls  float64                `json:"leaderCalls"`            // API calls a second of the leader, scenario steady
	StandbyCalls float64                `json:"standbyCalls"`           // and of each other candidate
}

// identity names a candidate.
func identity(i int) string { return "candidate-" + strconv.Itoa(i) }
