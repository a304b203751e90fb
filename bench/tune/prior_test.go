package tune

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However finely a family is tried, it is as probable.
func TestPriorsAreOfFamilies(t *testing.T) {
	family := func(step float64) (list []likely) {
		for at := -1.0; at <= 1; at += step {
			list = append(list, likely{shape: shape{family: "gamma", cv: math.Exp(at)}, at: at, log: -50 * at * at})
		}
		return weighted(list, "gamma", -1, 1)
	}
	mass := func(list []likely) (sum float64) {
		for _, s := range list {
			sum += math.Exp(s.prior)
		}
		return sum
	}
	assert.InEpsilon(t, priors["gamma"], mass(family(0.1)), 1e-6)
	assert.InEpsilon(t, priors["gamma"], mass(family(0.011)), 1e-6)

	all := 0.0
	for _, s := range family(0.011) {
		all += math.Exp(s.prior + s.log)
	}
	one := weighted([]likely{{shape: shape{family: "gamma", cv: 1}, log: -1, penalty: 3}}, "exponential", 0, 0)
	list := divided(append(family(0.011), one...), 5, false)
	require.Len(t, list, 5)
	sum := 0.0
	for _, s := range list[:4] {
		sum += math.Exp(s.log)
		assert.InDelta(t, 0, s.at, 0.2, "they stand for the likely ones")
	}
	assert.InEpsilon(t, all, sum, 1e-6)
	assert.InDelta(t, math.Log(priors["exponential"])-1, list[4].log, 1e-9)

	// A trial brings the likelihood, but not the penalty.
	again := divided(one, 5, true)
	require.Len(t, again, 1)
	assert.InDelta(t, math.Log(priors["exponential"])-3, again[0].log, 1e-9)
}

// Where buckets tell little beside the waits for a limit, what is simple is
// believed, and what is not where they do tell.
func TestSimpleFormsBesideWaits(t *testing.T) {
	believed := func(above func(float64) float64) map[string]float64 {
		waits := make([]float64, 64)
		for i := range waits[40:] {
			waits[40+i] = 0.01 * float64(i)
		}
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
		fit := fitService(h, &Model{Busy: 0.05, Service: 0.05}, whatever(waits), true)
		sum, by := 0.0, map[string]float64{}
		for _, c := range fit.plausible {
			by[c.kind] += math.Exp(c.log + c.prior - fit.plausible[0].log)
			sum += math.Exp(c.log + c.prior - fit.plausible[0].log)
		}
		for k := range by {
			by[k] /= sum
		}
		return by
	}
	assert.Greater(t, believed(func(x float64) float64 { return math.Exp(-x / 0.05) })["exponential"], 0.5)
	assert.Greater(t, believed(pairOf(0.03, 80, 0.05).above)["pair"], 0.5)
	assert.Less(t, believed(hyperOf(0.05, 40, 0.05).above)["exponential"], 0.01)
}
