package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A noise is what one sample of a round is multiplied by; phase is shared by
// all arms of the round, as a busy machine is.
type noise func(r *rand.Rand, round int, phase float64) float64

var noises = map[string]noise{
	"normal": func(r *rand.Rand, _ int, _ float64) float64 { return 1 + 0.05*r.NormFloat64() },
	"heavy-tailed": func(r *rand.Rand, _ int, _ float64) float64 {
		return math.Exp(0.03 * r.NormFloat64() / math.Sqrt(r.ExpFloat64())) // scale mixture: outliers of ×2 and more
	},
	"bimodal": func(r *rand.Rand, _ int, _ float64) float64 {
		return (1 + 0.02*r.NormFloat64()) * (1 + 0.3*float64(r.IntN(2)))
	},
	"drifting": func(r *rand.Rand, round int, phase float64) float64 {
		return (1 + 0.03*r.NormFloat64()) * (1 + 0.05*float64(round)) * math.Exp(0.2*phase)
	},
}

// simulatedPlan has n cases of a baseline, its control and three variants.
func simulatedPlan(n int) Plan {
	p := Plan{Confidence: 0.95, Precision: 0.025, MinRounds: 10, MaxRounds: 400}
	for i := range n {
		p.Cases = append(p.Cases, PlannedCase{
			Component: "queue", Name: fmt.Sprintf("op=%d", i), Unit: "sec/op", Baseline: "client-go",
			Arms: []Arm{
				{Name: "client-go", Variant: "client-go", Peer: true}, {Name: "ring", Variant: "ring"},
				{Name: "slice", Variant: "slice"}, {Name: "sharded", Variant: "sharded"},
				{Name: "client-go-again", Variant: "client-go", Control: true},
			},
		})
	}
	return p
}

// simulate draws a round of a case; slow multiplies an arm's time.
func simulate(r *rand.Rand, n noise, c PlannedCase, round int, slow map[string]float64) []Measurement {
	var samples []Measurement
	phase := r.NormFloat64()
	for _, a := range c.Arms {
		factor, ok := slow[a.Name]
		if !ok {
			factor = 1
		}
		samples = append(samples, Measurement{round, c.Key(), a.Name, map[string]float64{"sec/op": factor * n(r, round, phase)}})
	}
	return samples
}

func verdicts(s Stats) map[Verdict]int {
	n := map[Verdict]int{}
	for _, c := range s.Components {
		for _, cs := range c.Cases {
			for _, r := range cs.Rows {
				if r.Comparison != nil {
					n[r.Comparison.Verdict]++
				}
			}
		}
	}
	return n
}

// Reports that compare equal variants claim a difference in at most 5 of 100.
// Over 2,000 reports it was 0 to 1.9 of 100, so 400 tell reliably; 40 don't.
func TestNoFalseVerdicts(t *testing.T) {
	const reports, rounds = 400, 12
	for name, n := range noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const seed = 1
			r := rand.New(rand.NewPCG(seed, 0))
			plan := simulatedPlan(8)
			wrong := 0
			for range reports {
				var samples []Measurement
				for _, c := range plan.Cases {
					for round := range rounds {
						samples = append(samples, simulate(r, n, c, round, nil)...)
					}
				}
				if v := verdicts(Analyse(Run{Plan: plan}, samples)); v[Faster]+v[Slower] > 0 {
					wrong++
				}
			}
			assert.LessOrEqualf(t, wrong, reports/20, "of %d reports with a false verdict, seed %d", reports, seed)
		})
	}
}

// A slow-down of 10 % is found in at least 90 of 100 reports when sampling
// stops at a precision of ±2.5 %.
func TestPlantedSlowDownIsFound(t *testing.T) {
	const reports = 40
	for name, n := range noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const seed = 2
			r := rand.New(rand.NewPCG(seed, 0))
			plan := simulatedPlan(1)
			c := plan.Cases[0]
			found := 0
			for range reports {
				p := &progress{plan: c, width: math.Inf(1)}
				var samples []Measurement
				for p.rounds < plan.MaxRounds && (p.rounds < plan.MinRounds || p.width > plan.Precision) {
					samples = append(samples, simulate(r, n, c, p.rounds, map[string]float64{"sharded": 1.1})...)
					p.rounds++
					p.width = widest(plan, p, samples)
				}
				for _, row := range Analyse(Run{Plan: plan}, samples).Components[0].Cases[0].Rows {
					if row.Name == "sharded" && row.Comparison.Verdict == Slower {
						found++
					}
				}
			}
			assert.GreaterOrEqualf(t, found, reports*9/10, "of %d planted slow-downs found, seed %d", reports, seed)
		})
	}
}

func TestSignedRankCritical(t *testing.T) {
	// From the usual tables, two-sided 5 %.
	for n, want := range map[int]int{5: -1, 6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52, 50: 434, 100: 1955} {
		assert.InDelta(t, want, signedRankCritical(n, 0.025), float64(n/100), "n=%d", n)
	}
}

func TestPairedRatio(t *testing.T) {
	log := math.Log
	ratio, low, high := pairedRatio([]float64{log(2), log(2), log(2), log(2), log(2), log(2), log(900)}, 0.95)
	assert.InDelta(t, 2, ratio, 1e-9, "one outlier does not move it")
	assert.InDelta(t, 2, low, 1e-9)
	assert.Greater(t, high, 2.0, "but widens its interval")

	_, low, high = pairedRatio([]float64{0, 0.1, 0.2, 0.1, 0}, 0.95)
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
			if _, low, high := pairedRatio(logs, 0.95); low <= math.Exp(0.7) && math.Exp(0.7) <= high {
				hits++
			}
		}
		assert.InDelta(t, 0.96, float64(hits)/trials, 0.02, "n=%d seed=%d", n, seed)
	}
}

func TestHolm(t *testing.T) {
	assert.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, holm([]float64{0.01, 0.04, 0.03, 0.005}), 1e-12)
}

func TestSignedRank(t *testing.T) {
	// Ranks 1 and 2 are negative: 5 of 256 sign patterns have a rank sum of 3 or less.
	assert.InDelta(t, 0.0390625, signedRank([]float64{1.1, 2.2, -0.5, 3.1, 0.7, 1.9, -0.2, 2.5}), 1e-9)
	assert.InDelta(t, 1, signedRank([]float64{0, 0}), 1e-9, "nothing differs")
	one := make([]float64, 60)
	for i := range one {
		one[i] = float64(i + 1)
	}
	assert.Less(t, signedRank(one), 1e-9)
}

func TestDoubts(t *testing.T) {
	const seed, trials = 4, 1000
	r := rand.New(rand.NewPCG(seed, 0))
	draw := func(n noise) []float64 {
		values := make([]float64, 20)
		for i := range values {
			values[i] = n(r, i, 0)
		}
		return values
	}
	count := func(n noise, doubt func([]float64) bool) int {
		hits := 0
		for range trials {
			if doubt(draw(n)) {
				hits++
			}
		}
		return hits
	}
	assert.Less(t, count(noises["normal"], twoModes), trials/100, "seed %d", seed)
	assert.Greater(t, count(noises["bimodal"], twoModes), trials*8/10, "seed %d", seed)
	assert.Less(t, count(noises["normal"], drifts), trials*5/100, "seed %d", seed)
	assert.Greater(t, count(noises["drifting"], drifts), trials*9/10, "seed %d", seed)
}
