package verdict

import (
	"math"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
)

// One lucky control has no floor of zero, one unlucky none of its own: they share
// what two of three stay below, each in its own spread.
func TestPoolNoise(t *testing.T) {
	of := func(offset, spread float64) CaseStats {
		return CaseStats{Rows: []Row{{}, {Arm: experiment.Arm{Control: true}, Comparison: &Comparison{Ratio: math.Exp(offset), Low: math.Exp(offset - spread), High: math.Exp(offset + spread)}}}}
	}
	cases := []CaseStats{of(0, 0.02), of(0.01, 0.02), of(-0.2, 0.04)}
	few := of(0.1, 0.02)
	few.Rows[1].Comparison.Low, few.Rows[1].Comparison.High = 0, math.Inf(1)
	alike, failed := of(0, 0), of(0.3, 0.1)
	failed.Rows[1].Comparison.Verdict = NoResult
	components := []ComponentStats{{Cases: cases}, {Cases: []CaseStats{few, alike, failed, {}}}}
	poolNoise(components)
	assert.InDelta(t, math.Expm1(0.5*0.02), cases[0].NoiseFloor, 1e-9)
	assert.InDelta(t, math.Expm1(0.5*0.02), cases[1].NoiseFloor, 1e-9)
	assert.InDelta(t, math.Expm1(0.5*0.04), cases[2].NoiseFloor, 1e-9)
	rest := components[1].Cases
	assert.InDelta(t, math.Expm1(0.1), rest[0].NoiseFloor, 1e-9, "no interval: its own difference")
	assert.Zero(t, rest[1].NoiseFloor)
	assert.Zero(t, rest[2].NoiseFloor)

	single := []ComponentStats{{Cases: []CaseStats{of(0.03, 0.02)}}}
	poolNoise(single)
	assert.InDelta(t, math.Expm1(0.03), single[0].Cases[0].NoiseFloor, 1e-9, "alone, a control is its own floor")
}
