// Package lease recommends the three settings of leader election. Its steps:
//
//  1. Objectives say what is wanted: how soon another candidate has to lead after
//     a crash, how many API calls the election may cost, how far clocks may
//     drift apart.
//  2. For each retry period that the calls allow, the longest lease duration is
//     sought, by simulated crashes, that still fails over in time.
//  3. Of these the one is taken that bears the longest outage of the API
//     server: a leader that loses its lease for nothing is what users feel.
//  4. It and the current settings are simulated in every scenario, many times.
package lease

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
)

// Objectives is what is wanted. The zero value of a field means its default.
type Objectives struct {
	Failover time.Duration `json:"failoverNanoseconds"` // from a crash until another leads, in 99 of 100 cases; default the current settings'
	Calls    float64       `json:"apiCalls"`            // API calls a second of all candidates; default the current settings'
	Skew     float64       `json:"clockSkew"`           // by which clock rates may differ, the lease duration over the renew deadline; default 1.5
}

// A Problem is what Advise solves.
type Problem struct {
	Objectives Objectives        `json:"objectives"`
	Current    failover.Settings `json:"current"`
	// World is the elections' candidates, network, seed and runs; its settings
	// and scenario are set here.
	World failover.Config `json:"-"`
	// Clocks tells that the elector takes a clock, whose rate can be changed.
	Clocks bool `json:"-"`
	// FromLastRenewal tells that the elector's renew deadline counts from the last
	// renewal that succeeded, not from the first that fails a retry period later.
	FromLastRenewal bool `json:"-"`
	// Simulate plays a config out.
	Simulate func(context.Context, failover.Config) (failover.Result, error) `json:"-"`
	// Progress is told what is being done; it may be nil.
	Progress func(doing string) `json:"-"`
}

// SchemaVersion is of an Advice's JSON.
const SchemaVersion = 2

// Advice is the settings to take, with the evidence.
type Advice struct {
	Schema int `json:"schema"` // SchemaVersion
	Problem
	Elector     string            `json:"elector"` // that was simulated
	Recommended failover.Settings `json:"recommended"`
	Choices     []Choice          `json:"choices"` // one for each retry period, the recommended one among them
	Before      []failover.Result `json:"before"`  // the current settings, by scenario
	After       []failover.Result `json:"after"`
	// BeyondSkew are partitions under the recommended settings, with a second
	// clock that runs faster and faster; empty if the elector takes no clock.
	BeyondSkew []failover.Result `json:"beyondSkew,omitempty"`
	// Stopped says why it ended: "complete" or "interrupted". Interrupted, it
	// recommends the best of what was tried, and Before and After may lack scenarios.
	Stopped string `json:"stopped"`
}

// A Choice is the best that can be had at a retry period.
type Choice struct {
	failover.Settings
	Failover time.Duration `json:"failoverP99Nanoseconds"` // of the recommended one as After has it
	Calls    float64       `json:"apiCalls"`               // likewise; of others as reckoned without errors
	Outage   time.Duration `json:"outageNanoseconds"`      // of the API server that a leader is sure to survive
}

// searchRuns are enough to place a 99th percentile within a few percent.
const searchRuns = 2000

// retryPeriods are those that are tried.
var retryPeriods = []time.Duration{
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second,
	4 * time.Second, 5 * time.Second, 7 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, longestPeriod,
}

const longestPeriod = time.Minute

// Advise recommends settings, or says in its error what is impossible and what
// comes nearest. When the context ends it recommends the best of what it has
// tried, and fails if that is nothing.
func Advise(ctx context.Context, p Problem) (Advice, error) {
	if p.Progress == nil {
		p.Progress = func(string) {}
	}
	if err := p.complete(ctx); err != nil {
		return Advice{}, err
	}
	a := Advice{Schema: SchemaVersion, Problem: p, Stopped: "complete"}
	err := a.search(ctx)
	if err == nil && len(a.Choices) == 0 {
		err = p.impossible(ctx)
	}
	if len(a.Choices) == 0 || err != nil && ctx.Err() == nil {
		return Advice{}, err
	}
	a.Recommended = slices.MaxFunc(a.Choices, func(x, y Choice) int { return cmp.Compare(x.Outage, y.Outage) }).Settings
	if err == nil {
		err = a.show(ctx)
	}
	if err != nil && ctx.Err() != nil {
		a.Stopped, err = "interrupted", nil
	}
	return a, err
}

