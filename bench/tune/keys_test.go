package tune

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rate of keys that change unlike each other is the one with which as many are
// added as were.
func TestRateOfUnlikeKeys(t *testing.T) {
	s := system{name: "hot keys", rate: 30, service: exponentially(0.1), mean: 0.1, workers: 6, keys: 200, unlike: 1}
	d := s.run(1, 3000).delta(t)
	q := d.Queues["q"]
	f := newFit(d, q, clientGo.current(s.given(), q), Options{Keys: s.keys, Seed: 1}, false)
	assert.InEpsilon(t, 30, f.rateOfUnlike(200, 1), 0.03)
	assert.Less(t, f.rateOfUnlike(200, 0.1), 0.97*30, "alike, fewer are added to keys that wait")
	assert.Zero(t, f.rateOfUnlike(200, 5), "one key alone is not added as often")
}

// Keys that are told bound the queue, also as many of them as are taken where none is told.
func TestToldKeysBoundTheQueue(t *testing.T) {
	s := system{rate: 60, service: exponentially(0.05), mean: 0.05, workers: 3}
	d := s.run(1, 100).delta(t)
	q := d.Queues["q"]
	for keys, bounded := range map[int]bool{0: false, 19_999: true, keysUnknown: true, 30_000: true, mostFilled + 1: false} {
		f := newFit(d, q, clientGo.current(s.given(), q), Options{Keys: keys, Seed: 1}, false)
		assert.Equal(t, bounded, f.bounded(), keys)
	}
}

// Of few keys no more than all wait, so that workers too few for what arrives make
// them wait for longer, but not without end, and may well be the cheapest that do.
func TestFewKeysSaturateWorkers(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "50 keys, saturated", rate: 60, service: lognormally(0.041, 0.95), mean: 0.041, workers: 3, keys: 50}
	y := s
	y.workers = 2
	a := advise(t, s, Options{Keys: s.keys, Objectives: objectives(t, "p99 queue wait < 1s"), WhatIf: []Alternative{workersTo(2)}, Seed: *seed})
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
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Seed: *seed}, false)
	_, err := f.fitBursts(t.Context(), *seed, func(string) {})
	require.NoError(t, err)
	z := f.current.Settings
	z.Workers = 2
	x, err := f.predict(t.Context(), z, fine, *seed)
	require.NoError(t, err)
	x, err = f.doubted(t.Context(), x, *seed)
	require.NoError(t, err)
	s.workers = 2
	truth, p99 := s.truth(t, 0), x.Wait.P99
	t.Logf("p99 %.3g [%.3g, %.3g], true %.3g; %s", p99.Mean, p99.Low, p99.High, truth, f.Bursts)
	assert.True(t, p99.Low <= truth && truth <= p99.High)
}
