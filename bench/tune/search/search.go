// Package search looks for the cheapest settings that keep objectives. Its steps, in order:
//
//  1. An [Objective] is a bound on a figure, as people write it ([ParseObjective]).
//  2. [New] takes a model of package predict and what may be changed: how many workers and
//     calls are the most, by the objectives or by the load.
//  3. [Search.Best] asks the most generous settings what is possible, and lowers objectives
//     that nothing keeps to what is nearest ([Search.Impossible]).
//  4. For each QPS it looks for the fewest workers, then for the smallest burst (cheapest.go),
//     tries the other settings around them (others.go), and confirms the choice with longer
//     simulations (refine.go).
//  5. [Search.Firm] raises what was chosen by luck. [Search.CutOff] says what is known if
//     the search had to end before.
//  6. [Search.Pareto] lists what was tried, [Search.Curves] vary each setting around the
//     recommendation.
package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// A Config is what a search is for, and what it may change.
type Config struct {
	Current    predict.Settings
	Objectives []Objective // none: as fast as it gets within 5%, as cheaply as that can be had
	Seed       uint64
	KeepLimit  bool         // the client's limit is not lowered: of a queue that may make more calls than its part, or because one flag is for all controllers
	Progress   func(string) // is told what is tried
}

// A Search looks for the cheapest settings of one model that keep the objectives.
type Search struct {
	m      *predict.Model
	config Config

	maxWorkers int
	maxQPS     float64 // 0: the client has no limit and needs none
	noLimit    bool    // a client without a limit is allowed
	threshold  []Objective
	tried      map[predict.Settings]predict.Figures // by rough effort
	impossible []string
	aimed      bool // it is known what is possible
	sure       bool // settings have to carry what the load may be, too
}

// New begins a search among the settings of a model, which are not changed before it ends.
func New(m *predict.Model, c Config) *Search {
	current := c.Current
	s := &Search{m: m, config: c, tried: map[predict.Settings]predict.Figures{}}
	s.maxWorkers = max(64, current.Workers, int(4*m.AddRate*m.Busy)+1)
	need := m.AddRate*m.Calls + m.Background
	s.noLimit = current.QPS == 0
	if m.Offered == 0 && !m.Spec.Reconcile.Calls.IsZero() || need > 0 {
		s.maxQPS = max(4*current.QPS, 4*need)
	}
	for _, x := range c.Objectives {
		switch x.Figure {
		case "workers":
			s.maxWorkers = int(x.Bound)
			if x.Strict {
				s.maxWorkers--
			}
		case "api qps":
			s.noLimit = false
			if s.maxQPS > 0 {
				s.maxQPS = min(x.Bound, s.maxQPS)
				if s.maxQPS == x.Bound && x.Strict {
					s.maxQPS *= 0.999
				}
			}
		}
	}
	if s.maxWorkers < 1 {
		s.maxWorkers = 1
	}
	return s
}

// figures predicts once for each setting.
func (s *Search) figures(ctx context.Context, x predict.Settings) (predict.Figures, error) {
	if f, ok := s.tried[x]; ok {
		return f, nil
	}
	s.config.Progress(fmt.Sprintf("%d settings tried, now %d workers, QPS %s", len(s.tried), x.Workers, predict.Fields[1].Text(x)))
	f, err := s.m.Predict(ctx, x, predict.Rough, s.config.Seed)
	if err != nil {
		return f, err
	}
	s.tried[x] = f
	return f, nil
}

// Refined keeps a prediction of more effort in the place of the rough one.
func (s *Search) Refined(f predict.Figures) { s.tried[f.Settings] = f }

// meets tells whether a prediction is stable and keeps every bound.
func (s *Search) meets(f predict.Figures) bool {
	return f.Stable && !slices.ContainsFunc(s.threshold, func(o Objective) bool { return !o.met(f) }) && !(s.sure && s.m.Full(f.Settings))
}

// most are the most generous settings within the limits.
func (s *Search) most() predict.Settings {
	x := s.config.Current
	x.Workers = s.maxWorkers
	if s.limited() {
		x.QPS, x.Burst = s.maxQPS, s.generous(s.maxQPS)
	}
	// Without a limit, or without calls that are known, it stays as it is.
	return x
}

// generous is the burst that a search begins with: what the API server has to
// bear at once is at most two seconds' calls, if it isn't more by now.
func (s *Search) generous(qps float64) int {
	return max(1, int(math.Ceil(2*qps)), s.config.Current.Burst)
}

