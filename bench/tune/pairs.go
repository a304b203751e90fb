package tune

import (
	"math"

	"github.com/informerbench/informerbench/bench/tune/scrape"
)

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

func (y pair) shape() shape {
	const jump = 1e-9
	mean := (1-y.share)*y.short + y.share*y.long
	s := shape{
		family: "quantiles", at: []float64{0, 1 - y.share - jump, 1 - y.share, 1}, points: []float64{y.short, y.short * (1 + jump), y.long, y.long * (1 + jump)},
		cv: math.Sqrt(max(0, ((1-y.share)*y.short*y.short+y.share*y.long*y.long)/(mean*mean)-1)),
	}
	for i := range s.points {
		s.points[i] /= mean
	}
	return s
}

// pairs are those of that mean that make a histogram likely, over a grid that
// becomes finer around the best.
func pairs(h scrape.Histogram, mean float64, calls []float64) []likely {
	type found struct{ ratio, share, log float64 } // logarithms
	var list []found
	top := -1
	try := func(ratio, share float64) {
		y := pairOf(math.Exp(min(share, math.Log(0.7))), math.Exp(max(ratio, math.Log(1.3))), mean)
		list = append(list, found{ratio, share, likelihoodOf(h, func(x float64) float64 { return 1 - y.above(x) }, calls)})
		if top < 0 || list[len(list)-1].log > list[top].log {
			top = len(list) - 1
		}
	}
	step := math.Log(1.35)
	for ratio := math.Log(1.5); ratio < math.Log(1000); ratio += step {
		for share := math.Log(0.003); share < math.Log(0.7); share += step {
			try(ratio, share)
		}
	}
	for range 5 {
		step /= 2
		around := list[top]
		for i := -2.0; i <= 2; i++ {
			for k := -2.0; k <= 2; k++ {
				try(around.ratio+i*step, around.share+k*step)
			}
		}
	}
	var all []likely
	for _, f := range list {
		if list[top].log-f.log < 4 {
			all = append(all, likely{pairOf(math.Exp(min(f.share, math.Log(0.7))), math.Exp(max(f.ratio, math.Log(1.3))), 1).shape(), f.log})
		}
	}
	return all
}
