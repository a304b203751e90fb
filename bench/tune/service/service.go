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

	points []float64 // quantiles, of mean 1
	at     []float64 // their probabilities
	tail   float64   // Pareto's exponent
}

// Of gives the distribution with that mean, in seconds; of the extreme of a family, which
// has no such member, what is left is its mean.
func (s Shape) Of(mean float64) randvar.Dist {
	if !(mean > 1e-12) {
		return randvar.Dist{}
	}
	d, err := s.member(mean)
	if err != nil {
		return randvar.Constant(mean)
	}
	return d
}

func (s Shape) member(mean float64) (randvar.Dist, error) {
	switch s.Family {
	case "lognormal":
		sigma := math.Sqrt(math.Log1p(s.CV * s.CV))
		median := mean * math.Exp(-sigma*sigma/2)
		return randvar.Lognormal(median, median*math.Exp(z99*sigma))
	case "gamma":
		return randvar.Gamma(mean, s.CV)
	case "pareto":
		return randvar.Pareto(mean*(s.tail-1)/s.tail, s.tail)
	case "quantiles":
		points := make([]float64, len(s.points))
		for i, x := range s.points {
			points[i] = x * mean
		}
		return randvar.Quantiles(s.at, points)
	}
	return randvar.Constant(mean), nil
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

// A Likely shape comes with how probable it is.
type Likely struct {
	Shape
	Log float64 // of the probability, but for a constant

	kind string  // of the priors
	at   float64 // logarithm of what is left open in its family
}

// coefficients of variation that are tried.
var coefficients = func() []float64 {
	list := []float64{0.05}
	for x := 0.1; x < 12; x *= 1.08 {
		list = append(list, x)
	}
	return list
}()

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
func Posterior(h scrape.Histogram, mean, busy float64, calls Calls, held bool) []Likely {
	list := parametric(h, mean, calls)
	best := slices.MaxFunc(list, func(a, b Likely) int { return cmp.Compare(a.Log, b.Log) })
	itself := humps(h, busy)
	if len(itself) > 0 && !held {
		// Which of the buckets' shares it repeats is as many figures that are left free.
		free := float64(h.Buckets()-2) / 2 * math.Log(h.Count())
		for i, c := range itself {
			itself[i].Log += likelihood(h, c.Of(busy).Below, none) - max(0, free)
		}
		if h.Buckets() > 1 && distance(h, best.Of(mean), calls) > astray {
			return itself
		}
		list = append(list, itself...)
	}
	return thinned(list)
}

// Enough is a histogram of no more durations than count beside calls.
func Enough(h scrape.Histogram) scrape.Histogram {
	by := enough / h.Count()
	if by >= 1 {
		return h
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
	best := slices.MaxFunc(list, func(a, b Likely) int { return cmp.Compare(a.Log, b.Log) }).Log
	list = slices.DeleteFunc(list, func(x Likely) bool { return x.Log < best-least })
	if len(list) <= atMost {
		return list
	}
	slices.SortStableFunc(list, func(a, b Likely) int { return cmp.Compare(a.CV, b.CV) })
	all := 0.0
	for _, x := range list {
		all += math.Exp(x.Log - best)
	}
	var kept []Likely
	below, next := 0.0, 0.5
	for _, x := range list {
		taken := 0.0
		for below += math.Exp(x.Log-best) / all * atMost; next < below; next++ {
			taken++
		}
		if taken > 0 {
			x.Log = math.Log(taken/atMost*all) + best
			kept = append(kept, x)
		}
	}
	return kept
}

// parametric are shapes of a mean.
func parametric(h scrape.Histogram, mean float64, calls Calls) []Likely {
	one := func(s Shape, at float64) Likely {
		return Likely{Shape: s, at: at, Log: likelihood(h, s.Of(mean).Below, calls)}
	}
	list := slices.Concat(
		weighted([]Likely{one(Shape{Family: "constant"}, 0)}, "constant", 0, 0),
		weighted([]Likely{one(Shape{Family: "gamma", CV: 1}, 0)}, "exponential", 0, 0),
	)
	for _, family := range []string{"gamma", "lognormal"} {
		var members []Likely
		top := 0
		try := func(cv float64) {
			members = append(members, one(Shape{Family: family, CV: cv}, math.Log(cv)))
			if n := len(members) - 1; members[n].Log > members[top].Log {
				top = n
			}
		}
		for _, cv := range coefficients {
			try(cv)
		}
		// Many durations tell it better than those steps.
		for step := 1.04; step > 1.001; step = math.Cbrt(step) {
			for around, by := members[top].CV, -1.0; by <= 1; by += 2 {
				try(around * math.Pow(step, by))
			}
		}
		list = append(list, weighted(members, family, math.Log(0.05), math.Log(12))...)
	}
	var members []Likely
	for tail := 1.2; tail < 8; tail *= 1.03 {
		members = append(members, one(paretoOf(tail), math.Log(tail)))
	}
	list = append(list, weighted(members, "pareto", math.Log(1.2), math.Log(8))...)
	spread := calls.spread() // so that even two durations lie in several buckets
	if h.Buckets() > 3 || spread && h.Buckets() > 2 {
		list = append(list, mixtures(h, mean, calls, "hyperexponential", func(share, ratio, mean float64) mixture { return hyperOf(share, ratio, mean) })...)
		if spread {
			list = append(list, mixtures(h, mean, calls, "pair", func(share, ratio, mean float64) mixture { return pairOf(share, ratio, mean) })...)
		}
	}
	return list
}

// weighted gives every member of a family its part of the family's prior: of the
// range from low to high what is nearer to it than to others.
func weighted(list []Likely, kind string, low, high float64) []Likely {
	slices.SortFunc(list, func(a, b Likely) int { return cmp.Compare(a.at, b.at) })
	list = slices.CompactFunc(list, func(a, b Likely) bool { return a.at == b.at })
	middle := func(i int) float64 { return (list[i-1].at + list[i].at) / 2 }
	logs := make([]float64, len(list))
	for i := range list {
		from, to := low, high
		if i > 0 {
			from = middle(i)
		}
		if i < len(list)-1 {
			to = middle(i + 1)
		}
		part := 1.0
		if high > low {
			part = max(1e-9, (to-from)/(high-low))
		}
		list[i].kind, logs[i] = kind, math.Log(priors[kind]*part)
	}
	for i := range list {
		list[i].Log += logs[i]
	}
	return list
}
