package scrape

import (
	"errors"
	"math"
	"slices"
)

// A Histogram counts durations, in seconds, by buckets.
type Histogram struct {
	Bounds []float64 `json:"bounds"` // upper bounds, rising, inclusive; above the last one there is one bucket more
	Counts []float64 `json:"counts"` // in each bucket, not accumulated; len(Bounds)+1, or none if nothing was recorded
	Sum    float64   `json:"sum"`    // of all durations
}

// Count is the number of durations.
func (h Histogram) Count() float64 {
	n := 0.0
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Mean is the mean duration, NaN if there is none. It is exact, whatever the
// buckets are.
func (h Histogram) Mean() float64 { return h.Sum / h.Count() }

// Buckets is how many buckets hold something.
func (h Histogram) Buckets() int {
	n := 0
	for _, c := range h.Counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// Quantile gives the bucket that holds the p-quantile: it lies above low and at
// or below high, which is +Inf in the last bucket.
func (h Histogram) Quantile(p float64) (low, high float64) {
	left := p * h.Count()
	for i, c := range h.Counts {
		left -= c
		if left <= 0 && c > 0 {
			return h.bucket(i)
		}
	}
	return math.NaN(), math.NaN()
}

// Longest is about how long durations are but for one in a hundred. Within the last bucket that
// holds these they are taken to lie evenly around their mean, which follows from the sum, and
// within those before it at the geometric mean of the bounds.
func (h Histogram) Longest() float64 {
	last, above := len(h.Counts)-1, 0.0
	for ; last > 0 && above+h.Counts[last] <= 0.01*h.Count(); last-- {
		above += h.Counts[last]
	}
	rest := h.Sum
	for i, n := range h.Counts[:last] {
		low, high := h.bucket(i)
		rest -= n * math.Sqrt(low*high)
	}
	low, high := h.bucket(last)
	return min(max(2*rest/(h.Counts[last]+above)-low, low), high)
}

func (h Histogram) bucket(i int) (low, high float64) {
	high = math.Inf(1)
	if i > 0 {
		low = h.Bounds[i-1]
	}
	if i < len(h.Bounds) {
		high = h.Bounds[i]
	}
	return low, high
}

// Precision is the largest ratio of two neighbouring bounds around what was
// recorded: a quantile read from the buckets alone may be wrong by as much.
func (h Histogram) Precision() float64 {
	worst := 1.0
	for i, c := range h.Counts {
		if low, high := h.bucket(i); c > 0 && low > 0 && !math.IsInf(high, 1) {
			worst = max(worst, high/low)
		}
	}
	return worst
}

// plus adds the buckets of two histograms, by the bounds that both can tell.
func (h Histogram) plus(o Histogram) Histogram {
	switch {
	case len(h.Counts) == 0:
		return o
	case len(o.Counts) == 0:
		return h
	}
	sum, o := aligned(h, o)
	for i, c := range o.Counts {
		sum.Counts[i] += c
	}
	sum.Sum += o.Sum
	return sum
}

// minus is what was recorded since an earlier state of the same histogram; nothing is
// known of one that is gone.
func (h Histogram) minus(earlier Histogram) (Histogram, error) {
	if len(h.Counts) == 0 || len(earlier.Counts) == 0 {
		return h, nil
	}
	if len(h.Bounds) == 0 != (len(earlier.Bounds) == 0) {
		return Histogram{}, errors.New("has other buckets at the end than at the begin")
	}
	since, earlier := aligned(h, earlier)
	for i, c := range earlier.Counts {
		since.Counts[i] -= c
	}
	if since.Sum -= earlier.Sum; since.Sum < 0 || slices.Min(since.Counts) < 0 {
		return Histogram{}, errors.New("fell between begin and end")
	}
	return since, nil
}

// aligned copies two histograms with the same bounds: all of both but those that lie within a
// bucket of the other that holds something. Native histograms list no empty buckets.
func aligned(a, b Histogram) (Histogram, Histogram) {
	bounds := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Bounds, b.Bounds))))
	bounds = slices.DeleteFunc(bounds, func(x float64) bool { return a.within(x) || b.within(x) })
	return a.coarser(bounds), b.coarser(bounds)
}

// within reports whether a bound lies inside a bucket that holds something.
func (h Histogram) within(x float64) bool {
	i, found := slices.BinarySearch(h.Bounds, x)
	return !found && h.Counts[i] > 0
}

// coarser merges the buckets between the given bounds.
func (h Histogram) coarser(bounds []float64) Histogram {
	to := Histogram{Bounds: bounds, Counts: make([]float64, len(bounds)+1), Sum: h.Sum}
	for i, c := range h.Counts {
		_, high := h.bucket(i)
		at, _ := slices.BinarySearch(bounds, high)
		to.Counts[at] += c
	}
	return to
}
