package search

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What short simulations chose is raised until a long one keeps the bound, and settings
// have to carry as much as the load may be.
func TestRecommendationsAreFirm(t *testing.T) {
	// Exponential work of 50 ms, at random, keeps two workers busy, or a few percent more or less.
	const work, rate = 0.05, 40
	m := &predict.Model{
		Observations: 5000, Dispersion: 1, ArrivalRate: rate, AddRate: rate, Offered: rate * work,
		Work: work, Busy: work, Service: work, Interval: 5000. / rate, Queues: predict.MeasuredQueues,
		Spec: &loadgen.Spec{}, Posterior: &infer.Posterior{},
	}
	for i := range 96 {
		system := model.System{Rate: rate * (0.97 + 0.06*float64(i)/95), Service: model.NewWork(randvar.Exponential(work))}
		m.Posterior.Members = append(m.Posterior.Members, infer.Member{System: system, Family: "arrivals at random"})
	}
	x := predict.Defaults()
	x.Workers, x.QPS, x.Burst = 3, 0, 0
	s := New(m, Config{Current: x, Seed: seed, Progress: func(string) {}})
	s.threshold = []Objective{{Figure: "wait", P: 0.99, Bound: 0.1}}
	firm, then, err := s.Firm(t.Context(), x)
	require.NoError(t, err)
	assert.Greater(t, firm.Workers, 3, "three make a hundredth wait for longer")
	assert.LessOrEqual(t, then.Wait.P99.Mean, 0.11)
	s.threshold[0].Bound, s.maxWorkers = 1e-9, 4
	firm, _, err = s.Firm(t.Context(), x)
	require.NoError(t, err)
	assert.Equal(t, x, firm, "of what nothing near keeps, nothing is raised")

	s.threshold = nil
	f := predict.Figures{Settings: x, Stable: true}
	assert.True(t, s.meets(f))
	s.sure = true
	assert.True(t, s.meets(f))
	f.Settings.Workers = 2
	assert.False(t, s.meets(f), "a few percent more are too much")
}
