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
func (s *Search) confirm(ctx context.Context, x predict.Settings) (predict.Settings, error) {
	check := func(y predict.Settings) (bool, error) {
		s.config.Progress("confirming " + y.Brief())
		f, err := s.m.Predict(ctx, y, predict.Fine, s.config.Seed+1)
		return s.meets(f), err
	}
	ok, err := check(x)
	if err != nil {
		return x, err
	}
	if ok {
		for range 3 {
			y := x
			if y.Workers--; y.Workers < 1 {
				break
			}
			if better, err := check(y); err != nil || !better {
				return x, err
			}
			x = y
		}
		return x, nil
	}
	// What is missing may come from tokens or from workers: the cheapest that will do,
	// a larger burst first, which costs neither.
	var list []predict.Settings
	for step := range 3 {
		y := x
		if y.Workers += step + 1; y.Workers <= s.maxWorkers {
			list = append(list, y)
		}
		if y = x; s.limited() {
			y.QPS = Tidy(x.QPS*math.Pow(1.05, float64(step+1)), s.maxQPS)
			y.Burst = max(x.Burst, int(math.Ceil(y.QPS)))
			if y.QPS > x.QPS {
				list = append(list, y)
			}
		}
	}
	if y := x; s.limited() && x.Burst < s.generous(x.QPS) {
		y.Burst = s.generous(x.QPS)
		list = append(list, y)
	}
	slices.SortStableFunc(list, func(a, b predict.Settings) int { return cmp.Compare(a.Cost(), b.Cost()) })
	for _, y := range list {
		if ok, err := check(y); err != nil || ok {
			return y, err
		}
	}
	return x, nil
}

// Firm raises settings of which a long simulation shows that the short ones that chose them
// were lucky: where a limit nearly binds, one in ten is. It gives their figures; if these are
// not stable, Impossible tells. It fails when the context ends.
func (s *Search) Firm(ctx context.Context, x predict.Settings) (predict.Settings, predict.Figures, error) {
	x, f, err := s.raise(ctx, x)
	if err == nil && !f.Stable && len(s.impossible) == 0 {
		s.impossible = append(s.impossible, s.overloaded(f))
	}
	if err != nil || !f.Stable {
		return x, f, err
	}
	if x, err = s.spare(ctx, x, f); err != nil {
		return x, f, err
	}
	f, err = s.m.Predict(ctx, x, predict.Finest, s.config.Seed+1)
	return x, f, err
}

// spare allows for a few calls more than are needed by what was measured, where these cost
// little: near a limit a percent more load than that may double the waits.
func (s *Search) spare(ctx context.Context, x predict.Settings, f predict.Figures) (predict.Settings, error) {
	most := x.Cost() * spared
	for s.limited() && x != s.config.Current && f.Wait.P99.High > 2*f.Wait.P99.Mean {
		y := x
		y.QPS = Tidy(1.03*x.QPS, s.maxQPS)
		y.Burst = max(x.Burst, int(math.Ceil(y.QPS)))
		if y.QPS == x.QPS || y.Cost() > most {
			break
		}
		s.config.Progress("confirming " + y.Brief())
		g, err := s.m.Predict(ctx, y, predict.Fine, s.config.Seed+1)
		if err != nil || g.Wait.P99.High > gained*f.Wait.P99.High {
			return x, err
		}
		x, f = y, g
	}
	return x, nil
}

// raise is what Firm finds.
func (s *Search) raise(ctx context.Context, x predict.Settings) (predict.Settings, predict.Figures, error) {
	begin := x
	first, err := s.m.Predict(ctx, x, predict.Fine, s.config.Seed+1)
	lucky := func(f predict.Figures) bool {
		return !f.Stable || slices.ContainsFunc(s.threshold, func(o Objective) bool { return o.of(f) > 1.1*o.Bound })
	}
	f := first
	for step := 0; err == nil && lucky(f); step++ {
		if s.config.Progress("confirming " + x.Brief()); f.Bottleneck == "client QPS" && s.limited() && x.QPS < s.maxQPS {
			x.QPS = Tidy(1.15*x.QPS, s.maxQPS)
			x.Burst = max(x.Burst, int(math.Ceil(x.QPS)))
		} else {
			x.Workers++
		}
		if step == 6 || x.Workers > s.maxWorkers {
			return begin, first, nil
		}
		f, err = s.m.Predict(ctx, x, predict.Fine, s.config.Seed+1)
	}
	return x, f, err
}

// limited tells whether the client is to have a limit.
func (s *Search) limited() bool { return !s.noLimit && s.maxQPS > 0 }

// chooseBurst takes the smallest of the usual bursts that still meets the
// objectives: the API server has to bear it at once.
func (s *Search) chooseBurst(ctx context.Context, x predict.Settings) (predict.Settings, error) {
	if !s.limited() {
		return x, nil
	}
	bursts := []int{max(1, int(math.Ceil(x.QPS))), max(1, int(math.Ceil(1.5*x.QPS)))}
	if s.config.Current.Burst > 0 {
		bursts = append(bursts, s.config.Current.Burst)
	}
	slices.Sort(bursts)
	for _, burst := range slices.Compact(bursts) {
		if burst >= x.Burst {
			break
		}
		if s.config.KeepLimit && burst < s.config.Current.Burst {
			continue // as with the QPS
		}
		y := x
		y.Burst = burst
		f, err := s.figures(ctx, y)
		if err != nil {
			return x, err
		}
		if s.meets(f) {
			return y, nil
		}
	}
	return x, nil
}

// keepCurrent prefers no change of workers and calls to one that saves little.
func (s *Search) keepCurrent(ctx context.Context, x predict.Settings) (predict.Settings, error) {
	y := x
	y.Workers, y.QPS, y.Burst = s.config.Current.Workers, s.config.Current.QPS, s.config.Current.Burst
	if y == x || y.Cost() > 1.1*x.Cost() || y.Workers > s.maxWorkers || s.limited() && (y.QPS == 0 || y.QPS > s.maxQPS) {
		return x, nil
	}
	f, err := s.m.Predict(ctx, y, predict.Fine, s.config.Seed+1)
	if err == nil && s.meets(f) {
		return y, nil
	}
	return x, err
}
