package statistic

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The exact U-test sums up to a little more than 1 for samples that interleave.
func TestUTestIsAProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 2000 {
		a, b := make([]float64, 2+rng.IntN(12)), make([]float64, 2+rng.IntN(12))
		for _, x := range [][]float64{a, b} {
			for i := range x {
				x[i] = rng.Float64()
			}
		}
		p := UTest(a, b)
		if !assert.True(t, p >= 0 && p <= 1, "%v of %v and %v", p, a, b) {
			return
		}
	}
}

// So many rounds are enough for samples that have nothing in common, and fewer are not.
func TestRoundsToTell(t *testing.T) {
	apart := func(n int) float64 {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(n+i)
		}
		return 2 * UTest(a, b)
	}
	for _, comparisons := range []int{1, 10, 45, 90, 1000} {
		n := RoundsToTell(comparisons)
		assert.Less(t, float64(comparisons)*apart(n), Alpha)
		if n > MinSamples {
			assert.GreaterOrEqual(t, float64(comparisons)*apart(n-1), Alpha)
		}
	}
}
