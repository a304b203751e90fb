package search

import (
	"context"
	"math"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// others tries the settings beside workers and client limits, each around the
// given ones, and takes what is better.
func (s *Search) others(ctx context.Context, x predict.Settings) (predict.Settings, error) {
	now, err := s.figures(ctx, x)
	if err != nil {
		return x, err
	}
	for _, vary := range s.variations() {
		base := x
		for _, change := range vary {
			y := base
			change(&y)
			if y == x || y.Check(s.m.Queues) != nil {
				continue
			}
			f, err := s.figures(ctx, y)
			if err != nil {
				return x, err
			}
			if s.meets(f) && s.better(f, now) {
				x, now = y, f
			}
		}
	}
	return x, nil
}

// better tells whether a change of other settings is worth it: it comes nearer to
// the objectives, or shortens the 99th percentile from event to settled by a
// tenth.
func (s *Search) better(f, now predict.Figures) bool {
	switch excess, was := s.excess(f), s.excess(now); {
	case !now.Stable || excess < was-0.05:
		return true
	case excess > was:
		return false
	}
	return f.Settle.P99.Mean < gained*now.Settle.P99.Mean
}

// excess is by how much the objectives are missed, as a sum of logarithms.
func (s *Search) excess(f predict.Figures) float64 {
	sum := 0.0
	for _, o := range s.config.Objectives {
		if o.ofTime() || o.Figure == "utilisation" {
			sum += max(0, math.Log(o.of(f)/o.Bound))
		}
	}
	return sum
}

// variations are values that are worth a try, for the settings that the model
// can tell something about. Failures of a model are independent, so a shorter
// back-off always settles sooner; none is shorter than client-go's default at
// first, and than a second at last, for the sake of what fails together.
func (s *Search) variations() [][]func(*predict.Settings) {
	var all [][]func(*predict.Settings)
	vary := func(set ...func(*predict.Settings)) { all = append(all, set) }
	if s.m.Fails() {
		base := func(d time.Duration) func(*predict.Settings) { return func(y *predict.Settings) { y.BaseDelay = d } }
		longest := func(d time.Duration) func(*predict.Settings) {
			return func(y *predict.Settings) { y.MaxDelay = max(y.BaseDelay, d) }
		}
		vary(base(50*time.Millisecond), base(20*time.Millisecond), base(10*time.Millisecond), base(5*time.Millisecond))
		vary(longest(5*time.Minute), longest(30*time.Second), longest(5*time.Second), longest(time.Second))
		// Where there is no bucket both stay 0.
		vary(func(y *predict.Settings) { y.BucketBurst *= 2 }, func(y *predict.Settings) { y.BucketBurst *= 10 })
		vary(func(y *predict.Settings) { y.BucketRate *= 2 }, func(y *predict.Settings) { y.BucketRate *= 10 })
	}
	if s.m.Offered == 0 {
		if s.config.Current.Resync > 0 {
			vary(func(y *predict.Settings) { y.Resync *= 2 }, func(y *predict.Settings) { y.Resync *= 10 })
		}
		if s.m.Lists() {
			vary(func(y *predict.Settings) { y.Priority = !y.Priority; y.Queue = y.PeersQueue() })
		}
		if s.m.Several() {
			vary(func(y *predict.Settings) { y.Split = !y.Split; y.Workers = max(y.Workers, len(s.m.Spec.Resources)) })
		}
	}
	return all
}
