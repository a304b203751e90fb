package calibration

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// simulatedReports is how many reports each noise gets: enough for an interval
// that ends below 5% when 2% are wrong.
const simulatedReports = 400

// simulatedChecks counts reports with a false verdict on simulated equal arms:
// eight cases of three variants, twelve rounds.
var simulatedChecks = func() func(seed uint64) []Check {
	var mu sync.Mutex
	known := map[uint64][]Check{}
	return func(seed uint64) []Check {
		mu.Lock()
		defer mu.Unlock()
		if known[seed] == nil {
			known[seed] = simulate(seed, simulatedReports)
		}
		return slices.Clone(known[seed])
	}
}()

func simulate(seed uint64, reports int) []Check {
	plan := simulated.Plan(8)
	var checks []Check
	for _, name := range slices.Sorted(maps.Keys(simulated.Noises)) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := Check{Name: "equal variants, simulated " + name + " times", Evidence: "simulated", Runs: reports, Promise: 0.05}
		for range reports {
			var samples []experiment.Measurement
			for _, planned := range plan.Cases {
				for round := range 12 {
					samples = append(samples, simulated.Round(r, simulated.Noises[name], planned, round, nil)...)
				}
			}
			if v := verdict.Analyse(experiment.Run{Plan: plan}, samples).Verdicts(); v[verdict.Faster]+v[verdict.Slower] > 0 {
				c.Hits++
			}
		}
		c.Low, c.High = shareInterval(c.Hits, c.Runs)
		checks = append(checks, c)
	}
	return checks
}
