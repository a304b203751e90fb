package statistic

import (
	"maps"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A Series is one arm's samples by round.
type Series = map[int]experiment.Values

// ByCase says where in the list the samples of each case are. The series of all
// cases at once would take as much memory as the samples.
func ByCase(samples []experiment.Measurement) map[string][]int32 {
	cases := map[string][]int32{}
	for i, m := range samples {
		cases[m.Case] = append(cases[m.Case], int32(i))
	}
	return cases
}

// ByArm sorts the samples at these places by arm and round.
func ByArm(samples []experiment.Measurement, at []int32) map[string]Series {
	arms := map[string]Series{}
	for _, i := range at {
		m := samples[i]
		if arms[m.Arm] == nil {
			arms[m.Arm] = Series{}
		}
		arms[m.Arm][m.Round] = m.Values
	}
	return arms
}

// LogRatios are the logs of baseline / arm of the rounds that have both.
func LogRatios(baseline, arm Series, unit string) []float64 {
	var logs []float64
	for round, b := range baseline {
		x, _ := b.Get(unit)
		y, ok := arm[round].Get(unit)
		if ok && x > 0 && y > 0 {
			logs = append(logs, math.Log(x/y))
		}
	}
	return logs
}

// Values lists an arm's samples in the order of rounds.
func Values(arm Series, unit string) []float64 {
	values := make([]float64, 0, len(arm))
	for _, round := range slices.Sorted(maps.Keys(arm)) {
		if v, ok := arm[round].Get(unit); ok {
			values = append(values, v)
		}
	}
	return values
}
