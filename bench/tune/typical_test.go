package tune

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Service times of which a few are very long make waits differ much from one measurement
// to the next. Batches of two are seen even so: with as much work workers idle far less often.
func TestBatchesOfLongWork(t *testing.T) {
	numbers(t)
	for n := range uint64(6) {
		usual := n%2 == 0
		s := system{rate: 1.2, service: lognormally(1.03, 2.25), mean: 1.03, workers: 2}
		if !usual {
			s.gap = func(r *rand.Rand) float64 { // half of the time none: batches of two on average
				return float64(r.IntN(2)) * r.ExpFloat64() * 2 / s.rate
			}
		}
		d := s.run(*seed+n/2, 1200).delta(t)
		f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
		tr := trial{f, *seed + n/2, 100_000}
		x, err := tr.run(t.Context())
		require.NoError(t, err)
		_, is, err := f.typical(t.Context(), tr, x, func(string) {})
		require.NoError(t, err)
		assert.Equal(t, usual, is)
	}
}

// A hundredth of the keys, which wait for their own work however many workers there are,
// is little of the waits' histogram but all of its 99th percentile.
func TestRareWaitsAreOdd(t *testing.T) {
	numbers(t)
	for _, keys := range []int{0, 500} {
		s := system{rate: 11, service: lognormally(0.889, 2.49), mean: 0.889, workers: 17, keys: keys, runtime: true}
		d := s.run(*seed, 1800).delta(t)
		f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
		f.setService(shape{family: "lognormal", cv: 2.49}, 1)
		x, err := trial{f, *seed, 20_000}.run(t.Context())
		require.NoError(t, err)
		t.Logf("%d keys: score %.3g", keys, x.score)
		assert.Less(t, x.score, fits)
		assert.Equal(t, keys > 0, x.odd())
	}
}
