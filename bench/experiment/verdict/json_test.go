package verdict

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatsJSONHasNoInfinity(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, simulated.WriteResult(dir))
	_, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	stats := Analyse(experiment.Run{Plan: simulated.Plan(1)}, samples)
	row := stats.Components[0].Cases[0].Rows[1]
	require.True(t, math.IsInf(row.Comparison.High, 1), "three rounds have no interval")
	b, err := json.Marshal(stats)
	require.NoError(t, err)
	var back Stats
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, stats, back)
}
