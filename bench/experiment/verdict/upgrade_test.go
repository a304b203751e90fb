package verdict

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/simulated"
	"github.com/stretchr/testify/assert"
)

// A plan of releases ends with what an upgrade changes, not with a choice.
func TestUpgrades(t *testing.T) {
	plan := simulated.Plan(2)
	plan.Profile = experiment.Releases
	arms := []experiment.Arm{
		{Name: "v1", Variant: "v1", Summary: "lib v1", Peer: true}, {Name: "v2", Variant: "v2", Summary: "lib v2", Peer: true},
		{Name: "v3", Variant: "v3", Summary: "lib v3", Peer: true}, {Name: "v1-again", Variant: "v1", Control: true},
	}
	r := rand.New(rand.NewPCG(1, 1))
	var samples []experiment.Measurement
	for i := range plan.Cases {
		plan.Cases[i].Baseline, plan.Cases[i].Arms = "v1", arms
		slow := map[string]float64{"v3": 0.5}
		if i == 0 {
			slow["v2"] = 2
		}
		for round := range 12 {
			samples = append(samples, simulated.Round(r, simulated.Noises["normal"], plan.Cases[i], round, slow)...)
		}
	}
	s := Analyse(experiment.Run{Plan: plan}, samples)
	assert.Regexp(t, `^lib from v1 to v2: slower in queue/op=0 \(0\.\d+×\); no difference shown in 1 case\. lib from v1 to v3: faster in queue/op=0 \([12]\.\d+×\), queue/op=1 \([12]\.\d+×\)\.$`, s.Decision)
	assert.Equal(t, s.Decision, s.Components[0].Decision)
	assert.Equal(t, "a, b, c, d, e and 2 more", someOf([]string{"a", "b", "c", "d", "e", "f", "g"}))
}
