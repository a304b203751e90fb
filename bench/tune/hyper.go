package tune

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// hyper is the hyperexponential distribution, of work of two kinds: exponential
// with a short mean, or with that share a long one.
type hyper struct{ share, short, long float64 }

// hyperOf has that mean; ratio is that of the two means.
func hyperOf(share, ratio, mean float64) hyper {
	short := mean / (1 - share + share*ratio)
	return hyper{share, short, ratio * short}
}

func (y hyper) above(x float64) float64 {
	return (1-y.share)*math.Exp(-x/y.short) + y.share*math.Exp(-x/y.long)
}

// shape is made of straight lines between quantiles that lie close.
func (y hyper) shape() shape {
	s := shape{family: "quantiles"}
	for i := range 80 {
		left := math.Exp(-0.15 * float64(i))
		low, high := 0.0, 13*y.long
		for range 50 {
			if x := (low + high) / 2; y.above(x) > left {
				low = x
			} else {
				high = x
			}
		}
		s.at, s.points = append(s.at, 1-left), append(s.points, high)
	}
	s.points[0] = 0
	s.at, s.points = append(s.at, 1), append(s.points, s.points[len(s.points)-1]+2*y.long) // an exponential tail's mean beyond
	mean := 0.0
	for i := 1; i < len(s.at); i++ {
		mean += (s.at[i] - s.at[i-1]) * (s.points[i] + s.points[i-1]) / 2
	}
	for i := range s.points {
		s.points[i] /= mean
	}
	exact := (1-y.share)*y.short + y.share*y.long
	s.cv = math.Sqrt(max(0, 2*((1-y.share)*y.short*y.short+y.share*y.long*y.long)/(exact*exact)-1))
	return s
}

// hypers are the hyperexponential distributions of that mean that make a
// histogram likely: for each ratio of the two means, the best share, and more
// ratios where the best ones are.
func hypers(h scrape.Histogram, mean float64, calls []float64) []likely {
	type found struct{ ratio, share, log float64 } // logarithms
	best := func(ratio float64) found {
		at := func(share float64) float64 {
			y := hyperOf(math.Exp(share), math.Exp(ratio), mean)
			return likelihoodOf(h, func(x float64) float64 { return 1 - y.above(x) }, calls)
		}
		// Golden sections of the share's logarithm.
		const golden = 0.6180339887498949
		low, high := math.Log(0.0005), math.Log(0.7)
		a, b := high-golden*(high-low), low+golden*(high-low)
		atA, atB := at(a), at(b)
		for range 20 {
			if atA > atB {
				high, b, atB = b, a, atA
				a = high - golden*(high-low)
				atA = at(a)
			} else {
				low, a, atA = a, b, atB
				b = low + golden*(high-low)
				atB = at(b)
			}
		}
		return found{ratio, (low + high) / 2, max(atA, atB)}
	}
	var list []found
	top, step := 0, math.Log(1.7)
	for ratio := math.Log(2); ratio < math.Log(1000); ratio += step {
		list = append(list, best(ratio))
	}
	for range 4 {
		for i := range list {
			if list[i].log > list[top].log {
				top = i
			}
		}
		step /= 3
		for _, by := range []float64{-2, -1, 1, 2} {
			list = append(list, best(max(list[top].ratio+by*step, math.Log(1.5))))
		}
	}
	most := slices.MaxFunc(list, func(a, b found) int {
		if a.log < b.log {
			return -1
		}
		return 1
	}).log
	var all []likely
	for _, f := range list {
		if most-f.log < 4 {
			all = append(all, likely{hyperOf(math.Exp(f.share), math.Exp(f.ratio), 1).shape(), f.log})
		}
	}
	return all
}
