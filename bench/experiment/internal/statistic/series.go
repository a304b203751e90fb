package statistic

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A Series is one arm's samples by round.
type Series = map[int]experiment.Values

// ByArm sorts samples by case, arm and round.
func ByArm(samples []experiment.Measurement) map[string]map[string]Series {
	cases := map[string]map[string]Series{}
	for _, m := range samples {
		arms := cases[m.Case]
		if arms == nil {
			arms = map[string]Series{}
			cases[m.Case] = arms
		}
		if arms[m.Arm] == nil {
			arms[m.Arm] = Series{}
		}
		arms[m.Arm][m.Round] = m.Values
	}
	return cases
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
	rounds := make([]int, 0, len(arm))
	for round := range arm {
		rounds = append(rounds, round)
	}
	slices.Sort(rounds)
	var values []float64
	for _, round := range rounds {
		if v, ok := arm[round].Get(unit); ok {
			values = append(values, v)
		}
	}
	return values
}
