package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// confirm looks at the neighbours with more effort: the rough predictions may
// be a worker off, or a few calls a second.
func (s *search) confirm(ctx context.Context, x Settings) (Settings, error) {
	check := func(y Settings) (bool, error) {
		s.progress("confirming " + brief(y))
		f, err := s.m.predict(ctx, y, finest, s.seed+1)
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
	var list []Settings
	for step := range 3 {
		y := x
		if y.Workers += step + 1; y.Workers <= s.maxWorkers {
			list = append(list, y)
		}
		if y = x; s.limited() {
			y.QPS = tidy(x.QPS*math.Pow(1.05, float64(step+1)), s.maxQPS)
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
	slices.SortStableFunc(list, func(a, b Settings) int { return cmp.Compare(cost(a), cost(b)) })
	for _, y := range list {
		if ok, err := check(y); err != nil || ok {
			return y, err
		}
	}
	return x, nil
}

// firm raises settings of which a long simulation shows that the short ones that chose them
// were lucky: where a limit nearly binds, one in ten is.
func (s *search) firm(ctx context.Context, x Settings) (Settings, Figures, error) {
	begin := x
	first, err := s.m.predict(ctx, x, finest, s.seed+1)
	lucky := func(f Figures) bool {
		return !f.Stable || slices.ContainsFunc(s.threshold, func(o Objective) bool { return o.of(f) > 1.1*o.Bound })
	}
	f := first
	for step := 0; err == nil && lucky(f); step++ {
		if s.progress("confirming " + brief(x)); f.Bottleneck == "client QPS" && s.limited() && x.QPS < s.maxQPS {
			x.QPS = tidy(1.15*x.QPS, s.maxQPS)
			x.Burst = max(x.Burst, int(math.Ceil(x.QPS)))
		} else {
			x.Workers++
		}
		if step == 6 || x.Workers > s.maxWorkers {
			return begin, first, nil
		}
		f, err = s.m.predict(ctx, x, finest, s.seed+1)
	}
	return x, f, err
}

// limited tells whether the client is to have a limit.
func (s *search) limited() bool { return !s.noLimit && s.maxQPS > 0 }

// chooseBurst takes the smallest of the usual bursts that still meets the
// objectives: the API server has to bear it at once.
func (s *search) chooseBurst(ctx context.Context, x Settings) (Settings, error) {
	if !s.limited() {
		return x, nil
	}
	bursts := []int{max(1, int(math.Ceil(x.QPS))), max(1, int(math.Ceil(1.5*x.QPS)))}
	if s.current.Burst > 0 {
		bursts = append(bursts, s.current.Burst)
	}
	slices.Sort(bursts)
	for _, burst := range slices.Compact(bursts) {
		if burst >= x.Burst {
			break
		}
		if s.kept() && burst < s.current.Burst {
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
func (s *search) keepCurrent(ctx context.Context, x Settings) (Settings, error) {
	y := x
	y.Workers, y.QPS, y.Burst = s.current.Workers, s.current.QPS, s.current.Burst
	if y == x || cost(y) > 1.1*cost(x) || y.Workers > s.maxWorkers || s.limited() && (y.QPS == 0 || y.QPS > s.maxQPS) {
		return x, nil
	}
	f, err := s.m.predict(ctx, y, finest, s.seed+1)
	if err == nil && s.meets(f) {
		return y, nil
	}
	return x, err
}
