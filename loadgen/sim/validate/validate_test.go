package validate

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "simulate every model long enough for intervals within 2 %")

// Everything is fixed by the seed, so this finds the same figures every time.
func TestSimulationAgreesWithTheory(t *testing.T) {
	const seed = 1
	replicas, arrivals := 4, 200_000
	models := Models()
	if *long {
		replicas, arrivals = 16, 10_000_000
	} else {
		short := models[:0]
		for _, m := range models {
			if m.Utilisation < 0.9 && m.Workers < 20 && m.Utilisation*float64(m.Workers) < 4.5 && m.Service != "gamma(10ms, 2)" {
				short = append(short, m)
			}
		}
		models = short
	}
	rows, err := Theory(t.Context(), models, seed, replicas, arrivals)
	require.NoError(t, err)
	for _, r := range rows {
		t.Logf("%-7s c=%-2d ρ=%.2f %-28s theory %10v simulated %.6gs [%.6g, %.6g] %+.2f %%", r.Model, r.Workers, r.Utilisation, r.Service,
			r.Theory, r.Simulated.Mean, r.Simulated.Low, r.Simulated.High, 100*r.Difference)
		assert.InDelta(t, 0, r.Difference, 0.02, "%s at %v, seed %d", r.Model, r.Utilisation, seed)
	}
}
