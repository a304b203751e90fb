package model

import (
	"testing"

	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A resync adds each key once, and no two of them are coalesced; of batches of any keys some are.
func TestSweepsHoldEachKeyOnce(t *testing.T) {
	s := System{Rate: 10, Keys: 30, Arrivals: Arrivals{Kind: Batches, Share: 1, Size: 30, Even: true}, Service: NewWork(randvar.Constant(0.01))}
	r, err := s.Run(t.Context(), usual(1), Plan{Length: 3000, Seed: 1})
	require.NoError(t, err)
	assert.InDelta(t, 30_000, r.Arrivals, 30)
	assert.Equal(t, r.Arrivals, r.Adds)
	s.Arrivals.Even = false
	r, err = s.Run(t.Context(), usual(1), Plan{Length: 3000, Seed: 1})
	require.NoError(t, err)
	assert.Less(t, float64(r.Adds), 0.8*float64(r.Arrivals))
}

// Load is of what binds, and few keys can't be more than workers can do: those that wait are
// not added again.
func TestLoad(t *testing.T) {
	s := System{Rate: 30, Service: NewWork(randvar.Exponential(0.05)), Calls: []float64{0, 1}, Latency: 0.01, Failure: 0.25, Background: 4}
	c := usual(4)
	c.BucketRate = 1000
	assert.InDelta(t, 0.6, s.Load(c), 1e-9, "of 4 workers")
	c.QPS = 50
	assert.InDelta(t, 0.88, s.Load(c), 1e-9, "of the client's limit")
	c.BucketRate = 8
	assert.InDelta(t, 1.25, s.Load(c), 1e-9, "of the bucket")

	s = System{Rate: 300, Keys: 50, Service: NewWork(randvar.Exponential(0.05))}
	assert.Less(t, s.Load(usual(4)), 1.0)
	s.Keys = 0
	assert.InDelta(t, 3.75, s.Load(usual(4)), 1e-9)
}

// The zero Work takes no time.
func TestNoWork(t *testing.T) {
	var zero Work
	assert.Zero(t, zero.Mean())
	assert.Zero(t, zero.sample(random(1)))
}
