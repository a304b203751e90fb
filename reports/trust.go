package reports

import (
	"fmt"
	"math"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim/reality"
	"github.com/informerbench/informerbench/loadgen/sim/validate"
)

// A trust is how near the simulation came to what is known, in a table's rows.
type trust struct {
	Theory  [][5]string // model, utilisation, wait by theory, simulated, difference
	Worst   string      // the largest difference from theory
	Reality [][6]string // arrivals, utilisation, p50 driven, simulated, p99 driven, simulated
}

// recordedTrust reads the validation that came with this program.
func recordedTrust() trust {
	var t trust
	worst := 0.0
	for _, r := range validate.Recorded() {
		worst = max(worst, math.Abs(r.Difference))
		t.Theory = append(t.Theory, [5]string{
			r.Model + ", service " + r.Service, wording.Percent(r.Utilisation),
			durations.Text(r.Theory), durations.Seconds(r.Simulated.Mean), fmt.Sprintf("%+.2f%%", 100*r.Difference),
		})
	}
	t.Worst = wording.Percent(worst)
	kinds := map[string]string{"poisson": "at random", "onoff": "in bursts"}
	wait := durations.Text
	for _, r := range reality.Recorded() {
		t.Reality = append(t.Reality, [6]string{
			kinds[r.Arrivals], wording.Percent(r.Utilisation), wait(r.DrivenP50), wait(r.SimulatedP50), wait(r.DrivenP99), wait(r.SimulatedP99),
		})
	}
	return t
}
