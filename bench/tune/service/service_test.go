package service

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var bounds = []float64{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10}

// counted is a histogram of n durations that follow a distribution exactly.
func counted(n float64, mean float64, above func(float64) float64) scrape.Histogram {
	h := scrape.Histogram{Bounds: bounds, Sum: n * mean}
	before := 1.0
	for _, b := range h.Bounds {
		h.Counts = append(h.Counts, n*(before-above(b)))
		before = above(b)
	}
	h.Counts = append(h.Counts, n*before)
	return h
}

// beside is a histogram of n durations of a shape of that mean, with calls.
func beside(n float64, s Shape, mean float64, calls []float64) scrape.Histogram {
	h := scrape.Histogram{Bounds: bounds, Sum: n * mean}
	for _, c := range calls {
		h.Sum += n * c / float64(len(calls))
	}
	for _, share := range shares(scrape.Histogram{Bounds: bounds, Counts: make([]float64, len(bounds)+1)}, s.Of(mean).Below, calls) {
		h.Counts = append(h.Counts, n*share)
	}
	return h
}

// drawn is a histogram of durations.
func drawn(n int, draw func(*rand.Rand) float64) scrape.Histogram {
	h := scrape.Histogram{Bounds: bounds, Counts: make([]float64, len(bounds)+1)}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		x := draw(r)
		at, _ := slices.BinarySearch(bounds, x)
		h.Counts[at]++
		h.Sum += x
	}
	return h
}

// believed are the probabilities of the kinds of a posterior, and the mean of its
// coefficients of variation.
func believed(list []Likely) (kinds map[string]float64, cv float64) {
	top, sum := math.Inf(-1), 0.0
	for _, x := range list {
		top = max(top, x.Log)
	}
	for _, x := range list {
		sum += math.Exp(x.Log - top)
	}
	kinds = map[string]float64{}
	for _, x := range list {
		kinds[x.Family] += math.Exp(x.Log-top) / sum
		cv += x.CV * math.Exp(x.Log-top) / sum
	}
	return kinds, cv
}

// waiting are a reconcile's waits for a limit, of which most wait not at all.
func waiting(step float64) []float64 {
	waits := make([]float64, 64)
	for i := range waits[40:] {
		waits[40+i] = step * float64(i)
	}
	return waits
}

// A shape has the mean that it is given, however far its spread goes.
func TestShapes(t *testing.T) {
	for _, s := range []Shape{{Family: "constant"}, {Family: "gamma", CV: 0.05}, {Family: "gamma", CV: 12}, {Family: "lognormal", CV: 0.05}, {Family: "lognormal", CV: 11}, paretoOf(1.5), paretoOf(4)} {
		for _, mean := range []float64{1e-6, 0.02, 100} {
			assert.InEpsilon(t, mean, s.Of(mean).Mean(), 0.02, "%v of %v", s, mean)
		}
		zero := s.Of(0)
		assert.True(t, zero.IsZero())
	}
	assert.Equal(t, 5.0, paretoOf(1.5).CV, "a measurement's is not infinite")
	assert.InEpsilon(t, 1/math.Sqrt(8), paretoOf(4).CV, 1e-9)
}

// Most reconciles that find nothing to do are two humps, which no family has.
func TestTwoHumps(t *testing.T) {
	h := scrape.Histogram{Bounds: bounds, Counts: []float64{0, 0, 0, 0, 500, 0, 0, 300, 100, 0, 0}, Sum: 60}
	list := Posterior(h, h.Mean(), h.Mean(), none, false)
	require.NotEmpty(t, list)
	for _, x := range list {
		assert.True(t, x.Whole)
		assert.False(t, math.IsNaN(x.CV))
		d := x.Of(h.Mean())
		assert.InEpsilon(t, h.Mean(), d.Mean(), 0.01)
		assert.InDelta(t, 500.0/900, d.Below(1e-3), 0.01)
		assert.Less(t, distance(h, d, none), 0.01)
	}
}

