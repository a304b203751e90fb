package tune

import "math"

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
