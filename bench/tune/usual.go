package tune

import (
	"context"
	"math"
)

// usual tells whether the measurement differs from simulations no more than these do
// from each other. Near a limit most measurements see no wait and a few see long
// ones, of which a handful of simulations and their standard deviation know nothing: then
// bursts would be found where there are none.
func (f *fit) usual(ctx context.Context, t trial, x outcome, progress func(string)) (outcome, bool, error) {
	const more = 5
	if x.length.Seconds() < 0.6*f.Interval {
		return x, false, nil // shorter ones differ more
	}
	for range more {
		progress("arrivals at random, how far they differ")
		t.seed++
		y, err := t.run(ctx)
		if err != nil {
			return x, false, err
		}
		x = x.with(y)
		measured := x.off(-1)
		for k := range x.results {
			if x.off(k) >= measured {
				x.score = min(x.score, surely)
				return x, true, nil
			}
		}
	}
	return x, false, nil
}

// off is how far one of the simulations, or the measurement at -1, is from the others: the
// mean square of the differences in units of their standard deviation.
func (x outcome) off(k int) float64 {
	sum := 0.0
	for _, g := range x.figures {
		value, others := g.measured, g.values
		if k >= 0 {
			value = g.values[k]
			others = append(append([]float64{}, g.values[:k]...), g.values[k+1:]...)
		}
		mean, deviation := moments(others)
		z := (value - mean) / math.Hypot(deviation, g.floor)
		sum += z * z
	}
	return sum / float64(len(x.figures))
}