// search makes a choice for each retry period.
func (a *Advice) search(ctx context.Context) error {
	for _, retry := range a.periods() {
		choice, err := a.longest(ctx, retry)
		if choice.LeaseDuration == 0 {
			return err // a longer retry period only makes it worse
		}
		a.Choices = append(a.Choices, choice)
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen is the choice that is recommended.
func (a *Advice) chosen() *Choice {
	for i, c := range a.Choices {
		if c.Settings == a.Recommended {
			return &a.Choices[i]
		}
	}
	return &Choice{}
}

// show simulates the current and the recommended settings, and these with leaders that are cut
// off while the clock of another candidate runs faster: up to what is promised, and beyond.
func (a *Advice) show(ctx context.Context) (err error) {
	a.Before, err = a.simulate(ctx, a.Current, failover.Scenarios(), []float64{1})
	if a.Recommended == a.Current {
		a.After = a.Before // of other runs the same settings would seem to differ
	} else if err == nil {
		a.After, err = a.simulate(ctx, a.Recommended, failover.Scenarios(), []float64{1})
	}
	if err != nil {
		return err
	}
	// All runs know better than the search's few and the reckoning.
	all, c := byScenario(a.After), a.chosen()
	steady := all[failover.Steady]
	c.Failover, c.Calls = all[failover.Crash].Failover.At(0.99), steady.LeaderCalls+a.others()*steady.StandbyCalls
	if !a.Clocks || a.World.Candidates < 2 {
		return nil
	}
	promised := float64(a.Recommended.LeaseDuration) / float64(a.Recommended.RenewDeadline)
	var rates []float64
	for _, share := range []float64{0.5, 0.99, 1.1, 1.25, 1.5, 2} {
		rates = append(rates, 1+(promised-1)*share)
	}
	a.BeyondSkew, err = a.simulate(ctx, a.Recommended, []failover.Scenario{failover.Partition}, rates)
	return err
}

// simulate plays scenarios under some settings, with the second candidate's clock at each of these
// rates. With an error it gives those before.
func (p *Problem) simulate(ctx context.Context, s failover.Settings, scenarios []failover.Scenario, rates []float64) (all []failover.Result, err error) {
	for _, scenario := range scenarios {
		for _, rate := range rates {
			c := p.World
			c.Settings, c.Scenario = s, scenario
			how := fmt.Sprintf("%d runs", c.Runs)
			if rate != 1 {
				c.Rates = slices.Repeat([]float64{1}, c.Candidates)
				c.Rates[1] = rate
				how = fmt.Sprintf("a clock %.2f times as fast", rate)
			}
			p.Progress(fmt.Sprintf("simulating %v: %s, %s", s, scenario, how))
			r, err := p.Simulate(ctx, c)
			if err != nil {
				return all, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// complete checks the objectives and fills in what the current settings give.
func (p *Problem) complete(ctx context.Context) error {
	if err := p.Current.Validate(); err != nil {
		return fmt.Errorf("current %w", err)
	}
	o := &p.Objectives
	o.Skew, o.Calls = cmp.Or(o.Skew, 1.5), cmp.Or(o.Calls, p.calls(p.Current.RetryPeriod))
	switch {
	case !(o.Skew > 1 && o.Skew <= 10):
		return fmt.Errorf("clock skew: found %v, expected a factor above 1 and up to 10", o.Skew)
	case !(o.Calls > 0 && !math.IsInf(o.Calls, 1)):
		return fmt.Errorf("API budget: found %v, expected calls a second above 0", o.Calls)
	case o.Failover < 0:
		return fmt.Errorf("failover: found %v, expected more than 0", o.Failover)
	case o.Failover > 0:
		return nil
	}
	p.Progress("measuring the current settings " + p.Current.String())
	crashed, err := p.crash(ctx, p.Current)
	if err != nil {
		return err
	}
	if crashed.Failover.Count == 0 {
		return fmt.Errorf("%s; expected settings that some API calls are quick enough for, or --failover, the time wanted", leaderless(crashed))
	}
	o.Failover = crashed.Failover.At(0.99).Round(100 * time.Millisecond)
	return nil
}

// others is how many candidates stand by.
func (p *Problem) others() float64 { return float64(max(p.World.Candidates, 1) - 1) }

// calls is how many API calls a second an undisturbed election costs: the leader
// writes every retry period, each other candidate reads once in a retry period
// and its jitter, which is 0 to 1.2 retry periods.
func (p *Problem) calls(retry time.Duration) float64 {
	return (1 + p.others()/1.6) / retry.Seconds()
}

// periods are the retry periods that the API calls allow: those of the list, and
// the shortest of all, rounded up to a tenth of a second.
func (p *Problem) periods() []time.Duration {
	seconds := p.calls(time.Second) / p.Objectives.Calls
	if seconds > longestPeriod.Seconds() {
		return nil
	}
	shortest := time.Duration(max(1, math.Ceil(seconds*10-1e-9))) * (time.Second / 10)
	return append([]time.Duration{shortest}, slices.DeleteFunc(slices.Clone(retryPeriods), func(x time.Duration) bool { return x <= shortest })...)
}

// settings derives the rest from a lease duration and a retry period.
func (p *Problem) settings(lease, retry time.Duration) failover.Settings {
	renew := time.Duration(float64(lease) / p.Objectives.Skew).Truncate(100 * time.Millisecond)
	return failover.Settings{LeaseDuration: lease, RenewDeadline: renew, RetryPeriod: retry}
}

// shortest are those with the shortest lease duration, in whole seconds as the API keeps it.
func (p *Problem) shortest(retry time.Duration) failover.Settings {
	for lease := time.Second; ; lease += time.Second {
		if s := p.settings(lease, retry); s.Validate() == nil {
			return s
		}
	}
}

// longest finds the longest lease duration, in whole seconds, that fails over in time,
// and none if even the shortest doesn't. With an error it is the longest so far.
func (p *Problem) longest(ctx context.Context, retry time.Duration) (best Choice, err error) {
	// It takes the lease duration at least.
	low, high := p.shortest(retry).LeaseDuration-time.Second, p.Objectives.Failover.Truncate(time.Second)+time.Second
	for high-low > time.Second {
		middle := ((low + high) / 2).Truncate(time.Second)
		s := p.settings(middle, retry)
		p.Progress("trying " + s.String())
		r, err := p.crash(ctx, s)
		if err != nil {
			return best, err
		}
		if p99 := r.Failover.At(0.99); r.Unrecovered == 0 && r.Failover.Count > 0 && p99 <= p.Objectives.Failover {
			low, best = middle, Choice{Settings: s, Failover: p99, Calls: p.calls(retry), Outage: p.Outage(s)}
		} else {
			high = middle
		}
	}
	return best, nil
}

// Outage is how long the API server may be unreachable, from whatever moment, so
// that a leader is sure to survive: from an outage that begins right before a
// renewal to the last one before the deadline, which is within a retry period of it.
func (p *Problem) Outage(s failover.Settings) time.Duration {
	outage := s.RenewDeadline - s.RetryPeriod
	if p.FromLastRenewal {
		outage -= s.RetryPeriod
	}
	return max(0, outage)
}

func (p *Problem) crash(ctx context.Context, s failover.Settings) (failover.Result, error) {
	c := p.World
	c.Settings, c.Scenario, c.Runs = s, failover.Crash, min(searchRuns, c.Runs)
	return p.Simulate(ctx, c)
}

// impossible says what comes nearest to objectives that nothing meets.
func (p *Problem) impossible(ctx context.Context) error {
	periods := p.periods()
	if len(periods) == 0 {
		return fmt.Errorf("%.3g API calls/s are too few for %d candidates: even a retry period of %v costs %.3g",
			p.Objectives.Calls, p.World.Candidates, longestPeriod, p.calls(longestPeriod))
	}
	s := p.shortest(periods[0])
	r, err := p.crash(ctx, s)
	if err != nil {
		return err
	}
	if r.Failover.Count == 0 {
		return fmt.Errorf("no settings fail over in %v with at most %.3g API calls/s: of those with the shortest lease duration, %s", p.Objectives.Failover, p.Objectives.Calls, leaderless(r))
	}
	return fmt.Errorf("no settings fail over in %v with at most %.3g API calls/s and clock rates that differ by %v: the nearest, %v, take %v",
		p.Objectives.Failover, p.Objectives.Calls, p.Objectives.Skew, s, r.Failover.At(0.99).Round(100*time.Millisecond))
}

// leaderless says that nobody leads.
func leaderless(r failover.Result) string {
	why := fmt.Sprintf("API calls (latency %v) outlast", r.Config.Latency)
	if r.Config.Errors > 0 {
		why = fmt.Sprintf("API calls (latency %v, %s fail) don't succeed within", r.Config.Latency, wording.Percent(r.Config.Errors))
	}
	return fmt.Sprintf("%v, nobody leads after a crash in any of %d runs: %s the renew deadline of %v", r.Config.Settings, r.Config.Runs, why, r.Config.RenewDeadline)
}
