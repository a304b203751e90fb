package service

import (
	"cmp"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"math"
	"slices"
)

// A mixture is work of two kinds.
type mixture interface {
	above(x float64) float64
	shape() Shape
}

// mixtures are those of a form and a mean that make a histogram likely: for each
// ratio of the two kinds' means the best share of the longer kind, and more ratios
// where these are likely. That two figures instead of one are left free is weighed
// by the Bayesian information criterion.
func mixtures(h scrape.Histogram, mean float64, calls Calls, kind string, of func(share, ratio, mean float64) mixture) []Likely {
	penalty := math.Log(h.Count()) / 2
	best := func(ratio float64) Likely {
		at := func(share float64) float64 {
			y := of(math.Exp(share), math.Exp(ratio), mean)
			return likelihood(h, func(x float64) float64 { return 1 - y.above(x) }, calls)
		}
		share, log := highest(at, math.Log(0.0005), math.Log(0.7))
		return Likely{Shape: of(math.Exp(share), math.Exp(ratio), 1).shape(), at: ratio, Log: log - penalty}
	}
	low, high := math.Log(1.5), math.Log(1000)
	var list []Likely
	step := math.Log(1.7)
	for ratio := math.Log(2); ratio < high; ratio += step {
		list = append(list, best(ratio))
	}
	for range 4 {
		step /= 3
		around := slices.MaxFunc(list, func(a, b Likely) int { return cmp.Compare(a.Log, b.Log) }).at
		for _, by := range []float64{-2, -1, 1, 2} {
			list = append(list, best(max(around+by*step, low)))
		}
	}
	return weighted(list, kind, low, high)
}

// highest finds where a function is highest: among a dozen values, and between
// the best one's neighbours by golden sections.
func highest(of func(float64) float64, low, high float64) (at, most float64) {
	const steps, golden = 12, 0.6180339887498949
	step := (high - low) / steps
	at, most = low, math.Inf(-1)
	for i := range steps + 1 {
		x := low + float64(i)*step
		if y := of(x); y > most {
			at, most = x, y
		}
	}
	low, high = max(low, at-step), min(high, at+step)
	a, b := high-golden*(high-low), low+golden*(high-low)
	atA, atB := of(a), of(b)
	for range 16 {
		if atA > most {
			at, most = a, atA
		}
		if atB > most {
			at, most = b, atB
		}
		if atA > atB {
			high, b, atB = b, a, atA
			a = high - golden*(high-low)
			atA = of(a)
		} else {
			low, a, atA = a, b, atB
			b = low + golden*(high-low)
			atB = of(b)
		}
	}
	return at, most
}

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

// Shape is made of straight lines between quantiles that lie close.
func (y hyper) shape() Shape {
	s := Shape{Family: "quantiles"}
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
	s.CV = math.Sqrt(max(0, 2*((1-y.share)*y.short*y.short+y.share*y.long*y.long)/(exact*exact)-1))
	return s
}

// A pair is work of two durations, the longer one with that share.
type pair struct{ share, short, long float64 }

// pairOf has that mean; ratio is that of the two.
func pairOf(share, ratio, mean float64) pair { return pair(hyperOf(share, ratio, mean)) }

func (y pair) above(x float64) float64 {
	switch {
	case x < y.short:
		return 1
	case x < y.long:
		return y.share
	}
	return 0
}

func (y pair) shape() Shape {
	const jump = 1e-9
	mean := (1-y.share)*y.short + y.share*y.long
	s := Shape{
		Family: "quantiles", at: []float64{0, 1 - y.share - jump, 1 - y.share, 1}, points: []float64{y.short, y.short * (1 + jump), y.long, y.long * (1 + jump)},
		CV: math.Sqrt(max(0, ((1-y.share)*y.short*y.short+y.share*y.long*y.long)/(mean*mean)-1)),
	}
	for i := range s.points {
		s.points[i] /= mean
	}
	return s
}
