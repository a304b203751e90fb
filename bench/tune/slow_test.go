package tune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wavy are gaps of arrivals whose rate goes up and down as a sine. Of one run at a time.
func wavy(rate, depth, period float64) func(*rand.Rand) float64 {
	now := 0.0
	return func(r *rand.Rand) float64 {
		from := now
		for {
			now += r.ExpFloat64() / (rate * (1 + depth))
			if r.Float64()*(1+depth) < 1+depth*math.Sin(2*math.Pi*now/period) {
				return now - from
			}
		}
	}
}

// Of a load that is higher for seconds or minutes the waits tell how high, if the workers
// keep up with it, but not for how long: with fewer of them keys may wait for as long as
// it lasts. The interval holds that, and ends where all of it comes at once.
func TestSlowLoads(t *testing.T) {
	if *known == 1 {
		t.Skip("takes minutes: run with -known 2 or more")
	}
	numbers(t)
	for _, make := range []func() system{
		func() system { return system{name: "5/15", rate: 20, workers: 6, burst: bursting(5, 15)} },
		func() system { return system{name: "5/15 fixed", rate: 20, workers: 6, burst: regularly(5, 15)} },
		func() system { return system{name: "60/180", rate: 20, workers: 6, burst: bursting(60, 180)} },
		func() system { return system{name: "sine 600", rate: 40, workers: 4, gap: wavy(40, 0.6, 600)} },
		func() system { return system{name: "levels 120", rate: 40, workers: 4, gap: inTurn(60, 20, 120)} },
		func() system { return system{name: "5/15, 4 workers", rate: 20, workers: 4, burst: bursting(5, 15)} },
		func() system { return system{name: "5/15, 3 workers", rate: 20, workers: 3, burst: bursting(5, 15)} },
		func() system { return system{name: "sine 300", rate: 30, workers: 3, gap: wavy(30, 0.5, 300)} },
		func() system { return system{name: "20/20", rate: 30, workers: 5, burst: regularly(20, 20)} },
	} {
		s := make()
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.service, s.mean = exponentially(0.05), 0.05
			d := s.run(*seed, 1800).delta(t)
			f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{Seed: *seed, Queues: predict.MeasuredQueues}, false)
			require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
			t.Logf("%v; %s", f.Posterior.Families, f.Bursts)
			for _, workers := range []int{s.workers - 2, s.workers - 1, s.workers, s.workers + 1} {
				if float64(workers) < 1.3*s.rate*s.mean {
					continue
				}
				y := make()
				y.service, y.mean, y.workers = s.service, s.mean, workers
				truth := percentile(y.run(*seed+100, 10_000).wait, 0.99)
				z := f.Current.Settings
				z.Workers = workers
				x, err := f.Predict(t.Context(), z, predict.Finest, *seed)
				require.NoError(t, err)
				p := x.Wait.P99
				t.Logf("%d workers: p99 %.3g [%.3g, %.3g], true %.3g", workers, p.Mean, p.Low, p.High, truth)
				assert.True(t, p.Low < 1.05*truth+0.005 && truth < 1.05*p.High+0.005, "the interval holds the truth: %d workers", workers)
				assert.Less(t, p.High, 1800.0, "and ends within what was measured: %d workers", workers)
			}
		})
	}
}
