package verdict

import (
	"slices"

	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
)

// poolNoise sets the noise floor of every case from all controls of the run.
func poolNoise(components []ComponentStats) {
	var cases []*CaseStats
	var controls []statistic.Control
	for i := range components {
		for j := range components[i].Cases {
			c := &components[i].Cases[j]
			at := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Control })
			if at < 0 || c.Rows[at].Comparison == nil || c.Rows[at].Comparison.Verdict == NoResult {
				continue
			}
			x := c.Rows[at].Comparison
			cases, controls = append(cases, c), append(controls, statistic.Control{Ratio: x.Ratio, Low: x.Low, High: x.High})
		}
	}
	for i, floor := range statistic.NoiseFloors(controls) {
		cases[i].NoiseFloor = floor
	}
}
