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
