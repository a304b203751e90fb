package reports

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

func medianFloor(cases []verdict.CaseStats) float64 {
	var floors []float64
	for _, c := range cases {
		if known(c.NoiseFloor) {
			floors = append(floors, c.NoiseFloor)
		}
	}
	return median(floors)
}

// known is false for the floor of a case whose control left no ratio.
func known(floor float64) bool { return finite(floor) && floor >= 0 && floor < 1e3 }

func floorText(floor float64) string {
	if !known(floor) {
		return "unknown"
	}
	return wording.Percent(floor)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}
