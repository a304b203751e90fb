package tune

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/scrape"
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
			assert.InDelta(t, y.above(x*mean), 1-cumulative(d, 5*x), 0.01)
		}
		h := counted(20_000, mean, y.above)
		fit := fitService(h, &Model{Busy: mean, Service: mean})
		require.NotEmpty(t, fit.plausible)
		for _, c := range append(fit.plausible, fit.rather...) {
			assert.InEpsilon(t, s.cv, c.cv, 0.15, "%v", y)
		}
	}
}

func TestMixtures(t *testing.T) {
	d := mixture{alike: true, share: 0.1, ratio: 30}.shape().of(0.039)
	assert.InEpsilon(t, 0.039, d.Mean(), 1e-6)
	assert.InEpsilon(t, 0.01, d.Quantile(0.89), 1e-6)
	assert.InEpsilon(t, 0.3, d.Quantile(0.91), 1e-6)
}
