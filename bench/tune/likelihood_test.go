package tune

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/stretchr/testify/assert"
)

// Two figures that always lie together say no more than one; the density of two
// that don't is known.
func TestNormal(t *testing.T) {
	const log = -(0.5*0.5 + 1.0) / 2
	assert.InDelta(t, log-math.Log(2), normal([][]float64{{1}, {0, 4}}, []float64{0.5, 2}), 1e-12)
	// (1, 0.5; 0.5, 1): determinant 3/4, inverse (4, -2; -2, 4)/3
	assert.InDelta(t, -(4*1-2*2*1*2+4*4)/3.0/2-math.Log(0.75)/2, normal([][]float64{{1}, {0.5, 1}}, []float64{1, 2}), 1e-12)
}

// The model that was measured outweighs those beside it.
func TestWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	try := func(mean float64) outcome {
		x := outcome{drift: 1, shorter: 1, figures: []figure{{measured: 1, floor: 0.01}, {measured: 2, floor: 0.01}}}
		for range trials {
			v := mean + 0.1*r.NormFloat64()
			x.figures[0].values = append(x.figures[0].values, v)
			x.figures[1].values = append(x.figures[1].values, 2*v+0.01*r.NormFloat64())
		}
		return x
	}
	logs := logLikelihoods([]outcome{try(0.5), try(1), try(1.5)})
	assert.Greater(t, logs[1], logs[0]+2)
	assert.Greater(t, logs[1], logs[2]+2)
}

// Predictions are over the candidates by their probability, in their middle by
// ratios, and the results of those with the same arrivals count as of one.
func TestCandidates(t *testing.T) {
	at := func(rate float64, cv float64) candidate {
		return candidate{arrivals: loadgen.Arrivals{Kind: "poisson", Rate: rate}, shape: shape{family: "gamma", cv: cv}}
	}
	f := &fit{Model: &Model{Service: 0.01, Busy: 0.01, Spec: &loadgen.Spec{Resources: make([]loadgen.Resource, 1)}}}
	x := outcome{drift: 1, shorter: 1, figures: []figure{{measured: 1, values: make([]float64, trials), floor: 1}}}
	all := []candidate{at(10, 1), at(10, 2), at(30, 1), at(40, 1)}
	for i, log := range []float64{0, 0, math.Log(2), -50} {
		all[i].log = log
	}
	f.posterior(all, []outcome{x, x, x, x})
	assert.Equal(t, 30.0, f.Spec.Resources[0].Events.Arrivals.Rate)
	var rates []float64
	for _, c := range f.samples {
		rates = append(rates, c.arrivals.Rate)
	}
	assert.Equal(t, []float64{10, 10, 10, 10, 30, 30, 30, 30}, rates)
	assert.Len(t, f.groups(make([]sim.Result, 16)), 2)
	assert.Equal(t, 10.0, f.alone(1).Spec.Resources[0].Events.Arrivals.Rate)
	assert.Equal(t, 30.0, f.Spec.Resources[0].Events.Arrivals.Rate, "of a copy")
}

func TestWholeCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range []float64{0.3, 1, 1.5, 7.9} {
		sum, d := 0.0, callers{}.of(x)
		for range 20_000 {
			v := math.Round(d.Sample(r))
			assert.LessOrEqual(t, math.Abs(v-x), 1.0)
			sum += v / 20_000
		}
		assert.InEpsilon(t, x, sum, 0.03)
	}
	assert.True(t, callers{}.of(0).IsZero())
}

// The calls' latency is part of the work that was measured but not of the
// service's spread.
func TestServiceBesideCalls(t *testing.T) {
	s := system{rate: 20, service: exponentially(0.02), mean: 0.02, workers: 9, calls: 3, latency: 0.01, qps: 1e6, tokens: 1e6}
	d := s.run(*seed, 600).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	assert.InDelta(t, 1, f.shape.cv, 0.1)
	assert.InDelta(t, math.Sqrt(0.02*0.02+3*0.01*0.01)/0.05, f.ServiceCV, 0.05)
}

// Humps repeat the buckets with the mean that was measured, which here nearly
// tells the spread as well.
func TestHumps(t *testing.T) {
	d := system{rate: 50, service: bimodally(0.02, 1.5, 0.05), mean: 0.094, workers: 9}.run(*seed, 600).delta(t)
	h := d.Queues["q"].Work
	all := humps(h, h.Mean())
	low, high := all[0].cv, all[0].cv
	for _, s := range all {
		x := s.of(h.Mean())
		assert.InEpsilon(t, h.Mean(), x.Mean(), 0.01)
		assert.Less(t, distance(h, x, none), 0.01)
		low, high = min(low, s.cv), max(high, s.cv)
	}
	assert.Less(t, low, 3.4, "the true one is 3.43")
	assert.InDelta(t, 3.9, high, 0.5)
	_, err := randvar.Parse(all[0].of(h.Mean()).String())
	assert.NoError(t, err)
}
