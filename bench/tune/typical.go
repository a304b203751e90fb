package tune

import (
	"context"
	"math"
	"slices"
)

// typical reports whether the measurement differs from simulations no more than these do
// from each other. Near a limit most measurements see no wait and a few see long
// ones, of which a handful of simulations and their standard deviation know nothing: then
// bursts would be found where there are none.
func (f *fit) typical(ctx context.Context, t trial, x outcome, progress func(string)) (outcome, bool, error) {
	const enough, more = 5, 12 // times the trials
	if x.length.Seconds() < 0.6*f.Interval {
		return x, false, nil // shorter ones differ more
	}
	for n := range more {
		progress("arrivals at random, how far they differ")
		t.seed++
		y, err := t.run(ctx)
		if err != nil {
			return x, false, err
		}
		x = x.with(y)
		alike := x
		if !f.throttled {
			alike = x.alike(f.Utilisation)
		}
		oddest := 0.0
		for k := range x.results {
			oddest = max(oddest, alike.off(k))
		}
		switch measured := alike.off(-1); {
		case oddest >= measured:
			x.score = min(x.score, surely)
			return x, true, nil
		case n+1 >= enough && 2*oddest < measured:
			return x, false, nil
		}
	}
	return x, false, nil
}

// explains tells whether the model that was simulated is taken without a look at others.
// Behind a limit waits that most simulations don't see are no oddity.
func (f *fit) explains(x outcome) bool { return x.score <= surely && (f.throttled || !x.odd()) }

// odd tells whether a figure is so far from the simulations' that these are no explanation,
// however near the others are: of waits that few keys see the score makes little.
func (x outcome) odd() bool {
	for _, g := range x.figures {
		mean, deviation := moments(g.values)
		if math.Abs(g.measured-mean) > 3*math.Hypot(deviation*x.shorter, g.floor) {
			return true
		}
	}
	return false
}

// alike takes out of the figures what goes with how much work there was, which simulations
// differ in and is known of the measurement: a queue whose workers are as busy and
// hardly ever idle is odd, though one simulation in many is that for want of workers.
// Behind a limit work is no such cause, as it holds waits.
func (x outcome) alike(utilisation float64) outcome {
	x.figures = slices.Clone(x.figures)
	mean := 0.0
	for _, r := range x.results {
		mean += r.Utilisation / float64(len(x.results))
	}
	for i, g := range x.figures {
		average, _ := moments(g.values)
		both, square := 0.0, 0.0
		for k, r := range x.results {
			both += (r.Utilisation - mean) * (g.values[k] - average)
			square += (r.Utilisation - mean) * (r.Utilisation - mean)
		}
		values := slices.Clone(g.values)
		for k, r := range x.results {
			values[k] -= both / max(square, 1e-9) * (r.Utilisation - utilisation)
		}
		x.figures[i].values = values
	}
	return x
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
