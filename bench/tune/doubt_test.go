package tune

import (
	"math"
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// offering is a model of exponential work of 50 ms, at random, that keeps so many workers
// busy, of which so many reconciles were measured.
func offering(load, observations float64) *Model {
	const work = 0.05
	m := &Model{
		Observations: observations, Dispersion: 1, ArrivalRate: load / work, AddRate: load / work, Offered: load,
		Work: work, Busy: work, Service: work, Interval: observations * work / load, queues: measuredQueues,
	}
	m.Spec = &loadgen.Spec{Name: "offering", Seed: 1, Resources: []loadgen.Resource{{
		Name: "objects", Kind: "metadata", Count: keysUnknown,
		Events: loadgen.Events{Pattern: "mix", Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Kind: "poisson", Rate: m.ArrivalRate}},
	}}}
	m.setService(shape{family: "gamma", cv: 1}, 1)
	return m
}

// Of one worker, whose waits are known by a formula, the interval is as wide as
// two thousand reconciles leave the load open; of twice as many it is narrower.
func TestDoubted(t *testing.T) {
	numbers(t)
	const load = 0.7
	m := offering(load, 2000)
	one := defaultSettings()
	one.Workers, one.QPS, one.Burst = 1, 0, 0
	half := func() float64 {
		f, err := m.predict(t.Context(), one, fine, *seed)
		require.NoError(t, err)
		f, err = m.doubted(t.Context(), f, *seed)
		require.NoError(t, err)
		x := f.Wait.P99
		assert.InEpsilon(t, x.High/x.Mean, x.Mean/x.Low, 0.3)
		return math.Log(x.High/x.Low) / 2
	}
	// The 99th percentile is ln(100 ρ)/(μ-λ), of which this is the logarithm's slope.
	slope := 1/math.Log(100*load) + load/(1-load)
	deviation := math.Hypot(slope, slope+1) / math.Sqrt(m.Observations)
	assert.InEpsilon(t, 1.96*deviation, half(), 0.2)
	m.Observations *= 100
	assert.Less(t, half(), 0.1)

	// Forms that are far apart are both within.
	wide, narrow := m.now(), m.now()
	wide.shape.cv, narrow.shape.cv = 2, 0.5
	for range drawn / 2 {
		m.samples = append(m.samples, wide, narrow)
	}
	assert.Greater(t, half(), 0.5)
	for i := range m.samples {
		m.samples[i].shape.cv = 1
	}
	assert.Less(t, half(), 0.2)

	// A worker that may have too much to do has no bound.
	m.samples, m.Observations = nil, 50
	f, err := m.predict(t.Context(), one, rough, *seed)
	require.NoError(t, err)
	f, err = m.doubted(t.Context(), f, *seed)
	require.NoError(t, err)
	assert.Equal(t, unbounded, f.Wait.P99.High)
	assert.LessOrEqual(t, f.Utilisation.High, 1.0)
}

// What simulations of the same model scatter does not set models apart.
func TestApart(t *testing.T) {
	assert.Zero(t, apart([][]float64{{1, 2}, {2, 1}, {1.4, 1.6}}))
	assert.InDelta(t, 1, apart([][]float64{{1, 1}, {2, 2}, {3, 3}}), 1e-9)
	assert.Zero(t, apart([][]float64{{1}, {2}}), "nothing tells how much of it is the simulation's")
	assert.Zero(t, apart([][]float64{{1, 2}, nil}))
}

// What short simulations chose is raised until a long one keeps the bound, and settings
// have to carry as much as the load may be.
func TestRecommendationsAreFirm(t *testing.T) {
	m := offering(2, 5000)
	x := defaultSettings()
	x.Workers, x.QPS, x.Burst = 3, 0, 0
	s := newSearch(m, x, Options{Seed: 1}, clientGo, func(string) {})
	s.threshold = []Objective{{Figure: "wait", P: 0.99, Bound: 0.1}}
	firm, then, err := s.firm(t.Context(), x)
	require.NoError(t, err)
	assert.Greater(t, firm.Workers, 3, "three make a hundredth wait for longer")
	assert.LessOrEqual(t, then.Wait.P99.Mean, 0.11)
	s.threshold[0].Bound, s.maxWorkers = 1e-9, 4
	firm, _, err = s.firm(t.Context(), x)
	require.NoError(t, err)
	assert.Equal(t, x, firm, "of what nothing near keeps, nothing is raised")

	s.threshold = nil
	f := Figures{Settings: x, Stable: true}
	assert.True(t, s.meets(f))
	s.sure = true
	assert.True(t, s.meets(f))
	f.Settings.Workers = 2
	assert.False(t, s.meets(f), "a few percent more are too much")
}

// Between explanations that are far apart nothing is true: predicted is what most do.
func TestMostExplanationsDecide(t *testing.T) {
	m := offering(0.7, 2000)
	one := defaultSettings()
	one.Workers, one.QPS, one.Burst = 1, 0, 0
	alone, err := m.predict(t.Context(), one, surer, *seed)
	require.NoError(t, err)
	many, few := m.now(), m.now()
	few.arrivals.Rate /= 10
	for range 6 {
		m.samples = append(m.samples, many)
	}
	m.samples = append(m.samples, few, few)
	f, err := m.predict(t.Context(), one, surer, *seed)
	require.NoError(t, err)
	assert.InEpsilon(t, alone.Wait.P99.Mean, f.Wait.P99.Mean, 0.15)
}
