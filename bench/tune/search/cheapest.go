package search

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// cheapest are the fewest workers and calls, with the smallest burst, that meet
// the objectives; the most generous settings if none do.
func (s *Search) cheapest(most predict.Settings) predict.Settings {
	return s.chooseBurst(cmp.Or(s.workersAndQPS(most), most))
}

// workersAndQPS finds the cheapest pair: for each QPS the fewest workers by
// bisection, since durations fall with both; first in steps of a fifth, from the
// most down, then around the best of these in steps of a twenty-fifth.
func (s *Search) workersAndQPS(most predict.Settings) (best predict.Settings) {
	if s.maxQPS == 0 {
		s.fewestWorkers(most, &best)
		return best
	}
	with := func(qps float64) bool {
		x := most
		x.QPS, x.Burst = qps, s.generous(qps)
		return s.fewestWorkers(x, &best)
	}
	// Nearer to it a percent more calls make the waits twice as long.
	least := s.m.AllCalls() / 0.92
	if kept := min(s.config.Current.QPS, most.QPS); s.config.KeepLimit && kept > least {
		// A limit that does is not lowered.
		least = kept
		with(least)
	}
	for qps, failed := most.QPS, 0; qps >= least && failed < 4; qps /= 1.2 {
		if failed++; with(Tidy(qps, most.QPS)) {
			failed = 0
		}
	}
	for around, step := best.QPS, -4; around > 0 && step <= 4; step++ {
		if qps := Tidy(around*math.Pow(1.04, float64(step)), most.QPS); qps >= least && qps != around {
			with(qps)
		}
	}
	return best
}

// fewestWorkers looks for workers that meet the objectives with the other settings, and that
// cost less than the best so far, which they then become.
func (s *Search) fewestWorkers(x predict.Settings, best *predict.Settings) bool {
	low, high := int(s.m.Offered)+1, s.maxWorkers
	if s.m.Bounded() {
		low = 1
	}
	if best.Workers > 0 {
		high = min(high, int(math.Ceil(best.Cost()-x.QPS/10))-1)
	}
	meet := func(workers int) bool {
		x.Workers = workers
		return s.meets(s.figures(x))
	}
	if high < low || !meet(high) {
		return false
	}
	x.Workers = low + sort.Search(high-low, func(more int) bool { return meet(low + more) })
	*best = x
	return true
}

// chooseBurst takes the smallest of the usual bursts that still meets the
// objectives: the API server has to bear it at once.
func (s *Search) chooseBurst(x predict.Settings) predict.Settings {
	if s.maxQPS == 0 {
		return x
	}
	now := s.config.Current.Burst
	bursts := []int{int(math.Ceil(x.QPS)), int(math.Ceil(1.5 * x.QPS)), now}
	slices.Sort(bursts)
	for _, burst := range bursts {
		if burst < 1 || burst >= x.Burst || s.config.KeepLimit && burst < now {
			continue // a limit that is kept keeps its burst
		}
		y := x
		if y.Burst = burst; s.meets(s.figures(y)) {
			return y
		}
	}
	return x
}

// Tidy rounds a QPS up to two digits, to what people write, within a limit.
func Tidy(qps, limit float64) float64 {
	// 87 / 10 is 8.7, and 87 × 0.1 is 8.700000000000001.
	scale := math.Pow(10, 1-math.Floor(math.Log10(qps)))
	return min(math.Ceil(qps*scale-1e-9)/scale, limit)
}
