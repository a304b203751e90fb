package tune

import "math"

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
