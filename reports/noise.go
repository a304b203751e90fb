package reports

import (
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
	return verdict.Summarise(floors, 0.95).Center
}

// known is false for the floor of a case whose control left no ratio.
func known(floor float64) bool { return finite(floor) && floor >= 0 && floor < 1e3 }

func floorText(floor float64) string {
	if !known(floor) {
		return "unknown"
	}
	return wording.Percent(floor)
}
