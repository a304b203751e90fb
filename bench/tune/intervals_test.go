package tune

import (
	"math"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How wide an interval is follows from how much was measured: of one worker the 99th
// percentile is ln(100 ρ)/(μ-λ), of which this is the logarithm's slope by either rate.
func TestIntervalsAreAsWideAsTheDataLeaveThem(t *testing.T) {
	numbers(t)
	const load = 0.7
	slope := 1/math.Log(100*load) + load/(1-load)
	half := map[float64]float64{}
	for _, reconciles := range []float64{2000, 50_000} {
		s := system{rate: 20 * load, service: exponentially(0.05), mean: 0.05, workers: 1}
		d := s.run(*seed, reconciles/s.rate).delta(t)
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
		require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
		x, err := f.Predict(t.Context(), f.Current.Settings, predict.Finest, *seed)
		require.NoError(t, err)
		p99 := x.Wait.P99
		half[reconciles] = math.Log(p99.High/p99.Low) / 2
		deviation := math.Hypot(slope, slope+1) / math.Sqrt(reconciles)
		t.Logf("%v reconciles: p99 %.3g [%.3g, %.3g], half %.3g, by the formula %.3g; %v", reconciles, p99.Mean, p99.Low, p99.High, half[reconciles], 1.96*deviation, f.Posterior.Families)
		truth := math.Log(100*load) * 0.05 / (1 - load)
		assert.True(t, p99.Low < truth && truth < p99.High, "the interval holds the truth, %.3g", truth)
	}
	// The work's form is open, too, and simulations scatter.
	assert.InEpsilon(t, 1.96*math.Hypot(slope, slope+1)/math.Sqrt(2000), half[2000], 0.7)
	assert.Less(t, half[50_000], 0.5*half[2000])
}
