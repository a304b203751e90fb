package tune

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A shape is a family of distributions of one form; only the mean is left open,
// which the sum of a histogram gives exactly.
type shape struct {
	family string
	cv     float64 // coefficient of variation
	points []float64
	at     []float64 // quantiles: probabilities of the points, which are of mean 1
}

// of gives the distribution with that mean, in seconds.
func (s shape) of(mean float64) randvar.Dist {
	if !(mean > 1e-12) {
		return randvar.Dist{}
	}
	var text string
	switch s.family {
	case "lognormal":
		sigma := math.Sqrt(math.Log1p(s.cv * s.cv))
		median := mean * math.Exp(-sigma*sigma/2)
		text = fmt.Sprintf("lognormal(%s, %s)", seconds(median), seconds(median*math.Exp(z99*sigma)))
	case "gamma":
		text = fmt.Sprintf("gamma(%s, %v)", seconds(mean), s.cv)
	case "quantiles":
		var b strings.Builder
		for i, x := range s.points {
			fmt.Fprintf(&b, ", %s=%s", strconv.FormatFloat(s.at[i], 'g', 12, 64), seconds(x*mean))
		}
		text = "quantiles(" + b.String()[2:] + ")"
	default:
		text = seconds(mean)
	}
	d, err := randvar.Parse(text)
	if err != nil {
		// The extreme of a family: what is left is its mean.
		d, _ = randvar.Parse(seconds(mean))
	}
	return d
}

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

func seconds(x float64) string {
	return strconv.FormatFloat(max(1, math.Round(math.Min(x, 1e8)*1e9)), 'f', -1, 64) + "ns"
}

// A serviceFit is what a histogram of durations tells of their distribution.
type serviceFit struct {
	shape
	distance  float64 // share of the durations that the shape puts into other buckets
	plausible []shape // shapes that the histogram tells hardly apart from it
}

// coefficients of variation that are tried.
var coefficients = func() []float64 {
	list := []float64{0.05}
	for x := 0.1; x < 12; x *= 1.12 {
		list = append(list, x)
	}
	return append(list, 1) // exactly exponential, as a gamma
}()

// fitService finds the family and the coefficient of variation that make the
// buckets most likely. The mean is given, so nothing is read from where in its
// bucket a duration lies.
func fitService(h scrape.Histogram, mean float64) serviceFit {
	type candidate struct {
		shape
		likelihood float64
	}
	constant := shape{family: "constant"}
	list := []candidate{{constant, likelihood(h, constant.of(mean))}}
	best := list[0]
	for _, family := range []string{"gamma", "lognormal"} {
		for _, cv := range coefficients {
			s := shape{family: family, cv: cv}
			c := candidate{s, likelihood(h, s.of(mean))}
			list = append(list, c)
			if c.likelihood > best.likelihood {
				best = c
			}
		}
	}
	fit := serviceFit{shape: best.shape, distance: distance(h, best.of(mean))}
	if fit.distance > 0.03 && h.Buckets() > 1 {
		if s, ok := pieces(h, mean); ok {
			return serviceFit{shape: s, distance: distance(h, s.of(mean))}
		}
	}
	for _, c := range list {
		if best.likelihood-c.likelihood < 3 {
			fit.plausible = append(fit.plausible, c.shape)
		}
	}
	return fit
}

// likelihood is the logarithm of the probability of the buckets' counts.
func likelihood(h scrape.Histogram, d randvar.Dist) float64 {
	sum, before := 0.0, 0.0
	for i, n := range h.Counts {
		below := 1.0
		if i < len(h.Bounds) {
			below = cumulative(d, h.Bounds[i])
		}
		if n > 0 {
			// A clock's tick beside a bound is no proof against a shape.
			sum += n * math.Log(max(below-before, 1e-6))
		}
		before = below
	}
	return sum
}

// distance is half the sum of the differences between shares.
func distance(h scrape.Histogram, d randvar.Dist) float64 {
	sum, before := 0.0, 0.0
	for i, n := range h.Counts {
		below := 1.0
		if i < len(h.Bounds) {
			below = cumulative(d, h.Bounds[i])
		}
		sum += math.Abs(n/h.Count() - (below - before))
		before = below
	}
	return sum / 2
}

// cumulative is the probability of a value up to x, by bisection of the
// quantile function.
func cumulative(d randvar.Dist, x float64) float64 {
	if d.Quantile(0) > x {
		return 0
	}
	low, high := 0.0, 1.0
	for range 24 {
		if p := (low + high) / 2; d.Quantile(p) <= x {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// parts is into how many stretches pieces cuts a bucket.
const parts = 4

// pieces is the histogram itself as a distribution: for what has two humps, as
// when most reconciles find nothing to do. Within a bucket the logarithm is
// spread evenly, then bent by one exponent for all buckets so that the mean
// comes out right.
func pieces(h scrape.Histogram, mean float64) (shape, bool) {
	curve := func(bend, end float64) (at, points []float64) {
		below := 0.0
		for i, n := range h.Counts {
			if n == 0 {
				continue
			}
			low, high := 0.0, end
			if i > 0 {
				low = h.Bounds[i-1]
			}
			if i < len(h.Bounds) {
				high = h.Bounds[i]
			}
			low = max(low, high/10)
			for k := range parts {
				u := float64(k) / parts
				x := low * math.Pow(high/low, math.Pow(u, bend))
				if k == 0 && len(at) > 0 {
					if x <= points[len(points)-1] {
						continue // the end of the bucket before
					}
					u = 1e-6 // a jump over empty buckets
				}
				at, points = append(at, below+n/h.Count()*u), append(points, x)
			}
			below += n / h.Count()
			at, points = append(at, below), append(points, high)
		}
		at[len(at)-1] = 1
		return at, points
	}
	average := func(at, points []float64) float64 {
		sum := 0.0
		for i := 1; i < len(at); i++ {
			sum += (at[i] - at[i-1]) * (points[i] + points[i-1]) / 2
		}
		return sum
	}
	for end := 10 * max(mean, lastBound(h)); end < 1e7; end *= 2 {
		low, high := 1e-3, 1e3 // of the exponent: the mean falls as it grows
		if average(curve(low, end)) < mean || average(curve(high, end)) > mean {
			if h.Counts[len(h.Counts)-1] == 0 {
				return shape{}, false
			}
			continue
		}
		for range 60 {
			if middle := math.Sqrt(low * high); average(curve(middle, end)) > mean {
				low = middle
			} else {
				high = middle
			}
		}
		at, points := curve(high, end)
		s := shape{family: "quantiles", at: at}
		squares := 0.0
		for i, x := range points {
			s.points = append(s.points, x/mean)
			if i > 0 {
				a, b := points[i-1], x
				squares += (at[i] - at[i-1]) * (a*a + a*b + b*b) / 3
			}
		}
		s.cv = math.Sqrt(max(0, squares/(mean*mean)-1))
		return s, true
	}
	return shape{}, false
}

func lastBound(h scrape.Histogram) float64 {
	if len(h.Bounds) == 0 {
		return 1
	}
	return h.Bounds[len(h.Bounds)-1]
}
