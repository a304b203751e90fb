package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// programs says of each arm how much CPU time a real program takes, against what it takes
// as it is: who reads that asks for a share, not for how many times as fast.
func programs(components []ComponentStats) string {
	var sentences []string
	for _, component := range components {
		for _, c := range component.Cases {
			name := strings.TrimPrefix(c.Name, "program=")
			for _, r := range c.Rows {
				x := r.Comparison
				if x == nil || r.Control {
					continue
				}
				between := fmt.Sprintf("%s to %s", more(1/x.High), more(1/x.Low))
				switch x.Verdict {
				case Faster, Slower:
					sentences = append(sentences, fmt.Sprintf("%s takes %s CPU time with %s than with %s (%s)", name, more(1/x.Ratio), r.Name, c.Baseline, between))
				case Same:
					sentences = append(sentences, fmt.Sprintf("%s: no difference in CPU time was shown beyond noise and chance between %s and %s (%s; noise floor %s)", name, r.Name, c.Baseline, between, wording.Percent(c.NoiseFloor)))
				default:
					sentences = append(sentences, fmt.Sprintf("%s: there are too few rounds to compare %s with %s", name, r.Name, c.Baseline))
				}
			}
		}
	}
	return strings.Join(sentences, ". ") + "."
}

// more writes a ratio as what is more or less than 1.
func more(ratio float64) string {
	if ratio > 1 {
		return wording.Percent(ratio-1) + " more"
	}
	return wording.Percent(math.Abs(1-ratio)) + " less"
}
