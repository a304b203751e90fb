package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// confirm looks at the neighbours with more effort: the rough predictions may
// be a worker off, or a few calls a second.
func (s *Search) confirm(x predict.Settings) predict.Settings {
	if s.meets(s.fine(x)) {
		for range 3 {
			y := x
			if y.Workers--; y.Workers < 1 || !s.meets(s.fine(y)) {
				break
			}
			x = y
		}
		return x
	}
	// What is missing may come from tokens or from workers: the cheapest that will do,
	// a larger burst first, which costs neither.
	var list []predict.Settings
	for step := range 3 {
		y := x
		if y.Workers += step + 1; y.Workers <= s.maxWorkers {
			list = append(list, y)
		}
		if y = s.moreCalls(x, math.Pow(1.05, float64(step+1))); y.QPS > x.QPS {
			list = append(list, y)
		}
	}
	if y := x; s.maxQPS > 0 && x.Burst < s.generous(x.QPS) {
		y.Burst = s.generous(x.QPS)
		list = append(list, y)
	}
	slices.SortStableFunc(list, func(a, b predict.Settings) int { return cmp.Compare(a.Cost(), b.Cost()) })
	for _, y := range list {
		if s.meets(s.fine(y)) {
			return y
		}
	}
	return x
}

// moreCalls raises a client's limit as far as it may be, and its burst to a second's calls.
func (s *Search) moreCalls(x predict.Settings, times float64) predict.Settings {
	if s.maxQPS > 0 {
		x.QPS = Tidy(times*x.QPS, s.maxQPS)
		x.Burst = max(x.Burst, int(math.Ceil(x.QPS)))
	}
	return x
}

// Firm raises settings of which a long simulation shows that the short ones that chose them
// were lucky: where a limit nearly binds, one in ten is. It gives their figures; if these are
// not stable, Impossible tells. It fails when the context ends.
func (s *Search) Firm(ctx context.Context, x predict.Settings) (predict.Settings, predict.Figures, error) {
	s.ctx, s.err = ctx, nil
	x, f := s.raise(x)
	switch {
	case s.err != nil:
	case f.Stable:
		x = s.spare(x, f)
		f = s.predict("confirming "+x.Brief(), s.m, x, predict.Finest)
	case len(s.impossible) == 0:
		s.impossible = append(s.impossible, s.overloaded(f))
	}
	return x, f, s.err
}

// spare allows for a few calls more than are needed by what was measured, where these cost
// little: near a limit a percent more load than that may double the waits.
func (s *Search) spare(x predict.Settings, f predict.Figures) predict.Settings {
	most := x.Cost() * spared
	for x != s.config.Current && f.Wait.P99.High > 2*f.Wait.P99.Mean {
		y := s.moreCalls(x, 1.03)
		if y.QPS <= x.QPS || y.Cost() > most {
			break
		}
		g := s.fine(y)
		if s.err != nil || g.Wait.P99.High > gained*f.Wait.P99.High {
			break
		}
		x, f = y, g
	}
	return x
}

// raise is what Firm finds.
func (s *Search) raise(x predict.Settings) (predict.Settings, predict.Figures) {
	lucky := func(f predict.Figures) bool {
		return !f.Stable || slices.ContainsFunc(s.threshold, func(o Objective) bool { return o.of(f) > 1.1*o.Bound })
	}
	first := s.fine(x)
	y, f := x, first
	for step := 0; lucky(f); step++ {
		if z := s.moreCalls(y, 1.15); f.Bottleneck == "client QPS" && z.QPS > y.QPS {
			y = z
		} else {
			y.Workers++
		}
		if step == 6 || y.Workers > s.maxWorkers {
			return x, first
		}
		f = s.fine(y)
	}
	return y, f
}

// keepCurrent prefers no change of workers and calls to one that saves little.
func (s *Search) keepCurrent(x predict.Settings) predict.Settings {
	y, now := x, s.config.Current
	y.Workers, y.QPS, y.Burst = now.Workers, now.QPS, now.Burst
	if y == x || y.Cost() > 1.1*x.Cost() || y.Workers > s.maxWorkers || s.maxQPS > 0 && (y.QPS == 0 || y.QPS > s.maxQPS) || !s.meets(s.fine(y)) {
		return x
	}
	return y
}
