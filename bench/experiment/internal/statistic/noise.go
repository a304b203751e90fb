package statistic

import (
	"math"
	"slices"
)

// noiseShare is the share of a run's controls that stay within their noise floor: at
// two thirds the floor of a normal difference is its standard error.
const noiseShare = 2. / 3

// A Control is what a baseline differs by from itself, as a ratio with its interval.
type Control struct{ Ratio, Low, High float64 }

// NoiseFloors gives the floor of each control's case, as a share, from all controls of
// a run. What a control differs by from its baseline is one draw, lucky or not. In units
// of its own spread, the half width of its interval, it is one of many from the same law:
// the floor of a case is its control's spread times what most controls stay below.
func NoiseFloors(controls []Control) []float64 {
	floors := make([]float64, len(controls))
	spreads := make([]float64, len(controls)) // of the log-ratio; 0 for none
	var scaled []float64
	for i, x := range controls {
		offset, spread := math.Abs(math.Log(x.Ratio)), math.Log(x.High/x.Low)/2
		if spread > 0 && !math.IsInf(spread, 1) {
			spreads[i], scaled = spread, append(scaled, offset/spread)
		} else {
			floors[i] = math.Expm1(offset) // too few rounds for an interval, or all alike
		}
	}
	if len(scaled) == 0 {
		return floors
	}
	slices.Sort(scaled)
	most := scaled[int(math.Ceil(noiseShare*float64(len(scaled))))-1]
	for i, spread := range spreads {
		if spread > 0 {
			floors[i] = math.Expm1(most * spread)
		}
	}
	return floors
}
