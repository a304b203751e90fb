package verdict

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// upgrades says of each release what changes for who comes from the baseline:
// nothing is to be chosen by the sum over a component here.
func upgrades(cases []experiment.PlannedCase, components []ComponentStats) string {
	if len(cases) == 0 {
		return ""
	}
	var sentences []string
	for _, release := range cases[0].Arms {
		if release.Control || release.Name == cases[0].Baseline {
			continue
		}
		var faster, slower []string
		same, unknown := 0, 0
		for _, component := range components {
			for _, c := range component.Cases {
				for _, r := range c.Rows {
					if r.Name != release.Name || r.Comparison == nil {
						continue
					}
					what := fmt.Sprintf("%s/%s (%s)", component.Component, c.Name, wording.Times(r.Comparison.Ratio))
					switch r.Comparison.Verdict {
					case Faster:
						faster = append(faster, what)
					case Slower:
						slower = append(slower, what)
					case Same:
						same++
					default:
						unknown++
					}
				}
			}
		}
		var parts []string
		if len(slower) > 0 {
			parts = append(parts, "slower in "+someOf(slower))
		}
		if len(faster) > 0 {
			parts = append(parts, "faster in "+someOf(faster))
		}
		if same > 0 {
			parts = append(parts, "no difference shown in "+wording.Count(same, "case"))
		}
		if unknown > 0 {
			parts = append(parts, "too few samples of "+wording.Count(unknown, "case"))
		}
		sentences = append(sentences, fmt.Sprintf("%s from %s to %s: %s.", strings.TrimSuffix(release.Summary, " "+release.Name), cases[0].Baseline, release.Name, strings.Join(parts, "; ")))
	}
	return strings.Join(sentences, " ")
}

// someOf names up to five.
func someOf(names []string) string {
	const limit = 5
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}