// Humps repeat the buckets with the mean that was measured, which here nearly
// tells the spread as well.
func TestHumps(t *testing.T) {
	h := drawn(30_000, func(r *rand.Rand) float64 {
		if r.Float64() < 0.05 {
			return 1.5
		}
		return 0.02
	})
	all := humps(h, h.Mean())
	require.NotEmpty(t, all)
	low, high := all[0].CV, all[0].CV
	for _, s := range all {
		x := s.Of(h.Mean())
		assert.InEpsilon(t, h.Mean(), x.Mean(), 0.01)
		assert.Less(t, distance(h, x, none), 0.01)
		low, high = min(low, s.CV), max(high, s.CV)
	}
	assert.Less(t, low, 3.4, "the true one is 3.43")
	assert.InDelta(t, 3.9, high, 0.5)
	_, err := randvar.Parse(all[0].Of(h.Mean()).String())
	assert.NoError(t, err)
}

// Mixtures of two exponential distributions are among the shapes as they are by formula, and
// found from their histogram.
func TestHyperexponential(t *testing.T) {
	for _, y := range []mixture{mixed("hyperexponential", 0.1, 25, 0.068), mixed("hyperexponential", 0.01, 200, 0.02), mixed("hyperexponential", 0.4, 4, 3), mixed("hyperexponential", 0.005, 500, 0.1)} {
		s := y.shape()
		d := s.Of(5)
		assert.InEpsilon(t, 5, d.Mean(), 1e-3)
		mean := (1-y.share)*y.short + y.share*y.long
		for _, x := range []float64{0.1, 0.5, 1, 3, 10, 30} {
			assert.InDelta(t, y.above(x*mean), 1-d.Below(5*x), 0.01)
		}
		_, cv := believed(Posterior(counted(20_000, mean, y.above), mean, mean, none, false))
		assert.InEpsilon(t, s.CV, cv, 0.15, "%v", y)
	}
}

func TestPairs(t *testing.T) {
	d := mixed("pair", 0.1, 30, 1).shape().Of(0.039)
	assert.InEpsilon(t, 0.039, d.Mean(), 1e-6)
	assert.InEpsilon(t, 0.01, d.Quantile(0.89), 1e-6)
	assert.InEpsilon(t, 0.3, d.Quantile(0.91), 1e-6)
}

// Beside calls more durations than enough are no more proof.
func TestEnoughDurations(t *testing.T) {
	y := mixed("pair", 0.1, 30, 0.1)
	latencies := []float64{0.001, 0.003}
	of := func(times float64) []Likely {
		return Posterior(Enough(counted(times*enough, 0.1, y.above), false), 0.1, 0.1, latencies, true)
	}
	once := of(1)
	require.NotEmpty(t, once)
	assert.Equal(t, once, of(100))
	assert.NotEqual(t, once, of(0.01))
}

// The spread of the service is found beside waits for the client's limit, which
// the work durations hold, too.
func TestServiceBesideWaits(t *testing.T) {
	const mean = 0.08
	for name, s := range map[string]Shape{
		"constant": {Family: "constant"}, "gamma": {Family: "gamma", CV: 0.6}, "lognormal": {Family: "lognormal", CV: 2},
		"Pareto": paretoOf(2.5), "pair": mixed("pair", 0.1, 200, 1).shape(), "hyperexponential": mixed("hyperexponential", 0.1, 40, 1).shape(),
	} {
		h := beside(20_000, s, mean, waiting(0.005))
		kinds, cv := believed(Posterior(h, mean, mean, waiting(0.005), true))
		assert.InDelta(t, s.CV, cv, 0.05+0.15*s.CV, "%s, for which %v was found", name, kinds)
	}
}

// The calls' latency is part of the work that was measured but not of the
// service's spread.
func TestServiceBesideCalls(t *testing.T) {
	three := []float64{0, 0, 0, 1}
	h := drawn(12_000, func(r *rand.Rand) float64 {
		return 0.02*r.ExpFloat64() + 0.01*(r.ExpFloat64()+r.ExpFloat64()+r.ExpFloat64())
	})
	_, cv := believed(Posterior(h, h.Mean()-0.03, h.Mean(), Latencies(three, 0.01), false))
	assert.InDelta(t, 1, cv, 0.15)
}

