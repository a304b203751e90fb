// Package randvar describes random quantities by a line of text, as workload
// specs and flags hold them. Its steps, in order:
//
//  1. [Parse] reads the text: "5ms", "exp(10ms)", "lognormal(5ms, 80ms)".
//  2. A [Dist] answers what is known of it beforehand: [Dist.Mean], [Dist.Quantile],
//     [Dist.Below].
//  3. [Dist.Sample] draws from it with the caller's source of randomness, so
//     that the same seed gives the same values.
//
// The distributions, of durations (in seconds), sizes (in bytes) or plain numbers:
//
//	5ms                            always that value; also constant(5ms)
//	uniform(1ms, 3ms)              between the two
//	exp(10ms)                      exponential, by its mean
//	lognormal(5ms, 80ms)           by its median and 99th percentile
//	pareto(1ms, 1.5)               by its minimum and tail index, which is above 1
//	gamma(10ms, 0.5)               by its mean and coefficient of variation
//	quantiles(0=1ms, 0.5=5ms, 0.99=80ms, 1=1s)   by points of its quantile function, straight between them
package randvar

import (
	"math"
	"math/rand/v2"
	"sort"
)

// A Dist is the distribution of a quantity that is never negative. The zero
// Dist stands for none given; it samples 0.
type Dist struct {
	kind   kind
	unit   unit
	a, b   float64 // the parameters, in the order of the text
	points []point // of quantiles, by probability
}

type kind uint8

const (
	none kind = iota
	constant
	uniform
	exponential
	lognormal
	pareto
	gamma
	quantiles
)

// A point of a quantile function: a share p of the values is at or below value.
type point struct{ p, value float64 }

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

// IsZero reports whether no distribution was given.
func (d Dist) IsZero() bool { return d.kind == none }

// IsDuration reports whether the values were given as durations, IsSize as sizes;
// plain numbers stand for either.
func (d Dist) IsDuration() bool { return d.unit == seconds }

// IsSize is described at IsDuration.
func (d Dist) IsSize() bool { return d.unit == bytes }

// Sample draws a value: seconds, bytes or a plain number.
func (d Dist) Sample(r *rand.Rand) float64 {
	switch d.kind {
	case constant:
		return d.a
	case uniform:
		return d.a + float64(Float64(r)*(d.b-d.a))
	case exponential:
		return d.a * Exp(r)
	case lognormal:
		return d.a * math.Exp(d.sigma()*Normal(r))
	case pareto:
		return d.a * math.Exp(Exp(r)/d.b)
	case gamma:
		return sampleGamma(r, 1/(d.b*d.b)) * d.a * d.b * d.b
	case quantiles:
		return d.interpolate(Float64(r))
	}
	return 0
}

// Mean returns the expected value.
func (d Dist) Mean() float64 {
	switch d.kind {
	case constant, exponential, gamma:
		return d.a
	case uniform:
		return (d.a + d.b) / 2
	case lognormal:
		return d.a * math.Exp(d.sigma()*d.sigma()/2)
	case pareto:
		return d.a * d.b / (d.b - 1)
	case quantiles:
		sum := 0.0
		for i, next := range d.points[1:] {
			sum += (next.p - d.points[i].p) * (next.value + d.points[i].value) / 2
		}
		return sum
	}
	return 0
}

// Quantile returns the value that a share p of all values, from 0 to 1, does
// not exceed. It is +Inf for p = 1 where there is no largest value.
func (d Dist) Quantile(p float64) float64 {
	p = min(1, max(0, p))
	switch d.kind {
	case constant:
		return d.a
	case uniform:
		return d.a + p*(d.b-d.a)
	case exponential:
		return -d.a * math.Log1p(-p)
	case lognormal:
		return d.a * math.Exp(d.sigma()*math.Sqrt2*math.Erfinv(2*p-1))
	case pareto:
		return d.a * math.Pow(1-p, -1/d.b)
	case gamma:
		return quantileGamma(p, 1/(d.b*d.b)) * d.a * d.b * d.b
	case quantiles:
		return d.interpolate(p)
	}
	return 0
}

// Below returns the share of all values, from 0 to 1, that do not exceed x: the
// inverse of Quantile.
func (d Dist) Below(x float64) float64 {
	if math.IsInf(x, 1) {
		return 1
	}
	switch d.kind {
	case uniform:
		if d.b > d.a {
			return min(1, max(0, (x-d.a)/(d.b-d.a)))
		}
	case exponential:
		if d.a > 0 {
			return -math.Expm1(-max(0, x) / d.a)
		}
	case lognormal:
		if sigma := d.sigma(); sigma > 0 {
			return math.Erfc(-math.Log(max(0, x)/d.a)/sigma/math.Sqrt2) / 2
		}
	case pareto:
		return 1 - math.Pow(max(1, x/d.a), -d.b)
	case gamma:
		return cumulativeGamma(x/(d.a*d.b*d.b), 1/(d.b*d.b))
	case quantiles:
		return d.below(x)
	}
	if x >= d.a {
		return 1
	}
	return 0
}

// below inverts interpolate.
func (d Dist) below(x float64) float64 {
	i := sort.Search(len(d.points), func(i int) bool { return d.points[i].value > x })
	switch i {
	case 0:
		return 0
	case len(d.points):
		return 1
	}
	low, high := d.points[i-1], d.points[i]
	return low.p + (high.p-low.p)*(x-low.value)/(high.value-low.value)
}

// sigma is the standard deviation of a log-normal value's logarithm.
func (d Dist) sigma() float64 { return math.Log(d.b/d.a) / z99 }

func (d Dist) interpolate(p float64) float64 {
	i := sort.Search(len(d.points)-1, func(i int) bool { return d.points[i].p >= p })
	if i == 0 {
		return d.points[0].value
	}
	low, high := d.points[i-1], d.points[i]
	return low.value + float64((p-low.p)/(high.p-low.p)*(high.value-low.value))
}

// The draws below use nothing of rand.Rand but its 64 bits: those are fixed
// for a seed, what the library makes of them is not.

// Float64 draws from [0, 1).
func Float64(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Exp draws from the exponential distribution of mean 1.
func Exp(r *rand.Rand) float64 { return -math.Log(1 - Float64(r)) }

// Normal draws from the standard normal distribution (Box and Muller).
func Normal(r *rand.Rand) float64 {
	return math.Sqrt(2*Exp(r)) * math.Cos(2*math.Pi*Float64(r))
}
