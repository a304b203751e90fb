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
	progress   func(string)

	maxWorkers int
	maxQPS     float64 // 0: the client has no limit and needs none
	noLimit    bool    // a client without a limit is allowed
	threshold  []Objective
	tried      map[Settings]Figures // by rough effort
	impossible []string
}

func newSearch(m *Model, current Settings, o Options, progress func(string)) *search {
	s := &search{m: m, current: current, objectives: o.Objectives, seed: o.Seed, progress: progress, tried: map[Settings]Figures{}}
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
	s.progress(fmt.Sprintf("%d settings tried, now %d workers, QPS %s", len(s.tried), x.Workers, fields[1].text(x)))
	f, err := s.m.predict(ctx, x, rough, s.seed)
	if err != nil {
		return f, err
	}
	s.tried[x] = f
	return f, nil
}

// meets tells whether a prediction is stable and keeps every bound.
func (s *search) meets(f Figures) bool {
	return f.Stable && !slices.ContainsFunc(s.threshold, func(o Objective) bool { return !o.met(f) })
}

// most are the most generous settings within the limits.
func (s *search) most() Settings {
	x := s.current
	x.Workers = s.maxWorkers
	if s.maxQPS > 0 && !s.noLimit {
		x.QPS, x.Burst = s.maxQPS, generous(s.maxQPS)
	}
	// Without a limit, or without calls that are known, it stays as it is.
	return x
}

func generous(qps float64) int { return max(1, int(math.Ceil(2*qps))) }

// best finds the recommendation: the fewest workers and calls that meet the
// objectives. Without an objective on durations they are to be as short as
// they get, within 5 %.
func (s *search) best(ctx context.Context) (Settings, error) {
	most := s.most()
	if load, bottleneck := s.m.demand(most); load >= 1 {
		if most = s.stabilise(most, bottleneck); bottleneck == "workers" || bottleneck == "client QPS" {
			s.impossible = append(s.impossible, s.unbearable(bottleneck))
			return most, nil
		}
	}
	top, err := s.figures(ctx, most)
	if err != nil {
		return s.current, err
	}
	s.aim(top)
	best, err := s.workersAndQPS(ctx, most)
	if best.Workers == 0 {
		best = most
	}
	if err != nil {
		return best, err
	}
	for _, step := range []func(context.Context, Settings) (Settings, error){s.confirm, s.chooseBurst, s.others, s.keepCurrent} {
		if best, err = step(ctx, best); err != nil {
			return best, err
		}
	}
	return best, nil
}

// unbearable says what the limits would have to be.
func (s *search) unbearable(bottleneck string) string {
	if bottleneck == "workers" {
		return fmt.Sprintf("max workers %d: the load keeps %s workers busy, so no setting is stable; the nearest possible is %d workers", s.maxWorkers, number(s.m.Offered), int(s.m.Offered)+1)
	}
	need := s.m.AddRate*s.m.Calls + s.m.Background
	return fmt.Sprintf("api qps %s: the load makes %s API calls a second, so no setting is stable; the nearest possible is %s, with fewer calls a reconcile as the other way", number(s.maxQPS), number(need), number(math.Ceil(need*1.05)))
}

// stabilise raises the retry bucket, which nothing limits.
func (s *search) stabilise(x Settings, bottleneck string) Settings {
	if bottleneck == "retry bucket" {
		retries := s.m.AddRate * s.m.Failure
		x.BucketRate = math.Ceil(2 * retries)
		x.BucketBurst = max(x.BucketBurst, int(10*x.BucketRate))
		s.current.BucketRate, s.current.BucketBurst = x.BucketRate, x.BucketBurst
	}
	return x
}

// aim turns the objectives into bounds that some setting keeps.
func (s *search) aim(top Figures) {
	durations := false
	for _, o := range s.objectives {
		if o.Figure == "workers" || o.Figure == "api qps" {
			continue
		}
		durations = durations || o.Figure != "utilisation"
		if !o.met(top) {
			reached := o.of(top)
			s.impossible = append(s.impossible, fmt.Sprintf("%s: the nearest possible within the limits is %s, with %s", o.Text, o.text(reached), brief(top.Settings)))
			o.Bound, o.Strict = 1.05*reached, false
		}
		s.threshold = append(s.threshold, o)
	}
	if !durations {
		// A hundredth of the work is no wait that anybody notices.
		bound := 1.05*top.Wait.P99.Mean + 0.01*max(s.m.Busy, top.Work.Mean.Mean)
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

// workersAndQPS finds the cheapest pair: for each QPS, from the most down, the
// fewest workers by bisection, since durations fall with both.
func (s *search) workersAndQPS(ctx context.Context, most Settings) (Settings, error) {
	var best Settings
	bestCost := math.Inf(1)
	least := int(s.m.Offered) + 1
	consider := func(qps float64) (bool, error) {
		x := most
		if qps > 0 {
			x.QPS, x.Burst = qps, generous(qps)
		}
		low, high := max(1, least), s.maxWorkers
		if room := bestCost - qps/10; room < float64(high) {
			high = int(room)
		}
		if high < low {
			return false, nil
		}
		x.Workers = high
		f, err := s.figures(ctx, x)
		if err != nil || !s.meets(f) {
			return false, err
		}
		for low < high {
			x.Workers = (low + high) / 2
			if f, err = s.figures(ctx, x); err != nil {
				return false, err
			}
			if s.meets(f) {
				high = x.Workers
			} else {
				low = x.Workers + 1
			}
		}
		x.Workers = high
		if cost := Cost(x); cost < bestCost {
			best, bestCost = x, cost
		}
		return true, nil
	}
	if s.noLimit || s.maxQPS == 0 {
		_, err := consider(0)
		return best, err
	}
	floor := 1.01 * (s.m.AddRate*s.m.Calls + s.m.Background)
	failed := 0
	for qps := most.QPS; qps >= floor; qps /= 1.2 {
		ok, err := consider(tidy(qps, most.QPS))
		if err != nil {
			return best, err
		}
		if failed++; ok {
			failed = 0
		}
		if failed == 4 {
			break
		}
	}
	return best, nil
}

// tidy rounds a QPS up to two digits, to what people write, within a limit.
func tidy(qps, limit float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(qps))-1)
	return min(math.Ceil(qps/unit-1e-9)*unit, limit)
}

// pareto keeps the settings to which none is both cheaper and faster.
func (s *search) pareto() []Point {
	var all []Figures
	for _, f := range s.tried {
		if f.Stable {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Settle.P99.Mean, b.Settle.P99.Mean), cmp.Compare(a.Settings.Workers, b.Settings.Workers), cmp.Compare(a.Settings.Burst, b.Settings.Burst))
	})
	var front []Point
	for _, f := range all {
		if n := len(front); n == 0 || f.Settle.P99.Mean < 0.995*front[n-1].SettleP99 {
			front = append(front, Point{f.Settings, f.Cost, f.Wait.P99.Mean, f.Settle.P99.Mean, f.CallRate.Mean})
		}
	}
	return front
}

// interrupted tells the end of time or patience from a fault.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
