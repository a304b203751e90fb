package statistic

import (
	"cmp"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Alpha is the share of reports that may hold a false verdict.
const Alpha = 0.05

// MinSamples are needed for an interval and a verdict.
const MinSamples = 6

// UTest is the p-value that benchstat prints, whose sum may come out a bit
// above 1.
func UTest(a, b []float64) float64 {
	return min(1, benchmath.AssumeNothing.Compare(sample(a), sample(b)).P)
}

// Median gives the median and interval that benchstat prints.
func Median(values []float64, confidence float64) (center, low, high float64) {
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	return s.Center, s.Lo, s.Hi
}

// Center is the median alone, 0 of none.
func Center(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	center, _, _ := Median(values, 0.95)
	return center
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// Holm gives for each p-value the smallest family-wise error at which it would
// be significant.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	floor := 0.0
	for rank, i := range order {
		floor = max(floor, min(1, ps[i]*float64(len(ps)-rank)))
		adjusted[i] = floor
	}
	return adjusted
}

// RoundsToTell is the fewest rounds after which the U-test of one comparison
// can stay significant when all are corrected for: two samples of n can't have
// a p-value below 2/C(2n, n), and two tests are made.
func RoundsToTell(comparisons int) int {
	p, n := 1.0, 1
	for p*float64(2*comparisons) >= Alpha || n < MinSamples {
		n++
		p *= float64(n) / float64(4*n-2) // C(2n,n) = C(2n-2,n-1)·(4n-2)/n
	}
	return n
}
