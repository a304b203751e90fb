package reports

import (
	"fmt"
	"math"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A confidence says in one word how far the decision may be trusted, and why.
type confidence struct {
	Word    string // "solid", "fair", "weak"
	Meaning string // what to do about it
	Reasons []string
}

// The limits of judge, on a component's median noise floor and on the share of
// comparisons without a verdict.
const quietFloor, noisyFloor, manyOpen = 0.05, 0.20, 0.25

// judge weighs what the run says about itself: why it stopped, how far the
// baseline was from itself, and how many comparisons have a verdict.
func judge(run experiment.Run, stats verdict.Stats) confidence {
	var cases []verdict.CaseStats
	compared, open, different, fewest := 0, 0, 0, math.MaxInt
	worst := 0.0
	for _, component := range stats.Components {
		for _, c := range component.Cases {
			cases = append(cases, c)
			if known(c.NoiseFloor) {
				worst = max(worst, c.NoiseFloor)
			}
			for _, r := range c.Rows {
				if r.Comparison == nil || r.Control {
					continue
				}
				compared++
				fewest = min(fewest, r.Samples)
				switch r.Comparison.Verdict {
				case verdict.Faster, verdict.Slower:
					different++
				case verdict.Same:
				default:
					open++
				}
			}
		}
	}
	if compared == 0 {
		return confidence{"weak", "Nothing can be decided from this run.", []string{"no comparison was completed"}}
	}
	floor := medianFloor(cases)
	c := confidence{Reasons: []string{
		fmt.Sprintf("%d of %s differ by more than noise", different, wording.Count(compared, "comparison")),
		wording.Count(fewest, "sample") + " or more behind each",
	}}
	if known(floor) {
		c.Reasons = append(c.Reasons, fmt.Sprintf("noise floor %s in the median case, %s in the worst", wording.Percent(floor), wording.Percent(worst)))
	}
	if open > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d without a verdict", open))
	}
	ordered := run.Stopped == "precision" || run.Stopped == "rounds" || run.Stopped == "budget"
	c.Reasons = append(c.Reasons, stopped(run))
	switch {
	case !ordered || !known(floor) || floor > noisyFloor || float64(open) > manyOpen*float64(compared):
		c.Word, c.Meaning = "weak", "Treat the decision as a hint and run it again, longer or on a quieter machine."
	case floor <= quietFloor && open == 0:
		c.Word, c.Meaning = "solid", "The verdicts below stand on this machine and load."
	default:
		c.Word, c.Meaning = "fair", "Large differences stand; for small ones run longer or on a quieter machine."
	}
	return c
}
