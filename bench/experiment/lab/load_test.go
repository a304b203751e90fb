package lab

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadsOf counts the samples of the load by case.
func loadsOf(samples []experiment.Measurement) map[string]int {
	n := map[string]int{}
	for _, m := range samples {
		if m.Arm == bench.NullSink {
			n[m.Case]++
		}
	}
	return n
}

func withLoads(cases int) experiment.Plan {
	plan := simulated.Plan(cases)
	plan.MaxRounds = plan.MinRounds
	plan.Budget = time.Hour
	for i := range plan.Cases {
		plan.Cases[i].LoadRounds = loadRounds
	}
	return plan
}

// The load takes turns with the arms in the first rounds, and is read back.
func TestExecuteSamplesTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, run, samples, err := execute(t, t.Context(), withLoads(2), fake(nil))
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"queue/op=0": loadRounds, "queue/op=1": loadRounds}, loadsOf(samples))
		places := map[int]bool{}
		for i, s := range run.Schedule {
			if s.Arm == bench.NullSink {
				assert.Less(t, s.Round, loadRounds)
				places[i%(len(run.Plan.Cases[0].Arms)+1)] = true
			}
		}
		assert.Greater(t, len(places), 1, "its place in the round differs")
		_, loaded, err := experiment.Load(dir)
		require.NoError(t, err)
		assert.Equal(t, samples, loaded)
	})
}

// Loads keep to their part of the budget; one that fails leaves the arms alone.
func TestExecuteLimitsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := withLoads(2)
		plan.Budget = 10 * time.Minute
		slow := func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error) {
			if a.Name == bench.NullSink {
				time.Sleep(plan.Budget / 50)
			}
			return fake(nil)(ctx, c, a)
		}
		_, _, samples, err := execute(t, t.Context(), plan, slow)
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"queue/op=0": 1, "queue/op=1": 1}, loadsOf(samples))
	})
	synctest.Test(t, func(t *testing.T) {
		_, run, samples, err := execute(t, t.Context(), withLoads(1), fake(func(_ experiment.PlannedCase, a experiment.Arm) error {
			if a.Name == bench.NullSink {
				return errors.New("exit status 1")
			}
			return nil
		}))
		require.NoError(t, err)
		assert.Empty(t, loadsOf(samples))
		assert.Len(t, samples, run.Plan.MinRounds*len(run.Plan.Cases[0].Arms))
		assert.Contains(t, fmt.Sprint(run.Warnings), "{queue/op=0/null-sink sample 1 failed, so there is no result: exit status 1}")
	})
}
