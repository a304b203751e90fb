package search

import (
	"context"
	"math"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// cheapest are the fewest workers and calls, with the smallest burst, that meet
// the objectives; the most generous settings if none do.
func (s *Search) cheapest(ctx context.Context, most predict.Settings) (predict.Settings, error) {
	x, err := s.workersAndQPS(ctx, most)
	if x.Workers == 0 {
		x = most
	}
	if err != nil {
		return x, err
	}
	return s.chooseBurst(ctx, x)
}

// workersAndQPS finds the cheapest pair: for each QPS the fewest workers by
// bisection, since durations fall with both; first in steps of a fifth, from the
// most down, then around the best of these in steps of a twenty-fifth.
func (s *Search) workersAndQPS(ctx context.Context, most predict.Settings) (predict.Settings, error) {
	var best predict.Settings
	if !s.limited() {
		_, err := s.fewestWorkers(ctx, most, 0, &best)
		return best, err
	}
	// Nearer to it a percent more calls make the waits twice as long.
	floor := (s.m.AddRate*s.m.Calls + s.m.Background) / 0.92
	if kept := min(s.config.Current.QPS, most.QPS); s.config.KeepLimit && kept > floor {
		// A limit that does is not lowered.
		floor = kept
		if _, err := s.fewestWorkers(ctx, most, floor, &best); err != nil {
			return best, err
		}
	}
	for qps, failed := most.QPS, 0; qps >= floor && failed < 4; qps /= 1.2 {
		ok, err := s.fewestWorkers(ctx, most, Tidy(qps, most.QPS), &best)
		if err != nil {
			return best, err
		}
		if failed++; ok {
			failed = 0
		}
	}
	if best.Workers == 0 {
		return best, nil
	}
	for around, step := best.QPS, -4; step <= 4; step++ {
		qps := Tidy(around*math.Pow(1.04, float64(step)), most.QPS)
		if qps < floor || qps == around {
			continue
		}
		if _, err := s.fewestWorkers(ctx, most, qps, &best); err != nil {
			return best, err
		}
	}
	return best, nil
}

// fewestWorkers looks for workers that meet the objectives with that QPS, 0 for
// the most generous settings' own, and that cost less than the best so far,
// which they then become.
func (s *Search) fewestWorkers(ctx context.Context, most predict.Settings, qps float64, best *predict.Settings) (ok bool, err error) {
	x := most
	if qps > 0 {
		x.QPS, x.Burst = qps, s.generous(qps)
	}
	low, high := max(1, int(s.m.Offered)+1), s.maxWorkers
	if s.m.Bounded() {
		low = 1
	}
	if best.Workers > 0 {
		high = min(high, int(math.Ceil(best.Cost()-qps/10))-1)
	}
	meet := func(workers int) (bool, error) {
		x.Workers = workers
		f, err := s.figures(ctx, x)
		return s.meets(f), err
	}
	if high < low {
		return false, nil
	}
	if ok, err := meet(high); !ok || err != nil {
		return false, err
	}
	for low < high {
		middle := (low + high) / 2
		ok, err := meet(middle)
		if err != nil {
			return false, err
		}
		if ok {
			high = middle
		} else {
			low = middle + 1
		}
	}
	x.Workers = high
	*best = x
	return true, nil
}

// Tidy rounds a QPS up to two digits, to what people write, within a limit.
func Tidy(qps, limit float64) float64 {
	// 87 / 10 is 8.7, and 87 × 0.1 is 8.700000000000001.
	scale := math.Pow(10, 1-math.Floor(math.Log10(qps)))
	return min(math.Ceil(qps*scale-1e-9)/scale, limit)
}