// Latencies are of reconciles that make as many calls as they do, with the mean that was
// measured.
func TestLatencies(t *testing.T) {
	for _, of := range [][]float64{{0, 1}, {0, 0, 1}, {0.5, 0, 0.5}, {0.9, 0, 0, 0, 0.1}} {
		mean, without := 0.0, 0
		for n, p := range of {
			mean += float64(n) * p * 0.02
		}
		list := Latencies(of, 0.02)
		sum := 0.0
		for _, x := range list {
			assert.GreaterOrEqual(t, x, 0.0)
			sum += x / float64(len(list))
			if x == 0 {
				without++
			}
		}
		assert.InEpsilon(t, mean, sum, 1e-9, "%v", of)
		assert.InDelta(t, of[0], float64(without)/float64(len(list)), 0.02, "%v make none", of)
	}
	assert.Equal(t, []float64{0}, Latencies([]float64{1}, 0.02))
	assert.Equal(t, []float64{0}, Latencies([]float64{0, 1}, 0))
}

// Where nothing else is beside it, shares are those of the distribution, and sum to one.
func TestSharesAndDistance(t *testing.T) {
	d := randvar.Exponential(0.05)
	h := counted(1000, 0.05, func(x float64) float64 { return 1 - d.Below(x) })
	sum := 0.0
	for i, share := range shares(h, d.Below, none) {
		assert.InDelta(t, h.Counts[i]/1000, share, 1e-9)
		sum += share
	}
	assert.InDelta(t, 1, sum, 1e-9)
	assert.InDelta(t, 0, distance(h, d, none), 1e-9)
	assert.InDelta(t, 1, distance(h, randvar.Constant(1e3), none), 0.01)
	near, far := likelihood(h, d.Below, none), likelihood(h, randvar.Exponential(0.06).Below, none)
	assert.Greater(t, near, far+1)
	assert.False(t, math.IsInf(likelihood(h, randvar.Constant(1e3).Below, none), -1), "a tick beside a bound is no proof")
}

// However finely a family is tried, it is as probable, also once it is thinned.
func TestPriorsAreOfFamilies(t *testing.T) {
	family := func(step float64, width float64) (list []Likely) {
		for at := -1.0; at <= 1; at += step {
			list = append(list, Likely{Shape: Shape{Family: "gamma", CV: math.Exp(at)}, at: at, Log: -width * at * at})
		}
		return weighted(list, -1, 1)
	}
	mass := func(list []Likely) (sum float64) {
		for _, s := range list {
			sum += math.Exp(s.Log)
		}
		return sum
	}
	assert.InEpsilon(t, priors["gamma"], mass(family(0.1, 0)), 1e-6)
	assert.InEpsilon(t, priors["gamma"], mass(family(0.011, 0)), 1e-6)

	one := weighted([]Likely{{Shape: Shape{Family: "exponential", CV: 1}, Log: -1}}, 0, 1)
	assert.InDelta(t, math.Log(priors["exponential"])-1, one[0].Log, 1e-9)
	all := family(0.001, 50)
	list := thinned(slices.Clone(all))
	assert.LessOrEqual(t, len(list), atMost)
	assert.InEpsilon(t, mass(all), mass(list), 0.02)
	for _, s := range list {
		assert.InDelta(t, 0, s.at, math.Sqrt(least/50)+0.01, "they stand for the likely ones")
	}
	_, cv := believed(list)
	_, whole := believed(all)
	assert.InEpsilon(t, whole, cv, 0.01)
}

// Where buckets tell little beside the waits for a limit, what is simple is
// believed, and what is not where they do tell.
func TestSimpleFormsBesideWaits(t *testing.T) {
	of := func(above func(float64) float64) map[string]float64 {
		waits := waiting(0.01)
		h := counted(7000, 0, func(x float64) (sum float64) {
			for _, w := range waits {
				if x <= w {
					sum += 1. / 64
				} else {
					sum += above(x-w) / 64
				}
			}
			return sum
		})
		kinds, _ := believed(Posterior(h, 0.05, 0.05, waits, true))
		return kinds
	}
	assert.Greater(t, of(func(x float64) float64 { return math.Exp(-x / 0.05) })["exponential"], 0.5)
	assert.Greater(t, of(mixed("pair", 0.03, 80, 0.05).above)["pair"], 0.5)
	assert.Less(t, of(mixed("hyperexponential", 0.05, 40, 0.05).above)["exponential"], 0.01)
}
