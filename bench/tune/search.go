package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A search looks for the cheapest settings of one model that keep the objectives.
type search struct {
	m          *Model
	current    Settings
	objectives []Objective
	seed       uint64
	kind       flavour
	progress   func(string)

	maxWorkers int
	maxQPS     float64 // 0: the client has no limit and needs none
	noLimit    bool    // a client without a limit is allowed
	threshold  []Objective
	tried      map[Settings]Figures // by rough effort
	impossible []string
	aimed      bool // it is known what is possible
	sure       bool // settings have to carry what the load may be, too
}

func newSearch(m *Model, current Settings, o Options, kind flavour, progress func(string)) *search {
	s := &search{m: m, current: current, objectives: o.Objectives, seed: o.Seed, kind: kind, progress: progress, tried: map[Settings]Figures{}}
	s.maxWorkers = max(64, current.Workers, int(4*m.AddRate*m.Busy)+1)
	need := m.AddRate*m.Calls + m.Background
	s.noLimit = current.QPS == 0
	if m.Offered == 0 && !m.Spec.Reconcile.Calls.IsZero() || need > 0 {
		s.maxQPS = max(4*current.QPS, 4*need)
	}
	for _, x := range o.Objectives {
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
func (s *search) figures(ctx context.Context, x Settings) (Figures, error) {
	if f, ok := s.tried[x]; ok {
		return f, nil
	}
	if y, alike := s.m.alike(x); alike {
		f, err := s.figures(ctx, y)
		if err == nil {
			f = s.m.exchanged(f, x)
			s.tried[x] = f
		}
		return f, err
	}
	s.progress(fmt.Sprintf("%d settings tried, now %d workers, QPS %s", len(s.tried), x.Workers, fields[1].text(x)))
	f, err := s.m.predict(ctx, x, rough, s.seed)
	if err != nil {
		return f, err
	}
	s.tried[x] = f
	return f, nil
}

// refined keeps a prediction of more effort in the place of the rough one, and of
// those for queues that are predicted to do the same.
func (s *search) refined(f Figures) {
	for x := range s.tried {
		like := x
		like.Queue = f.Settings.Queue
		if like == f.Settings && s.m.occupied(x) == 0 && s.m.occupied(f.Settings) == 0 {
			s.tried[x] = s.m.exchanged(f, x)
		}
	}
	s.tried[f.Settings] = f
}

// meets tells whether a prediction is stable and keeps every bound.
func (s *search) meets(f Figures) bool {
	return f.Stable && !slices.ContainsFunc(s.threshold, func(o Objective) bool { return !o.met(f) }) && !(s.sure && s.m.full(f.Settings))
}

// most are the most generous settings within the limits.
func (s *search) most() Settings {
	x := s.current
	x.Workers = s.maxWorkers
	if s.limited() {
		x.QPS, x.Burst = s.maxQPS, s.generous(s.maxQPS)
	}
	// Without a limit, or without calls that are known, it stays as it is.
	return x
}

// generous is the burst that a search begins with: what the API server has to
// bear at once is at most two seconds' calls, if it isn't more by now.
func (s *search) generous(qps float64) int { return max(1, int(math.Ceil(2*qps)), s.current.Burst) }

// best finds the recommendation: the fewest workers and calls that meet the
// objectives. Without an objective on durations they are to be as short as
// they get, within 5% of what events take to be settled.
//
// The other settings come in where they matter: before, if workers and calls
// alone don't meet the objectives, and after, around the cheapest that do. If
// they then allow for fewer workers or calls, these are looked for once more.
func (s *search) best(ctx context.Context) (Settings, error) {
	most := s.most()
	if load, bottleneck := s.m.demand(most); load >= 1 {
		if most = s.stabilise(most, bottleneck); bottleneck == "workers" || bottleneck == "client QPS" {
			s.impossible, s.aimed = append(s.impossible, s.unbearable(bottleneck)), true
			return most, nil
		}
	}
	top, err := s.figures(ctx, most)
	if err != nil {
		return s.current, err
	}
	if !s.satisfied(top) {
		if most, err = s.others(ctx, most); err != nil {
			return s.current, err
		}
		top = s.tried[most]
	}
	if !top.Stable {
		s.impossible, s.aimed = append(s.impossible, s.overloaded(top)), true
		return most, nil
	}
	s.aim(top)
	s.sure = s.m.Observations > 0 && !s.m.full(most)
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
		if cost(again) < cost(best) {
			best = again
		}
	}
	if best, err = s.confirm(ctx, best); err != nil {
		return best, err
	}
	return s.keepCurrent(ctx, best)
}

// satisfied tells whether the objectives name a duration and all are kept.
func (s *search) satisfied(f Figures) bool {
	durations := false
	for _, o := range s.objectives {
		if !o.met(f) {
			return false
		}
		durations = durations || o.ofTime()
	}
	return durations && f.Stable
}

// unbearable says what the limits would have to be.
func (s *search) unbearable(bottleneck string) string {
	if bottleneck == "workers" {
		return fmt.Sprintf("max workers %d: the load keeps %s workers busy, so no setting is stable; the nearest possible is %d workers", s.maxWorkers, number(s.m.Offered), s.fewestStable())
	}
	need := s.m.AddRate*s.m.Calls + s.m.Background
	return fmt.Sprintf("api qps %s: the load makes %s API calls a second, so no setting is stable; the nearest possible is %s, with fewer calls a reconcile as the other way", number(s.maxQPS), number(need), number(math.Ceil(need*1.05)))
}

// fewestStable is how many workers carry the load, which holds what the queue takes of them.
func (s *search) fewestStable() int {
	x := Settings{Workers: max(1, int(s.m.Offered)), Queue: s.current.Queue}
	for {
		if load, what := s.m.demand(x); load < 1 || what != "workers" {
			return x.Workers
		}
		x.Workers++
	}
}

// overloaded says by how much the most generous settings are.
func (s *search) overloaded(top Figures) string {
	text := fmt.Sprintf("%s: the load is %.0f%% of what that carries (%s), so no setting is stable", brief(top.Settings), 100*top.Load, top.Bottleneck)
	switch top.Bottleneck {
	case "workers":
		text += fmt.Sprintf("; the nearest possible is %d workers", max(s.fewestStable(), int(top.Load*float64(top.Settings.Workers))+1))
	case "client QPS":
		text += "; the nearest possible is a QPS of " + number(math.Ceil(top.Load*top.Settings.QPS))
	}
	return text
}

// stabilise raises the retry bucket, which nothing limits.
func (s *search) stabilise(x Settings, bottleneck string) Settings {
	if bottleneck == "retry bucket" {
		retries := s.m.AddRate * s.m.Failure
		x.BucketRate = math.Ceil(2 * retries)
		x.BucketBurst = max(x.BucketBurst, int(10*x.BucketRate))
	}
	return x
}

// aim turns the objectives into bounds that some setting keeps.
func (s *search) aim(top Figures) {
	s.aimed = true
	durations := false
	for _, o := range s.objectives {
		if o.Figure == "workers" || o.Figure == "api qps" {
			continue
		}
		durations = durations || o.ofTime()
		if !o.met(top) {
			reached := o.of(top)
			text := fmt.Sprintf("%s: the nearest possible within the limits is %s, with %s", o.Text, o.text(reached), brief(top.Settings))
			if s.m.guessed {
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

func brief(x Settings) string {
	text := fmt.Sprintf("%d workers", x.Workers)
	if x.Workers == 1 {
		text = "1 worker"
	}
	if x.QPS > 0 {
		text += fmt.Sprintf(" and a QPS of %s", number(x.QPS))
	}
	return text
}

// pareto keeps the settings to which none is both cheaper and faster.
func (s *search) pareto() []Tradeoff {
	var all []Figures
	for _, f := range s.tried {
		if f.Stable {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Settle.P99.Mean, b.Settle.P99.Mean), cmp.Compare(a.Settings.Workers, b.Settings.Workers), cmp.Compare(a.Settings.Burst, b.Settings.Burst))
	})
	var front []Tradeoff
	for _, f := range all {
		if n := len(front); n == 0 || f.Settle.P99.Mean < 0.995*front[n-1].SettleP99 {
			front = append(front, Tradeoff{f.Settings, f.Cost, f.Wait.P99.Mean, f.Settle.P99.Mean, f.CallRate.Mean})
		}
	}
	return front
}

// interrupted tells the end of time or patience from a fault.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
