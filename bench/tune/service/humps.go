package service

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// humps are distributions that repeat a histogram of work, calls included: for
// what has two humps, as when most reconciles find nothing to do. How wide the
// humps are within their buckets, and whether the longer work is as far up in its
// buckets as the shorter in its own, is left open: the waits may tell.
func humps(h scrape.Histogram, mean float64) []Likely {
	// Which of the buckets' shares they repeat is as many figures that are left free.
	free := float64(h.Buckets()-2) / 2 * math.Log(h.Count())
	var list []Likely
	for _, width := range []float64{0.02, 0.5, 1} {
		for _, tilt := range []float64{-0.9, -0.75, -0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9} {
			if s, ok := pieces(h, mean, width, tilt); ok {
				list = append(list, Likely{Shape: s, Log: likelihood(h, s.Of(mean).Below, none) - max(0, free)})
			}
		}
	}
	for i := range list {
		list[i].Log += math.Log(priors["humps"] / float64(len(list)))
	}
	return list
}

// pieces is the histogram itself as a distribution. Within each bucket the
// logarithm is spread evenly over that share of it, at the place at which the
// mean comes out right: the same in all buckets but for the tilt, by which the
// last bucket's is further up than the first's.
func pieces(h scrape.Histogram, mean, width, tilt float64) (Shape, bool) {
	const parts = 4 // straight lines for each bucket
	if len(h.Bounds) == 0 {
		return Shape{}, false
	}
	ends := slices.Concat([]float64{0}, h.Bounds, []float64{10 * h.Bounds[len(h.Bounds)-1]})
	first, last := len(h.Counts), 0
	for i, n := range h.Counts {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	curve := func(middle float64) (at, points []float64) {
		below := 0.0
		for i, n := range h.Counts {
			if n == 0 {
				continue
			}
			high := ends[i+1]
			low := max(ends[i], high/10)
			place := middle + tilt*(float64(i-first)/float64(max(1, last-first))-0.5)
			from, to := min(max(0, place-width/2), 0.99), min(1, max(place+width/2, 0.01))
			for k := range parts + 1 {
				u := float64(k) / parts
				x := low * math.Pow(high/low, from+(to-from)*u)
				if len(at) > 0 {
					x = max(x, points[len(points)-1]*(1+1e-9))
				}
				if k == 0 && len(at) > 0 {
					u = 1e-6 // a jump over what is empty
				}
				at, points = append(at, below+n/h.Count()*u), append(points, x)
			}
			below += n / h.Count()
		}
		at[len(at)-1] = 1
		return at, points
	}
	reach := (width + math.Abs(tilt)) / 2
	low, high := -reach, 1+reach
	if average(curve(low)) > mean || average(curve(high)) < mean {
		return Shape{}, false
	}
	for range 60 {
		if middle := (low + high) / 2; average(curve(middle)) < mean {
			low = middle
		} else {
			high = middle
		}
	}
	at, points := curve(high)
	squares := 0.0
	for i, b := range points[1:] {
		a := points[i]
		squares += (at[i+1] - at[i]) * (a*a + a*b + b*b) / 3
	}
	s := straight("humps", at, points, mean, variation(mean, squares))
	s.Whole = true
	return s, true
}
