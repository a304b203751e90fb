package tune

import (
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of few keys no more than all wait, so that workers too few for what arrives make
// them wait for longer, but not without end, and may well be the cheapest that do.
func TestFewKeysSaturateWorkers(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "50 keys, saturated", rate: 60, service: lognormally(0.041, 0.95), mean: 0.041, workers: 3, keys: 50}
	y := s
	y.workers = 2
	a := advise(t, s, Options{Keys: s.keys, Objectives: objectives(t, "p99 queue wait < 1s"), WhatIf: []advice.Alternative{workersTo(2)}, Seed: *seed})
	f := a.WhatIf[0].Figures
	require.True(t, f.Stable)
	truth := y.truth(t, 0)
	assert.InEpsilon(t, truth, f.Wait.P99.Mean, 0.1)
	assert.Less(t, f.Wait.P99.High, 2*truth)
	assert.Equal(t, 2, a.Recommended.Workers)
	assert.Empty(t, a.Unstable)
}

// Keys that are told to be few explain workers that hardly ever idle: such a queue is
// not taken for overloaded, and the model can be compared with it.
func TestToldKeysExplainBusyWorkers(t *testing.T) {
	slow(t)
	s := system{name: "20 keys, busy", rate: 200, service: exponentially(0.03), mean: 0.03, workers: 4, keys: 20}
	a := advise(t, s, Options{Keys: s.keys, Seed: *seed})
	require.Greater(t, a.Model.Utilisation, 0.985)
	assert.Contains(t, a.Reproduction.Verdict, "good")
	assert.InEpsilon(t, 200, a.Model.RawRate, 0.02)
	assert.NotContains(t, strings.Join(a.Unidentified, "; "), "overloaded")
}

// Nothing but the waits for a key's own work tells how many keys there are: intervals hold
// what the fewest do that explain these, of which more coalesces where fewer workers wait.
func TestIntervalsHoldFewerKeys(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "300 keys", rate: 30, service: exponentially(0.05), mean: 0.05, workers: 3, keys: 300, failure: 0.2}
	d := s.run(*seed, 1500).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	z := f.Current.Settings
	z.Workers = 2
	x, err := f.Predict(t.Context(), z, predict.Finest, *seed)
	require.NoError(t, err)
	s.workers = 2
	truth, p99 := s.truth(t, 0), x.Wait.P99
	t.Logf("p99 %.3g [%.3g, %.3g], true %.3g; %s", p99.Mean, p99.Low, p99.High, truth, f.Bursts)
	assert.True(t, p99.Low <= truth && truth <= p99.High)
}

// A hundredth of the keys, which wait for their own work however many workers there are,
// is little of the waits' histogram but all of its 99th percentile: the intervals hold it,
// and where there are none it is not made up.
func TestRareWaitsForTheirOwnWork(t *testing.T) {
	numbers(t)
	slow(t)
	for _, keys := range []int{0, 500} {
		s := system{rate: 11, service: lognormally(0.889, 2.49), mean: 0.889, workers: 17, keys: keys, runtime: true}
		d := s.run(*seed, 1800).delta(t)
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
		require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
		x, err := f.Predict(t.Context(), f.Current.Settings, predict.Finest, *seed)
		require.NoError(t, err)
		p99, measured := x.Wait.P99, percentile(s.run(*seed+1, 20_000).wait, 0.99)
		t.Logf("%d keys: %v; p99 %.3g [%.3g, %.3g], true %.3g", keys, f.Posterior.Families, p99.Mean, p99.Low, p99.High, measured)
		assert.Equal(t, keys > 0, f.Posterior.Families["few keys"] > 0.5, "%d keys", keys)
		assert.True(t, p99.Low <= measured+0.1*s.mean && measured <= p99.High+0.1*s.mean, "%d keys", keys)
	}
}
