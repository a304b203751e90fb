package lab

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
)

// A slow-down of 10% is found in at least 90 of 100 reports when sampling
// stops at a precision of ±2.5%.
func TestPlantedSlowDownIsFound(t *testing.T) {
	const reports = 40
	for name, n := range simulated.Noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const seed = 2
			r := rand.New(rand.NewPCG(seed, 0))
			plan := simulated.Plan(1)
			c := plan.Cases[0]
			found := 0
			for range reports {
				p := &progress{plan: c, width: math.Inf(1)}
				for p.rounds < plan.MaxRounds && (p.rounds < plan.MinRounds || p.width > plan.Precision) {
					p.samples = append(p.samples, simulated.Round(r, n, c, p.rounds, map[string]float64{"sharded": 1.1})...)
					p.rounds++
					p.width = widest(plan, p)
				}
				for _, row := range verdict.Analyse(experiment.Run{Plan: plan}, p.samples).Components[0].Cases[0].Rows {
					if row.Name == "sharded" && row.Comparison.Verdict == verdict.Slower {
						found++
					}
				}
			}
			assert.GreaterOrEqualf(t, found, reports*9/10, "of %d planted slow-downs found, seed %d", reports, seed)
		})
	}
}
