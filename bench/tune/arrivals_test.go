package tune

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// That all of so many objects come again every five minutes is found, if their number is told.
func TestResyncOfToldKeys(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "resync of 600", rate: 7, sweep: [2]float64{300, 600}, service: exponentially(0.04), mean: 0.04, workers: 5, keys: 600}
	d := s.run(*seed, 1800).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{Keys: s.keys, Seed: *seed}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("%s; %v", f.Bursts, f.Posterior.Families)
	assert.InEpsilon(t, 600, f.Likely().System.Arrivals.Size, 0.1)
	s.workers *= 2
	z := f.Current.Settings
	z.Workers = s.workers
	x, err := f.Predict(t.Context(), z, predict.Finest, *seed)
	require.NoError(t, err)
	assert.InEpsilon(t, s.truth(t, 0), x.Wait.P99.Mean, 0.1)
}

// Service times of which a few are very long make waits differ much from one measurement
// to the next. Batches of two are seen even so: with as much work workers idle far less often.
func TestBatchesOfLongWork(t *testing.T) {
	numbers(t)
	for n := range uint64(6) {
		usual := n%2 == 0
		s := system{rate: 1.2, service: lognormally(1.03, 2.25), mean: 1.03, workers: 2}
		if !usual {
			s.gap = func(r *rand.Rand) float64 { // half of the time none: batches of two on average
				return float64(r.IntN(2)) * r.ExpFloat64() * 2 / s.rate
			}
		}
		d := s.run(*seed+n/2, 1200).delta(t)
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
		require.NoError(t, f.explain(t.Context(), *seed+n/2, func(string) {}))
		t.Logf("at random %v: odd %.2g, %v", usual, f.Posterior.Odd, f.Posterior.Families)
		bursts := 1 - f.Posterior.Families["arrivals at random"] - f.Posterior.Families["few keys"]
		assert.Equal(t, usual, bursts < 0.5)
	}
}

// What hardly works and has no objective is left alone.
func TestQuiet(t *testing.T) {
	m := &predict.Model{Observations: 1000, Work: 0.1}
	now := predict.Figures{Stable: true, Load: 0.02}
	now.Wait.P99.Mean = 0.2
	assert.True(t, quiet(m, now, Options{}), "200 ms at 2% are no reason for more workers")
	assert.False(t, quiet(m, now, Options{Objectives: objectives(t, "p99 queue wait < 100ms")}))
	for name, change := range map[string]func(*predict.Model, *predict.Figures){
		"busy":     func(_ *predict.Model, f *predict.Figures) { f.Load = 0.5 },
		"felt":     func(_ *predict.Model, f *predict.Figures) { f.Wait.P99.Mean = 3 },
		"limited":  func(m *predict.Model, _ *predict.Figures) { m.Calls, m.Throttle = 2, 0.02 },
		"unstable": func(_ *predict.Model, f *predict.Figures) { f.Stable = false },
		"a plan":   func(m *predict.Model, _ *predict.Figures) { m.Observations = 0 },
	} {
		x, f := *m, now
		change(&x, &f)
		assert.False(t, quiet(&x, f, Options{}), name)
	}
}
