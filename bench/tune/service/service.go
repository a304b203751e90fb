// Package service finds out how long reconciles work from the histogram of their durations.
// Its steps, in order:
//
//  1. Families of distributions of the measured mean (constant, exponential, gamma, lognormal,
//     Pareto's, mixtures of two kinds of work, and the histogram itself with what is open
//     within its buckets) are tried, each over its parameters.
//  2. Each member has the probability of the buckets' counts, by a formula: the durations of
//     API calls, and their waits for a client's limit, are added to the member's.
//  3. [Posterior] are the members with how probable each is, the families weighed by
//     how common they are.
package service

import (
	"cmp"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A Shape is a distribution but for its mean, which the sum of a histogram gives exactly.
type Shape struct {
	Family string
	CV     float64 // coefficient of variation
	Whole  bool    // it is of the API calls' latency, too

	at, points []float64 // probabilities, and quantiles of mean 1 with straight lines between
	tail       float64   // Pareto's exponent
}

// Of gives the distribution with that mean, in seconds; of the extreme of a family, which
// has no such member, what is left is its mean.
func (s Shape) Of(mean float64) randvar.Dist {
	if !(mean > 1e-12) {
		return randvar.Dist{}
	}
	var d randvar.Dist
	var err error
	switch s.Family {
	case "constant":
		d = randvar.Constant(mean)
	case "lognormal":
		sigma := math.Sqrt(math.Log1p(s.CV * s.CV))
		median := mean * math.Exp(-sigma*sigma/2)
		d, err = randvar.Lognormal(median, median*math.Exp(z99*sigma))
	case "exponential", "gamma":
		d, err = randvar.Gamma(mean, s.CV)
	case "pareto":
		d, err = randvar.Pareto(mean*(s.tail-1)/s.tail, s.tail)
	default:
		points := slices.Clone(s.points)
		for i := range points {
			points[i] *= mean
		}
		d, err = randvar.Quantiles(s.at, points)
	}
	if err != nil {
		return randvar.Constant(mean)
	}
	return d
}

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

// paretoOf has that exponent, above 1. Without an end its spread may be infinite:
// a measurement's is not.
func paretoOf(tail float64) Shape {
	cv := 5.0
	if tail > 2.02 {
		cv = 1 / math.Sqrt(tail*(tail-2))
	}
	return Shape{Family: "pareto", tail: tail, CV: cv}
}

// straight goes from quantile to quantile, of that mean.
func straight(family string, at, points []float64, mean, cv float64) Shape {
	for i := range points {
		points[i] /= mean
	}
	return Shape{Family: family, CV: cv, at: at, points: points}
}

// average is the mean of what goes straight from quantile to quantile.
func average(at, points []float64) float64 {
	sum := 0.0
	for i := 1; i < len(at); i++ {
		sum += (at[i] - at[i-1]) * (points[i] + points[i-1]) / 2
	}
	return sum
}

// variation is the coefficient of variation.
func variation(mean, meanSquare float64) float64 {
	return math.Sqrt(max(0, meanSquare/(mean*mean)-1))
}

// A Likely shape comes with how probable it is.
type Likely struct {
	Shape
	Log float64 // of the probability, but for a constant

	at float64 // logarithm of what is left open in its family
}

// best is the most probable one.
func best(list []Likely) Likely {
	return slices.MaxFunc(list, func(a, b Likely) int { return cmp.Compare(a.Log, b.Log) })
}

// priors are how probable families are before anything is measured.
var priors = map[string]float64{
	"exponential": 0.25, "constant": 0.1, "gamma": 0.15, "lognormal": 0.25,
	"pareto": 0.05, "hyperexponential": 0.05, "pair": 0.1, "humps": 0.05,
}

const (
	enough  = 20_000 // durations that count at most beside calls: what these take is known to a share or two in a hundred, and more durations would be taken as proof against the right shape
	astray  = 0.03   // share of the durations in other buckets: from there on none of the families is right, and the histogram itself stands for all
	least   = 8.0    // by how much a logarithm is lower that counts no more
	atMost  = 60     // shapes
	unlucky = 1e-6   // probability of a clock's tick beside a bound, which is no proof against a shape
)

// Posterior are the shapes that make a histogram of work likely, and how probable each is. The
// mean is of the service alone and busy that with its calls' latencies; held tells that waits for
// the client's limit are, or may be, among what the calls take, so that the histogram itself is no shape.
func Posterior(h scrape.Histogram, mean, busy float64, calls []float64, held bool) []Likely {
	list := parametric(h, mean, calls)
	if held {
		return thinned(list)
	}
	itself := humps(h, busy)
	if len(itself) > 0 && h.Buckets() > 1 && distance(h, best(list).Of(mean), calls) > astray {
		return itself
	}
	return thinned(append(list, itself...))
}

// Enough is a histogram of no more durations than count beside calls, of which a tenth do beside
// those that others make with the same client.
func Enough(h scrape.Histogram, shared bool) scrape.Histogram {
	by := min(1, enough/h.Count())
	if shared {
		by = min(1, enough/10/h.Count())
	}
	h.Counts = slices.Clone(h.Counts)
	for i := range h.Counts {
		h.Counts[i] *= by
	}
	h.Sum *= by
	return h
}

// thinned drops what is improbable, and of many keeps so many that each stands for as much.
func thinned(list []Likely) []Likely {
	top := best(list).Log
	list = slices.DeleteFunc(list, func(x Likely) bool { return x.Log < top-least })
	if len(list) <= atMost {
		return list
	}
	slices.SortStableFunc(list, func(a, b Likely) int { return cmp.Compare(a.CV, b.CV) })
	all := 0.0
	for _, x := range list {
		all += math.Exp(x.Log - top)
	}
	var kept []Likely
	below := 0.0
	for _, x := range list {
		before := math.Ceil(below - 0.5)
		below += math.Exp(x.Log-top) / all * atMost
		if taken := math.Ceil(below-0.5) - before; taken > 0 {
			x.Log = math.Log(taken/atMost*all) + top
			kept = append(kept, x)
		}
	}
	return kept
}

// parametric are shapes of a mean.
func parametric(h scrape.Histogram, mean float64, calls []float64) []Likely {
	of := func(s Shape, open float64) Likely {
		return Likely{Shape: s, at: math.Log(open), Log: likelihood(h, s.Of(mean).Below, calls)}
	}
	list := slices.Concat(
		weighted([]Likely{of(Shape{Family: "constant"}, 1)}, 0, 1),
		weighted([]Likely{of(Shape{Family: "exponential", CV: 1}, 1)}, 0, 1),
	)
	for _, family := range []string{"gamma", "lognormal"} {
		var members []Likely
		try := func(cv float64) { members = append(members, of(Shape{Family: family, CV: cv}, cv)) }
		try(0.05)
		for cv := 0.1; cv < 12; cv *= 1.08 {
			try(cv)
		}
		// Many durations tell it better than those steps.
		for step := 1.04; step > 1.001; step = math.Cbrt(step) {
			around := best(members).CV
			try(around * (1 / step))
			try(around * step)
		}
		list = append(list, weighted(members, math.Log(0.05), math.Log(12))...)
	}
	var members []Likely
	for tail := 1.2; tail < 8; tail *= 1.03 {
		members = append(members, of(paretoOf(tail), tail))
	}
	list = append(list, weighted(members, math.Log(1.2), math.Log(8))...)
	spread := len(calls) > 1 // so that even two durations lie in several buckets
	if h.Buckets() > 3 || spread && h.Buckets() > 2 {
		list = append(list, mixtures(h, mean, calls, "hyperexponential")...)
		if spread {
			list = append(list, mixtures(h, mean, calls, "pair")...)
		}
	}
	return list
}

// weighted gives every member of a family its part of the family's prior: of the
// range from low to high what is nearer to it than to others.
func weighted(list []Likely, low, high float64) []Likely {
	slices.SortFunc(list, func(a, b Likely) int { return cmp.Compare(a.at, b.at) })
	list = slices.CompactFunc(list, func(a, b Likely) bool { return a.at == b.at })
	from := low
	for i, x := range list {
		to := high
		if i < len(list)-1 {
			to = (x.at + list[i+1].at) / 2
		}
		list[i].Log += math.Log(priors[x.Family] * max(1e-9, (to-from)/(high-low)))
		from = to
	}
	return list
}
