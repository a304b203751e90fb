package app

import (
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
)

func TestResultsOfSeveralRuns(t *testing.T) {
	planned := func(names ...string) (run experiment.Run) {
		for _, name := range names {
			run.Plan.Cases = append(run.Plan.Cases, experiment.PlannedCase{Component: "queue", Name: name})
		}
		return run
	}
	sampled := func(round int, names ...string) (all []experiment.Measurement) {
		for _, name := range names {
			all = append(all, experiment.Measurement{Round: round, Case: "queue/" + name})
		}
		return all
	}
	first, samples := planned("a", "b", "c"), sampled(0, "a", "b", "c", "b")
	run, all := joinRuns(first, samples, planned("d", "b"), sampled(1, "d", "b"))
	assert.Equal(t, planned("a", "b", "c", "d"), run)
	assert.Equal(t, append(sampled(0, "a", "c"), sampled(1, "d", "b")...), all)
	assert.Equal(t, planned("a", "b", "c"), first, "the first run is as it was")
	assert.Len(t, samples, 4)
}
