package verdict

import (
	"math"
	"slices"
)

// noiseShare is the share of a run's controls that stay within their noise floor: at
// two thirds the floor of a normal difference is its standard error.
const noiseShare = 2. / 3

// poolNoise sets the noise floor of every case from all controls of the run. What a
// control differs by from its baseline is one draw, lucky or not. In units of its own
// spread, the half width of its interval, it is one of many from the same law: the
// floor of a case is its control's spread times what most controls stay below.
func poolNoise(components []ComponentStats) {
	type control struct {
		c              *CaseStats
		offset, spread float64 // of the log-ratio
	}
	var controls []control
	var scaled []float64
	for i := range components {
		for j := range components[i].Cases {
			c := &components[i].Cases[j]
			at := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Control })
			if at < 0 || c.Rows[at].Comparison == nil || c.Rows[at].Comparison.Verdict == NoResult {
				continue
			}
			x := c.Rows[at].Comparison
			k := control{c, math.Abs(math.Log(x.Ratio)), math.Log(x.High/x.Low) / 2}
			if k.spread > 0 && !math.IsInf(k.spread, 1) {
				controls = append(controls, k)
				scaled = append(scaled, k.offset/k.spread)
			} else {
				c.NoiseFloor = math.Expm1(k.offset) // too few rounds for an interval, or all alike
			}
		}
	}
	if len(scaled) == 0 {
		return
	}
	slices.Sort(scaled)
	most := scaled[int(math.Ceil(noiseShare*float64(len(scaled))))-1]
	for _, k := range controls {
		k.c.NoiseFloor = math.Expm1(most * k.spread)
	}
}
