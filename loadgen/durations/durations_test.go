package durations

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shares are those of the histogram's own bars, to the last digit, on and beside
// each power of two, where its counts widen.
func TestBelow(t *testing.T) {
	for name, h := range map[string]Histogram{"fine": {}, "coarse": New(100, time.Hour, 2)} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 20_000 {
				h.Record(time.Duration(1) << r.IntN(52) >> r.IntN(3) * time.Duration(1+r.IntN(3)))
				h.Record(time.Duration(r.ExpFloat64() * 1e8))
			}
			bounds := []time.Duration{-1, 0, 1}
			for power := 1; power < 60; power++ {
				at := time.Duration(1) << power
				bounds = append(bounds, at-1, at, at+1, at+at/2)
			}
			var want []float64
			for _, bound := range bounds {
				below := int64(0)
				for _, bar := range h.counts.Distribution() {
					if bar.From <= int64(bound) {
						below += bar.Count
					}
				}
				want = append(want, float64(below)/float64(h.Count()))
			}
			assert.Equal(t, want, h.Below(bounds...))
			assert.Equal(t, 1.0, h.Below(longest)[0])
		})
	}
	assert.Equal(t, []float64{0, 0}, Histogram{}.Below(1, 2))
}

func TestBelowCountsLikeBuckets(t *testing.T) {
	var h Histogram
	for i := range 100 {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	assert.InDeltaSlice(t, []float64{0.01, 0.11, 1, 1},
		h.Below(0, 10500*time.Microsecond, 99500*time.Microsecond, time.Hour), 1e-9)
}

func TestDistribution(t *testing.T) {
	text := func(h Histogram) string {
		b, err := json.Marshal(h)
		require.NoError(t, err)
		return string(b)
	}
	var h, more Histogram
	assert.JSONEq(t, `{"count": 0, "meanNanoseconds": 0, "maxNanoseconds": 0}`, text(h))
	h.Record(-1)
	h.Record(99)
	more.RecordMany(2000, 2)
	h.Merge(more)
	assert.JSONEq(t, `{"count": 4, "meanNanoseconds": 1024, "maxNanoseconds": 2000, "points": [
		{"q": 0, "ns": 0}, {"q": 0.01, "ns": 0}, {"q": 0.05, "ns": 0}, {"q": 0.1, "ns": 0}, {"q": 0.2, "ns": 0}, {"q": 0.25, "ns": 0}, {"q": 0.3, "ns": 0},
		{"q": 0.4, "ns": 0}, {"q": 0.5, "ns": 0}, {"q": 0.6, "ns": 0}, {"q": 0.7, "ns": 2000}, {"q": 0.75, "ns": 2000}, {"q": 1, "ns": 2000}]}`, text(h))
	assert.Equal(t, 2000*time.Nanosecond, h.Distribution().At(0.99), "the last that four carry")
	h.Reset()
	assert.Equal(t, Distribution{}, h.Distribution())
}
