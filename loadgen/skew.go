package loadgen

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// A random draws from PCG, whose sequence Go fixes. What turns its 64 bits
// into numbers is here, because the library may change its own way.
type random struct{ source *rand.PCG }

func newRandom(seed uint64) random { return random{rand.NewPCG(seed, 0x9e3779b97f4a7c15)} }

// below returns a number in [0, n). Its bias, n/2^64, can't be seen.
func (r random) below(n int) int {
	high, _ := bits.Mul64(r.source.Uint64(), uint64(n))
	return int(high)
}

// float returns a number in [0, 1).
func (r random) float() float64 { return float64(r.source.Uint64()>>11) / (1 << 53) }

// A picker draws the rank, in [0, n), of the object that the next event is about.
type picker interface {
	pick(r random, n int) int
}

func newPicker(s Skew) picker {
	switch s.Kind {
	case skewZipf:
		return &zipf{s: s.S}
	case skewHotset:
		return hotset{s.Fraction, s.Share}
	}
	return uniform{}
}

type uniform struct{}

func (uniform) pick(r random, n int) int { return r.below(n) }

// hotset draws a share of the time from the first fraction of the ranks, and
// otherwise from the rest.
type hotset struct{ fraction, share float64 }

func (h hotset) pick(r random, n int) int {
	hot := min(n, max(1, int(h.fraction*float64(n))))
	if hot == n || r.float() < h.share {
		return r.below(hot)
	}
	return hot + r.below(n-hot)
}

// zipf draws rank k-1 in proportion to 1/k^s, for any s > 0, in O(1) and
// without a table, so that n may change from draw to draw. It is Hörmann and
// Derflinger's rejection-inversion (ACM TOMACS 6(3), 1996).
//
// Products are converted to float64 before they are added to: else a compiler
// may fuse the two and round differently on another architecture.
type zipf struct {
	s float64

	n                   int // what the constants below were computed for
	first, last, accept float64
}

func (z *zipf) pick(r random, n int) int {
	if n != z.n {
		z.n = n
		z.first = z.integral(1.5) - 1
		z.last = z.integral(float64(n) + 0.5)
		z.accept = 2 - z.inverse(z.integral(2.5)-z.density(2))
	}
	for {
		u := z.last + float64(r.float()*(z.first-z.last))
		x := z.inverse(u)
		k := min(float64(n), max(1, math.Floor(x+0.5)))
		if k-x <= z.accept || u >= z.integral(k+0.5)-z.density(k) {
			return int(k) - 1
		}
	}
}

func (z *zipf) density(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// integral is an antiderivative of density: (x^(1-s)-1)/(1-s), or log x for s = 1.
func (z *zipf) integral(x float64) float64 {
	l := math.Log(x)
	if t := (1 - z.s) * l; math.Abs(t) > 1e-8 {
		return math.Expm1(t) / t * l
	}
	return l
}

func (z *zipf) inverse(x float64) float64 {
	t := max(-1, x*(1-z.s))
	if math.Abs(t) > 1e-8 {
		return math.Exp(math.Log1p(t) / t * x)
	}
	return math.Exp(x)
}
