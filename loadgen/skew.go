package loadgen

import (
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

const (
	skewUniform      = "uniform"
	skewZipf         = "zipf"
	skewLognormal    = "lognormal"
	skewHotset       = "hotset"
	skewMovingHotset = "movinghotset"
)

func (s *Skew) complete(path string) error {
	if err := oneOf(path+"kind", &s.Kind, skewUniform, skewZipf, skewLognormal, skewHotset, skewMovingHotset); err != nil {
		return err
	}
	fields := []struct {
		name  string
		value float64
		max   float64
		kinds []string
	}{
		{"s", s.S, 10, []string{skewZipf}},
		{"sigma", s.Sigma, 10, []string{skewLognormal}},
		{"fraction", s.Fraction, 1, []string{skewHotset, skewMovingHotset}},
		{"share", s.Share, 1, []string{skewHotset, skewMovingHotset}},
		{"every", s.Every.Seconds(), maxDuration.Seconds(), []string{skewMovingHotset}},
	}
	for _, f := range fields {
		wanted := slices.Contains(f.kinds, s.Kind)
		switch {
		case !wanted && f.value != 0:
			return fault(path+f.name, "found %v with kind %s, expected it with kind %s only", f.value, s.Kind, choice(f.kinds))
		case wanted && !(f.value > 0 && f.value <= f.max):
			return fault(path+f.name, "%s, expected a number above 0 and up to %v", found(f.value), f.max)
		}
	}
	return nil
}

// A picker draws the rank, in [0, n), of the object that the event at that
// time is about.
type picker interface {
	pick(r random, n int, at time.Duration) int
}

func newPicker(s Skew) picker {
	switch s.Kind {
	case skewZipf:
		return &zipf{s: s.S}
	case skewLognormal:
		return lognormal{s.Sigma}
	case skewHotset:
		return hotset{s.Fraction, s.Share, 0}
	case skewMovingHotset:
		return hotset{s.Fraction, s.Share, s.Every}
	}
	return uniform{}
}

type uniform struct{}

func (uniform) pick(r random, n int, _ time.Duration) int { return r.below(n) }

// hotset draws a share of the time from the first fraction of the ranks, and
// otherwise from the rest. Where it moves, the next ranks take over.
type hotset struct {
	fraction, share float64
	every           time.Duration
}

func (h hotset) pick(r random, n int, at time.Duration) int {
	hot := min(n, max(1, int(h.fraction*float64(n))))
	first := 0
	if h.every > 0 {
		first = int(uint64(at/h.every) % uint64(n) * uint64(hot) % uint64(n))
	}
	rank := 0
	if hot == n || r.float() < h.share {
		rank = r.below(hot)
	} else {
		rank = hot + r.below(n-hot)
	}
	if rank += first; rank >= n {
		rank -= n
	}
	return rank
}

// lognormal draws as if each object had a rate of its own, log-normal over the
// objects, the highest first. The rates of the objects that events are about
// are log-normal too, with a logarithm larger by sigma², so that a draw needs no
// table.
type lognormal struct{ sigma float64 }

func (l lognormal) pick(r random, n int, _ time.Duration) int {
	above := math.Erfc((randvar.Normal(r.Rand)+l.sigma)/math.Sqrt2) / 2 // share of the objects with a higher rate
	return min(n-1, int(above*float64(n)))
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

func (z *zipf) pick(r random, n int, _ time.Duration) int {
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
