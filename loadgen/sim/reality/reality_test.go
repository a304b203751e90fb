package reality

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A short drive shows that both see the same events; how near their times are
// depends on what else the machine does, and is for `benchrun sim validate
// --drive`.
func TestCompareDrivesAndSimulatesTheSame(t *testing.T) {
	service, err := randvar.Parse("exp(20ms)")
	require.NoError(t, err)
	var done []Row
	rows, err := Compare(t.Context(), Options{
		Arrivals: []string{"onoff"}, Utilisations: []float64{0.8}, Workers: 2, Service: service, Duration: time.Second, Seed: 3,
		Done: func(r Row) { done = append(done, r) },
	})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.Equal(t, rows, done)
	assert.Positive(t, rows[0].Reconciles)
	assert.Positive(t, rows[0].Handover)
	assert.Positive(t, rows[0].DrivenP99)
	assert.Positive(t, rows[0].SimulatedP99)
}

func TestAgrees(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		row  Row
		want bool
	}{
		{"both within 15%", Row{DrivenP50: 100 * ms, SimulatedP50: 86 * ms, DrivenP99: 100 * ms, SimulatedP99: 114 * ms}, true},
		{"the median is not", Row{DrivenP50: 100 * ms, SimulatedP50: 84 * ms, DrivenP99: 100 * ms, SimulatedP99: 100 * ms}, false},
		{"the tail is not", Row{DrivenP50: 100 * ms, SimulatedP50: 100 * ms, DrivenP99: 100 * ms, SimulatedP99: 116 * ms}, false},
		{"nothing waits", Row{DrivenP50: 9 * time.Microsecond, DrivenP99: 100 * ms, SimulatedP99: 100 * ms}, true},
	} {
		assert.Equal(t, tt.want, tt.row.Agrees(), tt.name)
	}
}

func TestCompareRefusesOverload(t *testing.T) {
	_, err := Compare(t.Context(), Options{Utilisations: []float64{1}})
	assert.ErrorContains(t, err, "utilisation: found 1, expected")
}

func TestRecordedComparisonAgrees(t *testing.T) {
	rows := Recorded()
	require.Len(t, rows, 6)
	for i, utilisation := range []float64{0.5, 0.8, 0.95, 0.5, 0.8, 0.95} {
		assert.Equal(t, []string{"poisson", "onoff"}[i/3], rows[i].Arrivals)
		assert.Equal(t, utilisation, rows[i].Utilisation)
		assert.Positive(t, rows[i].Reconciles)
		assert.True(t, rows[i].Agrees(), "%+v", rows[i])
	}
}
