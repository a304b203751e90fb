package verdict

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rounds of one case in which every arm costs what costs says.
func rounds(n int, costs map[string]float64) (experiment.Run, []experiment.Measurement) {
	run := experiment.Run{Plan: simulated.Plan(1)}
	c := run.Plan.Cases[0]
	var samples []experiment.Measurement
	for round := range n {
		for arm, cost := range costs {
			if arm == bench.NullSink && round >= 3 {
				continue
			}
			busy := 1 + float64(round) // the machine slows down
			samples = append(samples, experiment.Measurement{Round: round, Case: c.Key(), Arm: arm, Values: experiment.NewValues(map[string]float64{c.Unit: cost * busy})})
		}
	}
	return run, samples
}

func TestLoadIsAShareAndAWarning(t *testing.T) {
	costs := map[string]float64{"client-go": 100, "client-go-again": 100, "ring": 20, "sharded": 100, "slice": 400, bench.NullSink: 8}
	stats := Analyse(rounds(10, costs))
	c := stats.Components[0].Cases[0]
	require.Len(t, c.Rows, 5, "the load is no arm")
	assert.Equal(t, 3, c.Load.Samples)
	assert.Equal(t, "ring", c.Load.Of)
	assert.InDelta(t, 0.4, c.Load.Share, 1e-9, "of the same rounds, whatever the machine did later")
	for _, r := range c.Rows {
		assert.InDelta(t, 8/costs[r.Name], r.LoadShare, 1e-9, r.Name)
	}
	assert.Contains(t, fmt.Sprint(stats.Warnings),
		"{queue/op=0 the load itself is 40% of what ring costs (limit 10%), which brings ratios nearer to 1: without it ring would be faster than client-go by more than is shown}")

	costs[bench.NullSink] = 15
	assert.Contains(t, fmt.Sprint(Analyse(rounds(10, costs)).Warnings),
		"the load itself is 75% of what ring costs, 15% of what client-go costs, 15% of what sharded costs (limit 10%), which brings ratios nearer to 1: "+
			"without it ring would be faster than client-go by more than is shown, slice would be slower than client-go by more than is shown}")

	costs[bench.NullSink] = 1
	assert.NotContains(t, fmt.Sprint(Analyse(rounds(10, costs)).Warnings), "the load itself")
}

func TestAQuantileHasNoShare(t *testing.T) {
	const lateness = "late-p99-sec"
	run, samples := rounds(10, map[string]float64{"client-go": 100, "client-go-again": 100, "ring": 20, bench.NullSink: 40})
	unit := run.Plan.Cases[0].Unit
	run.Plan.Cases[0].Unit = lateness
	for i, s := range samples {
		v, _ := s.Values.Get(unit)
		samples[i].Values = experiment.NewValues(map[string]float64{unit: v, lateness: v})
	}
	stats := Analyse(run, samples)
	c := stats.Components[0].Cases[0]
	require.NotNil(t, c.Load)
	assert.Positive(t, c.Load.Metrics[lateness].Center)
	assert.Zero(t, c.Load.Share)
	assert.NotContains(t, fmt.Sprint(stats.Warnings), "the load itself")
}

func TestNoLoadNoShare(t *testing.T) {
	stats := Analyse(rounds(10, map[string]float64{"client-go": 100, "client-go-again": 100, "ring": 20}))
	c := stats.Components[0].Cases[0]
	assert.Nil(t, c.Load)
	for _, r := range c.Rows {
		assert.Zero(t, r.LoadShare)
	}
}
