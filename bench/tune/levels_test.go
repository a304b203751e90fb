package tune

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTurn are gaps of arrivals at random at two rates, each for exponential times of
// that mean. Of one run at a time.
func inTurn(high, low, length float64) func(*rand.Rand) float64 {
	rate, left := low, 0.0
	return func(r *rand.Rand) float64 {
		gap := 0.0
		for {
			next := r.ExpFloat64() / rate
			if next < left {
				left -= next
				return gap + next
			}
			gap += left
			if left, rate = length*r.ExpFloat64(), high+low-rate; left == 0 {
				left = length
			}
		}
	}
}

// A load that is higher at some times than at others is not one of few keys, for which
// no number of workers would help.
func TestTwoRatesInTurn(t *testing.T) {
	numbers(t)
	slow(t)
	for length, measured := range map[float64]float64{10: 900, 60: 1800} {
		s := system{name: "two rates", rate: 40, gap: inTurn(60, 20, length), service: exponentially(0.05), mean: 0.05, workers: 4}
		d := s.run(*seed, measured).delta(t)
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
		require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
		assert.NotContains(t, f.Bursts, "few keys")
		for _, workers := range []int{4, 5, 6} {
			z := f.Current.Settings
			z.Workers = workers
			x, err := f.Predict(t.Context(), z, predict.Finest, *seed)
			require.NoError(t, err)
			y := s
			y.workers = workers
			truth, p99 := percentile(y.run(*seed+100, 20_000).wait, 0.99), x.Wait.P99
			t.Logf("%v s, %d workers: p99 %.3g [%.3g, %.3g], true %.3g; %s", length, workers, p99.Mean, p99.Low, p99.High, truth, f.Bursts)
			assert.True(t, p99.Low < 1.05*truth && truth < 1.05*p99.High, "the interval holds the truth")
		}
	}
}
