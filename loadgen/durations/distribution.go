package durations

import (
	"encoding/json"
	"time"
)

// A Distribution sums up a histogram in a result file. Durations are in
// nanoseconds; those below 100 ns, which clocks can't tell from nothing, are 0.
type Distribution struct {
	Count  int64         `json:"count"`
	Mean   time.Duration `json:"meanNanoseconds"`
	Max    time.Duration `json:"maxNanoseconds"`
	Points []Point       `json:"points,omitempty"` // rising quantiles, as far as the count carries them; the last is 1
}

// A Point is one quantile: 0.99 for p99.
type Point struct {
	Quantile float64       `json:"q"`
	Value    time.Duration `json:"ns"`
}

// quantiles of a distribution: dense enough for a curve, and the ones that
// people ask for.
var quantiles = []float64{
	0, 0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98,
	0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999, 0.999999,
}

// Distribution sums the histogram up; one that is empty has no points.
func (h Histogram) Distribution() Distribution {
	d := Distribution{Count: h.Count(), Mean: h.Mean(), Max: resolved(h.Max())}
	for _, q := range quantiles {
		if float64(d.Count)*(1-q) < 1 {
			break // fewer than one value lies above
		}
		d.Points = append(d.Points, Point{q, resolved(h.Quantile(q))})
	}
	if d.Count > 0 {
		d.Points = append(d.Points, Point{1, d.Max})
	}
	return d
}

// MarshalJSON writes the summary.
func (h Histogram) MarshalJSON() ([]byte, error) { return json.Marshal(h.Distribution()) }

// resolved is 0 for what is too short to be told from it.
func resolved(d time.Duration) time.Duration {
	if d < 100 {
		return 0
	}
	return d
}

// At is the duration at the last point up to quantile q, 0 without points.
func (d Distribution) At(q float64) time.Duration {
	value := time.Duration(0)
	for _, p := range d.Points {
		if p.Quantile > q {
			break
		}
		value = p.Value
	}
	return value
}
