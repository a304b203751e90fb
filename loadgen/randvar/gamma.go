package randvar

import (
	"math"
	"math/rand/v2"
)

// sampleGamma draws from the gamma distribution of that shape and scale 1
// (Marsaglia and Tsang, ACM TOMS 26(3), 2000).
func sampleGamma(r *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Exp(-Exp(r) / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := Normal(r)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if -Exp(r) < float64(x*x/2)+d-float64(d*v)+float64(d*math.Log(v)) {
			return boost * d * v
		}
	}
}

// quantileGamma inverts the gamma distribution of that shape and scale 1 by
// bisection, which needs no start near the root.
func quantileGamma(p, shape float64) float64 {
	if p == 0 {
		return 0
	}
	if p == 1 {
		return math.Inf(1)
	}
	low, high := 0.0, shape+1
	for cumulativeGamma(high, shape) < p {
		low, high = high, 2*high
	}
	for range 200 {
		middle := (low + high) / 2
		if middle == low || middle == high {
			break
		}
		if cumulativeGamma(middle, shape) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// cumulativeGamma is the regularized lower incomplete gamma function: by its
// series below shape+1, by Legendre's continued fraction (in Lentz's way) above.
func cumulativeGamma(x, shape float64) float64 {
	const terms, precision = 10_000, 1e-15
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(shape)
	scale := math.Exp(shape*math.Log(x) - x - logGamma)
	if x < shape+1 {
		term, sum := 1/shape, 1/shape
		for n := 1; n < terms && term > sum*precision; n++ {
			term *= x / (shape + float64(n))
			sum += term
		}
		return min(1, scale*sum)
	}
	const tiny = 1e-300
	b := x + 1 - shape
	c, d := 1/tiny, 1/b
	fraction := d
	for n := 1; n < terms; n++ {
		a := -float64(n) * (float64(n) - shape)
		b += 2
		if d = a*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + a/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		fraction *= d * c
		if math.Abs(d*c-1) < precision {
			break
		}
	}
	return 1 - scale*fraction
}
