package tune

import (
	"cmp"
	"math"
	"slices"

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
	tail   float64   // Pareto's exponent
	whole  bool      // it is of the API calls' latency, too
}

// of gives the distribution with that mean, in seconds; of the extreme of a family, which
// has no such member, what is left is its mean.
func (s shape) of(mean float64) randvar.Dist {
	if !(mean > 1e-12) {
		return randvar.Dist{}
	}
	d, err := s.member(mean)
	if err != nil {
		return randvar.Constant(mean)
	}
	return d
}

func (s shape) member(mean float64) (randvar.Dist, error) {
	switch s.family {
	case "lognormal":
		sigma := math.Sqrt(math.Log1p(s.cv * s.cv))
		median := mean * math.Exp(-sigma*sigma/2)
		return randvar.Lognormal(median, median*math.Exp(z99*sigma))
	case "gamma":
		return randvar.Gamma(mean, s.cv)
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
func paretoOf(tail float64) shape {
	cv := 5.0
	if tail > 2.02 {
		cv = 1 / math.Sqrt(tail*(tail-2))
	}
	return shape{family: "pareto", tail: tail, cv: cv}
}

// A serviceFit is what a histogram of durations tells of their distribution.
type serviceFit struct {
	shape
	distance  float64  // share of the durations that the shape puts into other buckets
	plausible []likely // shapes that the histogram tells hardly apart from it
	rather    []likely // humps that explain it better than any of these, or nearly so
}

// coefficients of variation that are tried.
var coefficients = func() []float64 {
	list := []float64{0.05}
	for x := 0.1; x < 12; x *= 1.08 {
		list = append(list, x)
	}
	return list
}()

// enough is how many durations count at most beside calls. That these take as long
// as is assumed, or as simulations say, is right to a share or two in a hundred of a
// bucket's, and more durations would be taken as proof against the shape that is.
const enough = 20_000

// fitService finds the family and the coefficient of variation that, with what
// the calls take, make the buckets most likely. The means are given, so nothing
// is read from where in its bucket a duration lies. Held says that the calls'
// waits for the client's limit are among what they take.
func fitService(h scrape.Histogram, m *Model, calls callTimes, held bool) serviceFit {
	if by := enough / h.Count(); calls.spread() && by < 1 {
		h.Counts = slices.Clone(h.Counts)
		for i := range h.Counts {
			h.Counts[i] *= by
		}
		h.Sum *= by
	}
	list := parametric(h, m.Service, calls)
	best := slices.MaxFunc(list, func(a, b likely) int { return cmp.Compare(a.log, b.log) })
	fit := serviceFit{shape: best.shape, distance: distance(h, best.of(m.Service), calls)}
	if fit.distance > 0.03 && h.Buckets() > 1 && !held {
		if all := humps(h, m.Busy); len(all) > 0 {
			return serviceFit{shape: all[0].shape, distance: distance(h, all[0].of(m.Busy), none), plausible: all}
		}
	}
	nearly := 4.0
	if held {
		nearly = 5 // how calls wait beside another shape differs somewhat
	}
	for _, c := range list {
		if best.log-c.log < nearly {
			fit.plausible = append(fit.plausible, c)
		}
	}
	if !held {
		fit.rather = betterHumps(h, m.Busy, list, best.log, calls.spread())
	}
	return fit
}

// parametric are shapes of a mean, with how likely they make a histogram.
func parametric(h scrape.Histogram, mean float64, calls callTimes) []likely {
	one := func(s shape, at float64) likely {
		return likely{shape: s, at: at, log: likelihood(h, s.of(mean), calls)}
	}
	list := slices.Concat(
		weighted([]likely{one(shape{family: "constant"}, 0)}, "constant", 0, 0),
		weighted([]likely{one(shape{family: "gamma", cv: 1}, 0)}, "exponential", 0, 0),
	)
	for _, family := range []string{"gamma", "lognormal"} {
		var members []likely
		top := 0
		try := func(cv float64) {
			members = append(members, one(shape{family: family, cv: cv}, math.Log(cv)))
			if n := len(members) - 1; members[n].log > members[top].log {
				top = n
			}
		}
		for _, cv := range coefficients {
			try(cv)
		}
		// Many durations tell it better than those steps.
		for step := 1.04; step > 1.001; step = math.Cbrt(step) {
			for around, by := members[top].cv, -1.0; by <= 1; by += 2 {
				try(around * math.Pow(step, by))
			}
		}
		list = append(list, weighted(members, family, math.Log(0.05), math.Log(12))...)
	}
	var members []likely
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

// betterHumps are those that explain so much more than the best of the others that the
// shares that they leave free are worth it (by the Bayesian information criterion). Where
// there are none, what counts against humps is how seldom work has them.
func betterHumps(h scrape.Histogram, mean float64, others []likely, best float64, spread bool) (list []likely) {
	free, most := float64(h.Buckets()-2), best-4
	if spread {
		// The others' figures are weighed by their priors' parts, so humps' first
		// one has to be, too.
		free++
		sum := 0.0
		for _, c := range others {
			sum += math.Exp(c.log - best + c.prior)
		}
		most = best + math.Log(sum/priors["humps"]) - 4
	}
	for _, c := range humps(h, mean) {
		c.log = likelihood(h, c.of(mean), none) - max(free/2*math.Log(h.Count()), -math.Log(priors["humps"]))
		if c.log > most {
			list = append(list, c)
		}
	}
	return list
}

// A stretch of service times, in seconds, with equally likely sums of what the calls
// of reconciles that work as long take.
type stretch struct {
	from, to float64
	calls    []float64
}

// callTimes are what calls take beside work of all lengths.
type callTimes []stretch

// whatever takes the calls to be the same beside all work.
func whatever(calls []float64) callTimes { return callTimes{{0, math.Inf(1), calls}} }

// spread tells that they take now more and now less.
func (b callTimes) spread() bool { return len(b) > 1 || len(b[0].calls) > 1 }

// none is no latency.
var none = whatever([]float64{0})

// latencies are equally likely sums of a reconcile's calls' latencies, which are
// taken to be exponential.
func (m *Model) latencies() callTimes { return whatever(m.sums()) }

func (m *Model) sums() []float64 {
	const n = 64 // with 16 of them, what is above a Pareto shape's knee comes out 2% too rare
	if m.Calls*m.CallLatency == 0 {
		return []float64{0}
	}
	list := make([]float64, n)
	sum := 0.0
	by := m.callers.shares(m.Calls)
	for i := range list {
		u, calls := (float64(i)+0.5)/n, len(by)-1
		for calls > 0 && u >= by[calls] {
			u -= by[calls]
			calls--
		}
		if calls > 0 {
			d, err := randvar.Gamma(float64(calls), max(0.01, 1/math.Sqrt(float64(calls))))
			if err != nil {
				d = randvar.Constant(float64(calls)) // so many calls scatter by less than a hundredth
			}
			list[i] = d.Quantile(u / by[calls])
		}
		sum += list[i]
	}
	for i := range list {
		list[i] *= m.Calls * m.CallLatency * n / sum
	}
	return list
}

// likelihood is the logarithm of the probability of the buckets' counts.
func likelihood(h scrape.Histogram, d randvar.Dist, calls callTimes) float64 {
	return likelihoodOf(h, d.Below, calls)
}

// likelihoodOf is that of a distribution function.
func likelihoodOf(h scrape.Histogram, below func(float64) float64, calls callTimes) float64 {
	sum := 0.0
	for i, share := range shares(h, below, calls) {
		if n := h.Counts[i]; n > 0 {
			// A clock's tick beside a bound is no proof against a shape.
			sum += n * math.Log(max(share, 1e-6))
		}
	}
	return sum
}

// shares is what of a service time with the calls beside it lies in each bucket.
func shares(h scrape.Histogram, below func(float64) float64, calls callTimes) []float64 {
	list := make([]float64, len(h.Counts))
	before := 0.0
	shorter := make([]float64, len(calls)) // than each stretch
	for k, s := range calls[1:] {
		shorter[k+1] = below(s.from)
	}
	for i := range list {
		now := 1.0
		if i < len(h.Bounds) {
			now = 0
			for k, s := range calls {
				for _, latency := range s.calls {
					if h.Bounds[i]-latency > s.from {
						now += (below(min(h.Bounds[i]-latency, s.to)) - shorter[k]) / float64(len(s.calls))
					}
				}
			}
		}
		list[i], before = now-before, now
	}
	return list
}

// distance is half the sum of the differences between shares.
func distance(h scrape.Histogram, d randvar.Dist, calls callTimes) float64 {
	sum := 0.0
	for i, share := range shares(h, d.Below, calls) {
		sum += math.Abs(h.Counts[i]/h.Count() - share)
	}
	return sum / 2
}
