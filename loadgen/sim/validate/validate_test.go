package validate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Everything is fixed by the seed, so this finds the same figures every time.
// The models that need more than that are left to `benchrun sim validate`.
func TestSimulationAgreesWithTheory(t *testing.T) {
	var models []Model
	for _, m := range Models() {
		if m.Utilisation < 0.6 && m.Workers < 20 && m.Service != "gamma(10ms, 2)" {
			models = append(models, m)
		}
	}
	const seed = 1
	rows, err := Theory(t.Context(), models, Options{Seed: seed, Arrivals: 60_000, Batch: 4, Most: 4})
	require.NoError(t, err)
	require.Len(t, rows, len(models)+1)
	for _, r := range rows {
		t.Logf("%-7s ρ=%.2f %-12s theory %v simulated %.6gs [%.6g, %.6g] %+.2f %%", r.Model, r.Utilisation, r.Service,
			r.Theory, r.Simulated.Mean, r.Simulated.Low, r.Simulated.High, 100*r.Difference)
		assert.True(t, r.Agrees(), "%s at %v, seed %d: difference %.4f", r.Model, r.Utilisation, seed, r.Difference)
	}
	assert.InDelta(t, 0, rows[len(models)].Difference, 1e-9, "the token bucket is exact")
}

func TestRecordedRunCoversTheModels(t *testing.T) {
	rows := Recorded()
	models := Models()
	require.Len(t, rows, len(models)+1)
	for i, m := range models {
		assert.Equal(t, m.Name, rows[i].Model)
		assert.Equal(t, m.Wait, rows[i].Theory)
		assert.Equal(t, m.Service, rows[i].Service)
	}
	for _, r := range rows {
		assert.True(t, r.Agrees(), "%+v", r)
	}
}
