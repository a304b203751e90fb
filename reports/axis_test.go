package reports

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// Ratios without an interval stretch the axis themselves: dots of different
// ratios must not meet at its edge.
func TestAxisWithoutIntervals(t *testing.T) {
	var rows []verdict.Row
	for name, ratio := range map[string]float64{"fast": 3.81, "faster": 2.63, "slow": 0.3} {
		rows = append(rows, verdict.Row{Arm: experiment.Arm{Name: name, Variant: name},
			Comparison: &verdict.Comparison{Ratio: ratio, Low: math.NaN(), High: math.NaN(), Verdict: verdict.TooFew}})
	}
	rows = append(rows, verdict.Row{Comparison: &verdict.Comparison{Ratio: 1, High: math.Inf(1), Verdict: verdict.NoResult}})
	a := newAxis(verdict.Stats{Components: []verdict.ComponentStats{{Cases: []verdict.CaseStats{{Rows: rows}}}}})
	assert.Equal(t, -2, a.From)
	assert.Equal(t, 2, a.To)
	assert.Less(t, a.at(2.63), a.at(3.81))
	assert.Less(t, a.at(3.81), 100.)
	assert.Positive(t, a.at(0.3))
}
