package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// A mixture is work of two kinds.
type mixture interface {
	above(x float64) float64
	shape() shape
}

// mixtures are those of a form and a mean that make a histogram likely: for each
// ratio of the two kinds' means the best share of the longer kind, and more ratios
// where these are likely. That two figures instead of one are left free is weighed
// by the Bayesian information criterion.
func mixtures(h scrape.Histogram, mean float64, calls callTimes, kind string, of func(share, ratio, mean float64) mixture) []likely {
	penalty := math.Log(h.Count()) / 2
	best := func(ratio float64) likely {
		at := func(share float64) float64 {
			y := of(math.Exp(share), math.Exp(ratio), mean)
			return likelihoodOf(h, func(x float64) float64 { return 1 - y.above(x) }, calls)
		}
		share, log := highest(at, math.Log(0.0005), math.Log(0.7))
		return likely{shape: of(math.Exp(share), math.Exp(ratio), 1).shape(), at: ratio, log: log - penalty, penalty: penalty}
	}
	low, high := math.Log(1.5), math.Log(1000)
	var list []likely
	step := math.Log(1.7)
	for ratio := math.Log(2); ratio < high; ratio += step {
		list = append(list, best(ratio))
	}
	for range 4 {
		step /= 3
		around := slices.MaxFunc(list, func(a, b likely) int { return cmp.Compare(a.log, b.log) }).at
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
