package loadgen

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lognormalShare is what the first fraction of the objects takes when their
// rates are log-normal: the Lorenz curve of that law.
func lognormalShare(fraction, sigma float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return 1 - normal(math.Sqrt2*math.Erfinv(2*(1-fraction)-1)-sigma)
}

// The hot set goes on to the next objects, and comes back to the first.
func TestHotsetMoves(t *testing.T) {
	r, p := newRandom(1, 0), newPicker(Skew{Kind: skewMovingHotset, Fraction: 0.1, Share: 1, Every: time.Minute})
	for turn := range 25 {
		for range 100 {
			rank := p.pick(r, 100, time.Duration(turn)*time.Minute+time.Second)
			require.Equal(t, turn%10, rank/10)
		}
	}
}

// The draws follow the law that the spec names, checked on the share of the
// first ranks (standard error below 0.0025 with 40,000 draws).
func TestSkews(t *testing.T) {
	const n, draws = 1000, 40_000
	harmonic := func(k int, s float64) (sum float64) {
		for i := 1; i <= k; i++ {
			sum += math.Pow(float64(i), -s)
		}
		return sum
	}
	cases := []struct {
		name  string
		skew  Skew
		first int
		share float64
	}{
		{"uniform", Skew{Kind: skewUniform}, 100, 0.1},
		{"zipf below 1", Skew{Kind: skewZipf, S: 0.5}, 10, harmonic(10, 0.5) / harmonic(n, 0.5)},
		{"zipf at 1", Skew{Kind: skewZipf, S: 1}, 1, 1 / harmonic(n, 1)},
		{"zipf just above 1", Skew{Kind: skewZipf, S: 1.01}, 3, harmonic(3, 1.01) / harmonic(n, 1.01)},
		{"zipf at 2", Skew{Kind: skewZipf, S: 2}, 1, 1 / harmonic(n, 2)},
		{"zipf at 2, tail", Skew{Kind: skewZipf, S: 2}, 100, harmonic(100, 2) / harmonic(n, 2)},
		{"hot set", Skew{Kind: skewHotset, Fraction: 0.01, Share: 0.9}, 10, 0.9},
		{"log-normal", Skew{Kind: skewLognormal, Sigma: 2}, 50, lognormalShare(0.05, 2)},
		{"log-normal, half", Skew{Kind: skewLognormal, Sigma: 1}, 500, lognormalShare(0.5, 1)},
		{"moving hot set", Skew{Kind: skewMovingHotset, Fraction: 0.01, Share: 0.9, Every: time.Minute}, 10, 0.9},
		{"hot set of everything", Skew{Kind: skewHotset, Fraction: 1, Share: 0.5}, 100, 0.1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, p, hits := newRandom(1, 0), newPicker(c.skew), 0
			for range draws {
				rank := p.pick(r, n, 0)
				require.True(t, 0 <= rank && rank < n, "%d", rank)
				if rank < c.first {
					hits++
				}
			}
			require.InDelta(t, c.share, float64(hits)/draws, 0.01)
			require.Zero(t, p.pick(r, 1, 0), "n may change between draws")
		})
	}
}
