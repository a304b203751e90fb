package search

import (
	"math"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// others tries the settings beside workers and client limits that the model can tell something
// about, each around the given ones, and takes what is better. Failures of a model are
// independent, so a shorter back-off always settles sooner; none is shorter than client-go's
// default at first, and than a second at last, for the sake of what fails together.
func (s *Search) others(x predict.Settings) predict.Settings {
	now := s.figures(x)
	vary := func(set func(y *predict.Settings, value int), values ...int) {
		base := x
		for _, value := range values {
			y := base
			if set(&y, value); y == x || y.Check(s.m.Queues) != nil {
				continue
			}
			if f := s.figures(y); s.meets(f) && s.better(f, now) {
				x, now = y, f
			}
		}
	}
	if s.m.Fails() {
		vary(func(y *predict.Settings, ms int) { y.BaseDelay = time.Duration(ms) * time.Millisecond }, 50, 20, 10, 5)
		vary(func(y *predict.Settings, s int) { y.MaxDelay = max(y.BaseDelay, time.Duration(s)*time.Second) }, 300, 30, 5, 1)
		// Where there is no bucket both stay 0.
		vary(func(y *predict.Settings, by int) { y.BucketBurst *= by }, 2, 10)
		vary(func(y *predict.Settings, by int) { y.BucketRate *= float64(by) }, 2, 10)
	}
	if s.m.Offered > 0 {
		return x
	}
	vary(func(y *predict.Settings, by int) { y.Resync *= time.Duration(by) }, 2, 10)
	if s.m.Lists() {
		vary(func(y *predict.Settings, _ int) { prioritise(y) }, 1)
	}
	if s.m.Several() {
		vary(func(y *predict.Settings, least int) { y.Split, y.Workers = !y.Split, max(y.Workers, least) }, len(s.m.Spec.Resources))
	}
	return x
}

// prioritise changes whether there are priorities, and the queue with it.
func prioritise(x *predict.Settings) {
	x.Priority = !x.Priority
	x.Queue = x.PeersQueue()
}

// better tells whether a change of other settings is worth it: it comes nearer to
// the objectives, or shortens the 99th percentile from event to settled by a
// tenth.
func (s *Search) better(f, now predict.Figures) bool {
	if !now.Stable {
		return true
	}
	excess, was := s.excess(f), s.excess(now)
	return excess < was-0.05 || excess <= was && f.Settle.P99.Mean < gained*now.Settle.P99.Mean
}

// excess is by how much the objectives are missed, as a sum of logarithms.
func (s *Search) excess(f predict.Figures) (sum float64) {
	for _, o := range s.config.Objectives {
		if !o.met(f) {
			sum += 1e-9 + max(0, math.Log(o.of(f)/o.Bound))
		}
	}
	return sum
}
