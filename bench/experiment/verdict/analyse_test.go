package verdict

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
)

// Reports that compare equal variants claim a difference in at most 5 of 100.
// Over 2,000 reports it was 0 to 1.9 of 100, so 400 tell reliably; 40 don't.
func TestNoFalseVerdicts(t *testing.T) {
	const reports, rounds = 400, 12
	for name, n := range simulated.Noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const seed = 1
			r := rand.New(rand.NewPCG(seed, 0))
			plan := simulated.Plan(8)
			wrong := 0
			for range reports {
				var samples []experiment.Measurement
				for _, c := range plan.Cases {
					for round := range rounds {
						samples = append(samples, simulated.Round(r, n, c, round, nil)...)
					}
				}
				if v := Analyse(experiment.Run{Plan: plan}, samples).Verdicts(); v[Faster]+v[Slower] > 0 {
					wrong++
				}
			}
			assert.LessOrEqualf(t, wrong, reports/20, "of %d reports with a false verdict, seed %d", reports, seed)
		})
	}
}

// Ten times as fast in each round, but the baseline has failed in most of them.
func TestTooFewRoundsOfBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	plan := simulated.Plan(1)
	var samples []experiment.Measurement
	for round := range 20 {
		for _, m := range simulated.Round(r, simulated.Noises["normal"], plan.Cases[0], round, map[string]float64{"ring": 0.1}) {
			if m.Arm != "client-go" || round < 5 {
				samples = append(samples, m)
			}
		}
	}
	stats := Analyse(experiment.Run{Plan: plan}, samples)
	assert.Equal(t, map[Verdict]int{TooFew: 4}, stats.Verdicts(), "and not that no difference was shown")
	assert.Equal(t, "Too few samples to decide on queue.", stats.Decision)
}

// Ten times as fast in each of six rounds, which is as clear as six rounds can be and
// could be chance among 24 comparisons.
func TestTooFewRoundsForSoMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for cases, want := range map[int]map[Verdict]int{2: {Faster: 6, Same: 2}, 8: {TooFew: 24, Same: 8}} {
		plan := simulated.Plan(cases)
		var samples []experiment.Measurement
		for _, c := range plan.Cases {
			for round := range 6 {
				samples = append(samples, simulated.Round(r, simulated.Noises["normal"], c, round, map[string]float64{"ring": 0.1, "slice": 0.1, "sharded": 0.1})...)
			}
		}
		stats := Analyse(experiment.Run{Plan: plan}, samples)
		assert.Equal(t, want, stats.Verdicts(), "%d cases", cases)
		if cases == 8 {
			assert.Equal(t, "Too few samples to decide on queue.", stats.Decision)
			assert.Contains(t, fmt.Sprint(stats.Warnings), "24 comparisons can't have a verdict, however large the difference: among 24 comparisons that takes 7 samples of each variant")
		}
	}
}

func TestDoubts(t *testing.T) {
	const seed, trials = 4, 1000
	r := rand.New(rand.NewPCG(seed, 0))
	draw := func(n simulated.Noise) []float64 {
		values := make([]float64, 20)
		for i := range values {
			values[i] = n(r, i, 0)
		}
		return values
	}
	count := func(n simulated.Noise, doubt func([]float64) bool) int {
		hits := 0
		for range trials {
			if doubt(draw(n)) {
				hits++
			}
		}
		return hits
	}
	assert.Less(t, count(simulated.Noises["normal"], twoModes), trials/100, "seed %d", seed)
	assert.Greater(t, count(simulated.Noises["bimodal"], twoModes), trials*8/10, "seed %d", seed)
	assert.Less(t, count(simulated.Noises["normal"], drifts), trials*5/100, "seed %d", seed)
	assert.Greater(t, count(simulated.Noises["drifting"], drifts), trials*9/10, "seed %d", seed)
}

// Adding and taking away values one by one gives the mean and the squares of those
// that are left.
func TestGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var g group
	var values []float64
	for range 50 {
		x := 5 + r.NormFloat64()
		values = append(values, x)
		g.add(x, 1)
	}
	for len(values) > 1 {
		g.add(values[0], -1)
		values = values[1:]
		mean, squares := 0.0, 0.0
		for _, x := range values {
			mean += x / float64(len(values))
		}
		for _, x := range values {
			squares += (x - mean) * (x - mean)
		}
		assert.InDelta(t, mean, g.mean, 1e-9)
		assert.InDelta(t, squares, g.squares, 1e-9)
	}
}
