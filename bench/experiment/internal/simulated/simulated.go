// Package simulated draws samples whose truth is known: equal arms, or one that
// is slower by a planted share, under noise as machines have it.
package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
)

// A Noise is what one sample of a round is multiplied by; phase is shared by
// all arms of the round, as a busy machine is.
type Noise func(r *rand.Rand, round int, phase float64) float64

// Noises are the kinds by name.
var Noises = map[string]Noise{
	"normal": func(r *rand.Rand, _ int, _ float64) float64 { return 1 + 0.05*r.NormFloat64() },
	"heavy-tailed": func(r *rand.Rand, _ int, _ float64) float64 {
		return math.Exp(0.03 * r.NormFloat64() / math.Sqrt(r.ExpFloat64())) // scale mixture: outliers of ×2 and more
	},
	"bimodal": func(r *rand.Rand, _ int, _ float64) float64 {
		return (1 + 0.02*r.NormFloat64()) * (1 + 0.3*float64(r.IntN(2)))
	},
	"drifting": func(r *rand.Rand, round int, phase float64) float64 {
		return (1 + 0.03*r.NormFloat64()) * (1 + 0.05*float64(round)) * math.Exp(0.2*phase)
	},
}

// Plan has n cases of a baseline, its control and three variants.
func Plan(n int) experiment.Plan {
	p := experiment.Plan{Confidence: 0.95, Precision: 0.025, MinRounds: 10, MaxRounds: 400}
	for i := range n {
		p.Cases = append(p.Cases, experiment.PlannedCase{
			Component: "queue", Name: fmt.Sprintf("op=%d", i), Unit: "sec/op", Baseline: "client-go",
			Arms: []experiment.Arm{
				{Name: "client-go", Variant: "client-go", Peer: true}, {Name: "ring", Variant: "ring"},
				{Name: "slice", Variant: "slice"}, {Name: "sharded", Variant: "sharded"},
				{Name: "client-go" + experiment.ControlSuffix, Variant: "client-go", Control: true},
			},
		})
	}
	return p
}

// Round draws a round of a case; slow multiplies an arm's time.
func Round(r *rand.Rand, n Noise, c experiment.PlannedCase, round int, slow map[string]float64) []experiment.Measurement {
	var samples []experiment.Measurement
	phase := r.NormFloat64()
	for _, a := range c.Arms {
		factor, ok := slow[a.Name]
		if !ok {
			factor = 1
		}
		samples = append(samples, experiment.Measurement{
			Round: round, Case: c.Key(), Arm: a.Name, Values: experiment.NewValues(map[string]float64{c.Unit: factor * n(r, round, phase)}),
		})
	}
	return samples
}

// WriteResult fills dir with the result of three rounds of one case, as of a
// run that died: 100, 101 and 102 ns/op of every arm.
func WriteResult(dir string) error {
	plan := Plan(1)
	c := plan.Cases[0]
	err := atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), experiment.Run{Schema: experiment.SchemaVersion, Plan: plan})
	if err != nil {
		return err
	}
	var raw strings.Builder
	raw.WriteString("goos: linux\ngoarch: amd64\npkg: github.com/informerbench/informerbench/bench\n")
	for round := range 3 {
		fmt.Fprintf(&raw, "%s%d of %s\n", rawtext.RoundMark, round, c.Key())
		for _, a := range c.Arms {
			fmt.Fprintf(&raw, "%s-2\t100\t%d ns/op\n", c.Benchmark(a.Name), 100+round)
		}
	}
	return os.WriteFile(filepath.Join(dir, rawtext.File), []byte(raw.String()), 0o666)
}
