package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The shares are those of the histogram's own bars, to the last digit, on and beside
// each power of two, where its counts widen.
func TestBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d Distribution
	for range 20_000 {
		d.record(time.Duration(1) << r.IntN(52) >> r.IntN(3) * time.Duration(1+r.IntN(3)))
		d.record(time.Duration(r.ExpFloat64() * 1e8))
	}
	bounds := []time.Duration{-1, 0, 1}
	for power := 1; power < 60; power++ {
		at := time.Duration(1) << power
		bounds = append(bounds, at-1, at, at+1, at+at/2)
	}
	var want []float64
	for _, bound := range bounds {
		below := int64(0)
		for _, bar := range d.hist.Distribution() {
			if bar.From <= int64(bound) {
				below += bar.Count
			}
		}
		want = append(want, float64(below)/float64(d.Count()))
	}
	assert.Equal(t, want, d.Below(bounds...))
	assert.Equal(t, 1.0, d.Below(longest)[0])
	assert.Equal(t, []float64{0, 0}, Distribution{}.Below(1, 2))
}
