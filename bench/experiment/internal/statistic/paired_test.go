package statistic

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSignedRankCritical(t *testing.T) {
	// From the usual tables, two-sided 5%.
	for n, want := range map[int]int{5: -1, 6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52, 50: 434, 100: 1955} {
		assert.InDelta(t, want, signedRankCritical(n, 0.025), float64(n/100), "n=%d", n)
	}
}

func TestPairedRatio(t *testing.T) {
	log := math.Log
	ratio, low, high := PairedRatio([]float64{log(2), log(2), log(2), log(2), log(2), log(2), log(900)}, 0.95)
	assert.InDelta(t, 2, ratio, 1e-9, "one outlier does not move it")
	assert.InDelta(t, 2, low, 1e-9)
	assert.Greater(t, high, 2.0, "but widens its interval")

	_, low, high = PairedRatio([]float64{0, 0.1, 0.2, 0.1, 0}, 0.95)
	assert.Zero(t, low, "five rounds have no interval")
	assert.True(t, math.IsInf(high, 1))
}

// The interval holds the truth as often as it says.
func TestPairedRatioCoverage(t *testing.T) {
	const seed, trials = 3, 2000
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{6, 8, 12, 60} {
		hits := 0
		for range trials {
			logs := make([]float64, n)
			for i := range logs {
				logs[i] = 0.7 + 0.1*r.NormFloat64()
			}
			if _, low, high := PairedRatio(logs, 0.95); low <= math.Exp(0.7) && math.Exp(0.7) <= high {
				hits++
			}
		}
		assert.InDelta(t, 0.96, float64(hits)/trials, 0.02, "n=%d seed=%d", n, seed)
	}
}

func TestHolm(t *testing.T) {
	assert.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, Holm([]float64{0.01, 0.04, 0.03, 0.005}), 1e-12)
}

func TestSignedRank(t *testing.T) {
	// Ranks 1 and 2 are negative: 5 of 256 sign patterns have a rank sum of 3 or less.
	assert.InDelta(t, 0.0390625, SignedRank([]float64{1.1, 2.2, -0.5, 3.1, 0.7, 1.9, -0.2, 2.5}), 1e-9)
	assert.InDelta(t, 1, SignedRank([]float64{0, 0}), 1e-9, "nothing differs")
	one := make([]float64, 60)
	for i := range one {
		one[i] = float64(i + 1)
	}
	assert.Less(t, SignedRank(one), 1e-9)
}

// However many rounds there are, the estimate is the same.
func TestPairedOfMany(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	logs := make([]float64, manyRounds)
	for i := range logs {
		logs[i] = math.Round(1e3*r.NormFloat64()) / 1e4 // with ties
	}
	ratio, low, high := PairedRatio(logs, 0.95)
	manyRatio, manyLow, manyHigh := pairedOfMany(logs, 0.95)
	assert.InDeltaSlice(t, []float64{ratio, low, high}, []float64{manyRatio, manyLow, manyHigh}, 1e-12, "seed %d", seed)
}
