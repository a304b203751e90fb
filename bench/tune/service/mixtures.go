package service

import (
	"math"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// mixtures are those of a family and a mean that make a histogram likely: for each
// ratio of the two kinds' means the best share of the longer kind, and more ratios
// where these are likely. That two figures instead of one are left free is weighed
// by the Bayesian information criterion.
func mixtures(h scrape.Histogram, mean float64, calls []float64, family string) []Likely {
	penalty := math.Log(h.Count()) / 2
	of := func(ratio float64) Likely {
		share, log := highest(func(share float64) float64 {
			y := mixed(family, math.Exp(share), math.Exp(ratio), mean)
			return likelihood(h, func(x float64) float64 { return 1 - y.above(x) }, calls)
		}, math.Log(0.0005), math.Log(0.7))
		return Likely{Shape: mixed(family, math.Exp(share), math.Exp(ratio), 1).shape(), at: ratio, Log: log - penalty}
	}
	low, high := math.Log(1.5), math.Log(1000)
	var list []Likely
	step := math.Log(1.7)
	for ratio := math.Log(2); ratio < high; ratio += step {
		list = append(list, of(ratio))
	}
	for range 4 {
		step /= 3
		around := best(list).at
		for _, by := range []float64{-2, -1, 1, 2} {
			list = append(list, of(max(around+by*step, low)))
		}
	}
	return weighted(list, low, high)
}

// highest finds where a function is highest: among a dozen values, and between
// the best one's neighbours by golden sections.
func highest(of func(float64) float64, low, high float64) (at, most float64) {
	const steps, golden = 12, 0.6180339887498949
	most = math.Inf(-1)
	try := func(x float64) float64 {
		y := of(x)
		if y > most {
			at, most = x, y
		}
		return y
	}
	step := (high - low) / steps
	for i := range steps + 1 {
		try(low + float64(i)*step)
	}
	low, high = max(low, at-step), min(high, at+step)
	a, b := high-golden*(high-low), low+golden*(high-low)
	atA, atB := try(a), try(b)
	for range 15 {
		if atA > atB {
			high, b, atB = b, a, atA
			a = high - golden*(high-low)
			atA = try(a)
		} else {
			low, a, atA = a, b, atB
			b = low + golden*(high-low)
			atB = try(b)
		}
	}
	return at, most
}

// A mixture is work of two kinds, the longer one with that share: of two durations (the family
// pair), or exponential with two means (hyperexponential).
type mixture struct {
	family             string
	share, short, long float64
}

// mixed has that mean; ratio is that of the two kinds' means.
func mixed(family string, share, ratio, mean float64) mixture {
	short := mean / (1 - share + share*ratio)
	return mixture{family, share, short, ratio * short}
}

func (y mixture) above(x float64) float64 {
	switch {
	case y.family == "hyperexponential":
		return (1-y.share)*math.Exp(-x/y.short) + y.share*math.Exp(-x/y.long)
	case x < y.short:
		return 1
	case x < y.long:
		return y.share
	}
	return 0
}

// shape is made of straight lines between quantiles that lie close.
func (y mixture) shape() Shape {
	mean := (1-y.share)*y.short + y.share*y.long
	squares := (1-y.share)*y.short*y.short + y.share*y.long*y.long
	if y.family == "pair" {
		const jump = 1e-9
		at := []float64{0, 1 - y.share - jump, 1 - y.share, 1}
		return straight(y.family, at, []float64{y.short, y.short * (1 + jump), y.long, y.long * (1 + jump)}, mean, variation(mean, squares))
	}
	at, points := []float64{0}, []float64{0}
	for i := 1; i < 80; i++ {
		left := math.Exp(-0.15 * float64(i))
		low, high := 0.0, 13*y.long
		for range 50 {
			if x := (low + high) / 2; y.above(x) > left {
				low = x
			} else {
				high = x
			}
		}
		at, points = append(at, 1-left), append(points, high)
	}
	at, points = append(at, 1), append(points, points[len(points)-1]+2*y.long) // an exponential tail's mean beyond
	return straight(y.family, at, points, average(at, points), variation(mean, 2*squares))
}
