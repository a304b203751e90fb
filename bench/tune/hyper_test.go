package tune

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted is a histogram of n durations that follow a distribution exactly.
func counted(n float64, mean float64, above func(float64) float64) scrape.Histogram {
	h := scrape.Histogram{Bounds: workBounds, Sum: n * mean}
	before := 1.0
	for _, b := range h.Bounds {
		h.Counts = append(h.Counts, n*(before-above(b)))
		before = above(b)
	}
	h.Counts = append(h.Counts, n*before)
	return h
}

func TestHyperexponential(t *testing.T) {
	for _, y := range []hyper{hyperOf(0.1, 25, 0.068), hyperOf(0.01, 200, 0.02), hyperOf(0.4, 4, 3), hyperOf(0.005, 500, 0.1)} {
		s := y.shape()
		d := s.of(5)
		assert.InEpsilon(t, 5, d.Mean(), 1e-3)
		mean := (1-y.share)*y.short + y.share*y.long
		for _, x := range []float64{0.1, 0.5, 1, 3, 10, 30} {
			assert.InDelta(t, y.above(x*mean), 1-d.Below(5*x), 0.01)
		}
		h := counted(20_000, mean, y.above)
		fit := fitService(h, &Model{Busy: mean, Service: mean}, none, false)
		require.NotEmpty(t, fit.plausible)
		for _, c := range append(fit.plausible, fit.rather...) {
			assert.InEpsilon(t, s.cv, c.cv, 0.15, "%v", y)
		}
	}
}

func TestPairs(t *testing.T) {
	d := pairOf(0.1, 30, 1).shape().of(0.039)
	assert.InEpsilon(t, 0.039, d.Mean(), 1e-6)
	assert.InEpsilon(t, 0.01, d.Quantile(0.89), 1e-6)
	assert.InEpsilon(t, 0.3, d.Quantile(0.91), 1e-6)
}

// Beside calls more durations than enough are no more proof.
func TestEnoughDurations(t *testing.T) {
	y := pairOf(0.1, 30, 0.1)
	fit := func(times float64, calls callTimes) serviceFit {
		return fitService(counted(times*enough, 0.1, y.above), &Model{Busy: 0.1, Service: 0.1}, calls, calls.spread())
	}
	latencies := whatever([]float64{0.001, 0.003})
	once := fit(1, latencies)
	require.NotEmpty(t, once.plausible)
	assert.Equal(t, once, fit(100, latencies))
	assert.NotEqual(t, once, fit(0.01, latencies))
}

// The spread of the service is found beside waits for the client's limit, which
// the work durations hold, too.
func TestServiceBesideWaits(t *testing.T) {
	waits := make([]float64, 64)
	for i := range waits[40:] {
		waits[40+i] = 0.005 * float64(i)
	}
	const mean = 0.08
	for name, s := range map[string]shape{
		"constant": {family: "constant"}, "gamma": {family: "gamma", cv: 0.6}, "lognormal": {family: "lognormal", cv: 2},
		"Pareto": paretoOf(2.5), "pair": pairOf(0.1, 200, 1).shape(), "hyperexponential": hyperOf(0.1, 40, 1).shape(),
	} {
		h := scrape.Histogram{Bounds: workBounds}
		d := s.of(mean)
		for _, share := range shares(scrape.Histogram{Bounds: workBounds, Counts: make([]float64, len(workBounds)+1)}, d.Below, whatever(waits)) {
			h.Counts = append(h.Counts, 20_000*share)
		}
		h.Sum = 20_000 * (mean + average(waits))
		fit := fitService(h, &Model{Busy: mean, Service: mean}, whatever(waits), true)
		assert.InDelta(t, s.cv, fit.cv, 0.05+0.15*s.cv, "%s, for which %s was found", name, fit.family)
	}
}

func TestFlows(t *testing.T) {
	r := loadgen.Resource{Count: 10, Events: loadgen.Events{Arrivals: loadgen.Arrivals{Rate: 50}}}
	for _, cv := range []float64{0.3, 2} {
		a := flow{gap: shape{family: "gamma", cv: cv}}.arrivals(&r)(*seed)
		var gaps []float64
		last := 0.0
		for range 100_000 {
			d, ok := a.Next()
			require.True(t, ok)
			assert.Less(t, d.Key, uint32(10))
			gaps = append(gaps, d.At.Seconds()-last)
			last = d.At.Seconds()
		}
		mean, deviation := moments(gaps)
		assert.InEpsilon(t, 0.02, mean, 0.03)
		assert.InEpsilon(t, cv, deviation/mean, 0.05)
	}
	a := flow{share: 0.4, size: 30.5}.arrivals(&r)(*seed)
	last, together := time.Duration(0), 0
	for range 100_000 {
		d, _ := a.Next()
		assert.GreaterOrEqual(t, d.At, last)
		if d.At == last {
			together++
		}
		last = d.At
	}
	assert.InEpsilon(t, 2000, last.Seconds(), 0.03)
	assert.InEpsilon(t, 0.4*29.5/30.5*100_000, together, 0.03)
}
