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

	ctx context.Context // of the call of Best, Firm or Curves that runs, and ...
	err error           // ... what ended it

	maxWorkers int
	maxQPS     float64           // 0: the client is to have no limit, or none matters
	threshold  []Objective       // what the objectives come to, once it is known what is possible
	tried      []predict.Figures // by rough effort, in their order
	impossible []string
	sure       bool // settings have to carry what the load may be, too
}

// New begins a search among the settings of a model, which are not changed before it ends.
func New(m *predict.Model, c Config) *Search {
	s := &Search{m: m, config: c}
	s.maxWorkers = max(64, c.Current.Workers, int(4*m.AddRate*m.Busy)+1)
	if need := m.AllCalls(); m.Offered == 0 && !m.Spec.Reconcile.Calls.IsZero() || need > 0 {
		s.maxQPS = max(4*c.Current.QPS, 4*need)
	}
	limited := c.Current.QPS > 0
	for _, x := range c.Objectives {
		switch {
		case x.Figure == "workers" && x.Strict:
			s.maxWorkers = int(x.Bound) - 1
		case x.Figure == "workers":
			s.maxWorkers = int(x.Bound)
		case x.Figure == "api qps":
			limited = true
			if x.Bound <= s.maxQPS && x.Strict {
				s.maxQPS = 0.999 * x.Bound
			}
			s.maxQPS = min(x.Bound, s.maxQPS)
		}
	}
	if !limited {
		s.maxQPS = 0
	}
	s.maxWorkers = max(1, s.maxWorkers)
	return s
}

// predict asks a model. After an error nothing is stable, so that a search ends soon and with what
// it had found by then.
func (s *Search) predict(doing string, m *predict.Model, x predict.Settings, e predict.Effort) predict.Figures {
	f := predict.Figures{Settings: x}
	if s.err != nil {
		return f
	}
	s.config.Progress(doing)
	seed := s.config.Seed
	if e != predict.Rough {
		seed++ // what was chosen by chance is not confirmed by the same
	}
	f, s.err = m.Predict(s.ctx, x, e, seed)
	return f
}

// figures predicts once for each setting.
func (s *Search) figures(x predict.Settings) predict.Figures {
	for _, f := range s.tried {
		if f.Settings == x {
			return f
		}
	}
	doing := fmt.Sprintf("%d settings tried, now %d workers, QPS %s", len(s.tried), x.Workers, predict.Fields[1].Text(x))
	f := s.predict(doing, s.m, x, predict.Rough)
	if s.err == nil {
		s.tried = append(s.tried, f)
	}
	return f
}

// fine predicts what a choice turns on.
func (s *Search) fine(x predict.Settings) predict.Figures {
	return s.predict("confirming "+x.Brief(), s.m, x, predict.Fine)
}

// Refined keeps a prediction of more effort in the place of the rough one.
func (s *Search) Refined(f predict.Figures) {
	s.tried = append(slices.DeleteFunc(s.tried, func(g predict.Figures) bool { return g.Settings == f.Settings }), f)
}

// meets tells whether a prediction is stable and keeps every bound.
func (s *Search) meets(f predict.Figures) bool {
	return f.Stable && keep(s.threshold, f) && !(s.sure && s.m.Full(f.Settings))
}

// generous is the burst that a search begins with: what the API server has to
// bear at once is at most two seconds' calls, if it isn't more by now.
func (s *Search) generous(qps float64) int {
	return max(int(math.Ceil(2*qps)), s.config.Current.Burst)
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
	s.ctx, s.err = ctx, nil
	most := s.config.Current
	most.Workers = s.maxWorkers
	if s.maxQPS > 0 {
		most.QPS, most.Burst = s.maxQPS, s.generous(s.maxQPS)
	}
	switch load, bottleneck := s.m.Demand(most); {
	case load < 1:
	case bottleneck == "retry bucket": // which nothing limits
		most.BucketRate = math.Ceil(2 * s.m.AddRate * s.m.Failure)
		most.BucketBurst = max(most.BucketBurst, int(10*most.BucketRate))
	default:
		s.impossible = append(s.impossible, s.unbearable(bottleneck))
		return most, nil
	}
	top := s.figures(most)
	timed := slices.ContainsFunc(s.config.Objectives, Objective.ofTime)
	if !top.Stable || !timed || !keep(s.config.Objectives, top) {
		most = s.others(most)
		top = s.figures(most)
	}
	if s.err != nil {
		return s.config.Current, s.err
	}
	if !top.Stable {
		s.impossible = append(s.impossible, s.overloaded(top))
		return most, nil
	}
	s.aim(top)
	s.sure = s.m.Observations > 0 && !s.m.Full(most)
	best := s.cheapest(most)
	if with := s.others(best); with != best {
		best = with
		with.Workers, with.QPS, with.Burst = most.Workers, most.QPS, most.Burst
		if again := s.cheapest(with); again.Cost() < best.Cost() {
			best = again
		}
	}
	best = s.keepCurrent(s.confirm(best))
	return best, s.err
}

// Impossible are the objectives out of reach, with the nearest possible; none before Best
// found out.
func (s *Search) Impossible() []string { return s.impossible }

// unbearable says what the limits would have to be.
func (s *Search) unbearable(bottleneck string) string {
	if bottleneck == "workers" {
		return fmt.Sprintf("max workers %d: the load keeps %s workers busy, so no setting is stable; the nearest possible is %d workers", s.maxWorkers, predict.Number(s.m.Offered), int(s.m.Offered)+1)
	}
	need := s.m.AllCalls()
	return fmt.Sprintf("api qps %s: the load makes %s API calls a second, so no setting is stable; the nearest possible is %s, with fewer calls a reconcile as the other way", predict.Number(s.maxQPS), predict.Number(need), predict.Number(math.Ceil(need*1.05)))
}

// overloaded says by how much the most generous settings are.
func (s *Search) overloaded(top predict.Figures) string {
	text := fmt.Sprintf("%s: the load is %.0f%% of what that carries (%s), so no setting is stable", top.Settings.Brief(), 100*top.Load, top.Bottleneck)
	switch top.Bottleneck {
	case "workers":
		text += fmt.Sprintf("; the nearest possible is %d workers", int(max(s.m.Offered, top.Load*float64(top.Settings.Workers)))+1)
	case "client QPS":
		text += "; the nearest possible is a QPS of " + predict.Number(math.Ceil(top.Load*top.Settings.QPS))
	}
	return text
}

// aim turns the objectives into bounds that some setting keeps.
func (s *Search) aim(top predict.Figures) {
	for _, o := range s.config.Objectives {
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
	if slices.ContainsFunc(s.config.Objectives, Objective.ofTime) {
		return
	}
	// Waits that add less than that to what an event takes to be settled, or that
	// are as short as a goroutine takes to wake up, are not worth another worker.
	settle := top.Settle.P99.Mean
	s.threshold = append(s.threshold, Objective{Figure: "wait", P: 0.99, Bound: max(floor, 1.05*top.Wait.P99.Mean+0.05*settle)})
	if s.m.Calls > 0 || s.m.Offered == 0 {
		// Fewer tokens make the work longer before they make the queue so.
		s.threshold = append(s.threshold, Objective{Figure: "settle", P: 0.99, Bound: 1.05 * settle})
	}
}
