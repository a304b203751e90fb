package tune

import (
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

// Of few keys no more than all wait, so that workers too few for what arrives make
// them wait for longer, but not without end, and may well be the cheapest that do.
func TestFewKeysSaturateWorkers(t *testing.T) {
	numbers(t)
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
