package predict

import (
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQueueCosts(t *testing.T) {
	sample := func(name, arm string, seconds float64) experiment.Measurement {
		return experiment.Measurement{Case: name, Arm: arm, Values: experiment.NewValues(map[string]float64{"cpu-sec/op": seconds})}
	}
	costs, err := QueueCosts([]experiment.Measurement{
		sample(successCase, "mine", 100e-9), sample(successCase, "mine", 300e-9), sample(successCase, "mine", 110e-9),
		sample(retryCase, "mine", 400e-9), sample(successCase, "half", 1e-9),
		sample(priorityCase, "levels", 500e-9), sample(priorityCase, "controller-runtime-again", 1),
	})
	require.NoError(t, err)
	require.Len(t, costs, 2)
	assert.Equal(t, QueueCost{"levels", true, 500e-9, 500e-9}, costs[0])
	assert.InDelta(t, 110e-9, costs[1].Item, 1e-15)
	assert.InDelta(t, 290e-9, costs[1].Retry, 1e-15)
	_, err = QueueCosts(nil)
	assert.ErrorContains(t, err, "found no queue's cost, expected samples of rate-limiting-queue/op=success")

	s := Defaults()
	s.Workers = 1
	s.Queue = "mnie"
	assert.EqualError(t, s.Check(costs), `queue: found "mnie", expected one of levels, mine`)
	s.Queue = "levels"
	assert.EqualError(t, s.Check(costs), "queue: found levels with priority off, expected one of mine")
}