// Best finds the recommendation: the fewest workers and calls that meet the
// objectives. Without an objective on durations they are to be as short as
// they get, within 5% of what events take to be settled.
//
// The other settings come in where they matter: before, if workers and calls
// alone don't meet the objectives, and after, around the cheapest that do. If
// they then allow for fewer workers or calls, these are looked for once more.
// When the context ends, it is what was found by then, with the context's error.
func (s *Search) Best(ctx context.Context) (predict.Settings, error) {
	most := s.most()
	if load, bottleneck := s.m.Demand(most); load >= 1 {
		if most = s.stabilise(most, bottleneck); bottleneck == "workers" || bottleneck == "client QPS" {
			s.impossible, s.aimed = append(s.impossible, s.unbearable(bottleneck)), true
			return most, nil
		}
	}
	top, err := s.figures(ctx, most)
	if err != nil {
		return s.config.Current, err
	}
	if !s.satisfied(top) {
		if most, err = s.others(ctx, most); err != nil {
			return s.config.Current, err
		}
		top = s.tried[most]
	}
	if !top.Stable {
		s.impossible, s.aimed = append(s.impossible, s.overloaded(top)), true
		return most, nil
	}
	s.aim(top)
	s.sure = s.m.Observations > 0 && !s.m.Full(most)
	best, err := s.cheapest(ctx, most)
	if err != nil {
		return best, err
	}
	with, err := s.others(ctx, best)
	if err != nil {
		return best, err
	}
	if with != best {
		best = with
		with.Workers, with.QPS, with.Burst = most.Workers, most.QPS, most.Burst
		again, err := s.cheapest(ctx, with)
		if err != nil {
			return best, err
		}
		if again.Cost() < best.Cost() {
			best = again
		}
	}
	if best, err = s.confirm(ctx, best); err != nil {
		return best, err
	}
	return s.keepCurrent(ctx, best)
}

// Impossible are the objectives out of reach, with the nearest possible; none before Best
// found out.
func (s *Search) Impossible() []string { return s.impossible }

// satisfied tells whether the objectives name a duration and all are kept.
func (s *Search) satisfied(f predict.Figures) bool {
	durations := false
	for _, o := range s.config.Objectives {
		if !o.met(f) {
			return false
		}
		durations = durations || o.ofTime()
	}
	return durations && f.Stable
}

// unbearable says what the limits would have to be.
func (s *Search) unbearable(bottleneck string) string {
	if bottleneck == "workers" {
		return fmt.Sprintf("max workers %d: the load keeps %s workers busy, so no setting is stable; the nearest possible is %d workers", s.maxWorkers, predict.Number(s.m.Offered), s.fewestStable())
	}
	need := s.m.AddRate*s.m.Calls + s.m.Background
	return fmt.Sprintf("api qps %s: the load makes %s API calls a second, so no setting is stable; the nearest possible is %s, with fewer calls a reconcile as the other way", predict.Number(s.maxQPS), predict.Number(need), predict.Number(math.Ceil(need*1.05)))
}

// fewestStable is how many workers carry the load, which holds what the queue takes of them.
func (s *Search) fewestStable() int {
	x := predict.Settings{Workers: max(1, int(s.m.Offered)), Queue: s.config.Current.Queue}
	for {
		if load, what := s.m.Demand(x); load < 1 || what != "workers" {
			return x.Workers
		}
		x.Workers++
	}
}

// overloaded says by how much the most generous settings are.
func (s *Search) overloaded(top predict.Figures) string {
	text := fmt.Sprintf("%s: the load is %.0f%% of what that carries (%s), so no setting is stable", top.Settings.Brief(), 100*top.Load, top.Bottleneck)
	switch top.Bottleneck {
	case "workers":
		text += fmt.Sprintf("; the nearest possible is %d workers", max(s.fewestStable(), int(top.Load*float64(top.Settings.Workers))+1))
	case "client QPS":
		text += "; the nearest possible is a QPS of " + predict.Number(math.Ceil(top.Load*top.Settings.QPS))
	}
	return text
}

// stabilise raises the retry bucket, which nothing limits.
func (s *Search) stabilise(x predict.Settings, bottleneck string) predict.Settings {
	if bottleneck == "retry bucket" {
		retries := s.m.AddRate * s.m.Failure
		x.BucketRate = math.Ceil(2 * retries)
		x.BucketBurst = max(x.BucketBurst, int(10*x.BucketRate))
	}
	return x
}

// aim turns the objectives into bounds that some setting keeps.
func (s *Search) aim(top predict.Figures) {
	s.aimed = true
	durations := false
	for _, o := range s.config.Objectives {
		if o.Figure == "workers" || o.Figure == "api qps" {
			continue
		}
		durations = durations || o.ofTime()
		if !o.met(top) {
			reached := o.of(top)
			text := fmt.Sprintf("%s: the nearest possible within the limits is %s, with %s", o.Text, o.text(reached), top.Settings.Brief())
			if s.m.GuessedKeys() {
				text += ", if there are as few keys as explain the waits, which --keys would tell"
			}
			s.impossible = append(s.impossible, text)
			o.Bound, o.Strict = 1.05*reached, false
		}
		s.threshold = append(s.threshold, o)
	}
	if !durations {
		// Waits that add less than that to what an event takes to be settled, or that
		// are as short as a goroutine takes to wake up, are not worth another worker.
		bound := max(floor, 1.05*top.Wait.P99.Mean+0.05*top.Settle.P99.Mean)
		s.threshold = append(s.threshold, Objective{Figure: "wait", P: 0.99, Bound: bound})
		if s.m.Calls > 0 || s.m.Offered == 0 {
			// Fewer tokens make the work longer before they make the queue so.
			s.threshold = append(s.threshold, Objective{Figure: "settle", P: 0.99, Bound: 1.05 * top.Settle.P99.Mean})
		}
	}
}
