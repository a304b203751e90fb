package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// rank orders a component's variants by the geometric mean of their ratios. A
// variant that has no ratio in some case comes after those that have all:
// means over different cases can't be compared.
func rank(cases []CaseStats) []Rank {
	var order []string
	ranks := map[string]*Rank{}
	ratios := map[string][]float64{}
	for _, c := range cases {
		for _, r := range c.Rows {
			if r.Control {
				continue
			}
			if ranks[r.Variant] == nil {
				ranks[r.Variant] = &Rank{Variant: r.Variant, Peer: r.Peer, Relaxes: r.Relaxes}
				order = append(order, r.Variant)
			}
			if r.Samples == 0 {
				continue
			}
			ratio := 1.0 // of the baseline
			if x := r.Comparison; x != nil {
				if x.Verdict == NoResult {
					continue
				}
				ratio = x.Ratio
				switch x.Verdict {
				case Faster:
					ranks[r.Variant].Faster++
				case Slower:
					ranks[r.Variant].Slower++
				}
			}
			ranks[r.Variant].Cases++
			ratios[r.Variant] = append(ratios[r.Variant], ratio)
		}
	}
	ranking := make([]Rank, 0, len(order))
	for _, variant := range order {
		r := *ranks[variant]
		if len(ratios[variant]) > 0 {
			r.Ratio, r.Worst = statistic.Geomean(ratios[variant]), slices.Min(ratios[variant])
		}
		ranking = append(ranking, r)
	}
	slices.SortStableFunc(ranking, func(a, b Rank) int {
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(b.Ratio, a.Ratio))
	})
	return ranking
}

// dropIn reports whether a variant may stand where the baseline stands: it
// keeps every clause that the baseline keeps.
func dropIn(c ComponentStats, relaxes []string) bool {
	i := slices.IndexFunc(c.Ranking, func(r Rank) bool { return r.Variant == baselineOf(c) })
	return !slices.ContainsFunc(relaxes, func(clause string) bool {
		return i < 0 || !slices.Contains(c.Ranking[i].Relaxes, clause)
	})
}

// winner is the best drop-in that ran every case, was shown to be faster in at
// least one and slower in fewer; false if none.
func winner(c ComponentStats) (Rank, bool) {
	for _, r := range c.Ranking {
		if r.Variant != baselineOf(c) && dropIn(c, r.Relaxes) && r.Cases == len(c.Cases) && r.Ratio > 1 && r.Faster > r.Slower {
			return r, true
		}
	}
	return Rank{}, false
}

func baselineOf(c ComponentStats) string {
	if len(c.Cases) == 0 {
		return "the baseline"
	}
	return c.Cases[0].Baseline
}

// decide is a component's sentence.
func decide(c ComponentStats) string {
	best, ok := winner(c)
	if !ok && undecided(c) {
		return "There are too few samples to tell whether anything is faster than " + baselineOf(c) + "."
	}
	if !ok {
		return "Keep " + baselineOf(c) + ": " + whyNot(c) + runnersUp(c, Rank{Ratio: 1}) + "."
	}
	s := fmt.Sprintf("Use %s: %s as fast as %s", best.Variant, wording.Times(best.Ratio), baselineOf(c))
	if n := len(c.Cases); n > 1 {
		s += fmt.Sprintf(" over %s (geometric mean; %s in the worst)", wording.Count(n, "case"), wording.Times(best.Worst))
		if best.Faster < n {
			s += fmt.Sprintf(", shown in %d of them", best.Faster)
		}
	}
	if best.Slower > 0 {
		s += fmt.Sprintf(", although slower in %s", wording.Count(best.Slower, "case"))
	}
	return s + ", a full drop-in" + runnersUp(c, best) + "."
}

// whyNot says honestly what kind of nothing was found.
func whyNot(c ComponentStats) string {
	verdicts := map[Verdict]int{}
	floor := 0.0
	for _, cs := range c.Cases {
		for _, r := range cs.Rows {
			if r.Comparison != nil && !r.Control && dropIn(c, r.Relaxes) {
				verdicts[r.Comparison.Verdict]++
			}
		}
		floor = math.Max(floor, cs.NoiseFloor)
	}
	switch {
	case len(verdicts) == 0:
		return "no other full drop-in was measured"
	case verdicts[Faster] > 0:
		return "no full drop-in is faster on balance over all cases"
	case verdicts[Same] > 0:
		return fmt.Sprintf("no full drop-in was shown to be faster (noise floor %s)", wording.Percent(floor))
	case verdicts[TooFew]+verdicts[NoResult] > 0:
		return "every full drop-in with a verdict is slower"
	}
	return "every full drop-in is slower"
}

// compared reports that a variant was measured beside the baseline.
func compared(c ComponentStats) bool {
	return slices.ContainsFunc(c.Ranking, func(r Rank) bool { return r.Variant != baselineOf(c) })
}

// undecided reports that no full drop-in has a verdict.
func undecided(c ComponentStats) bool {
	rivals := 0
	for _, cs := range c.Cases {
		for _, r := range cs.Rows {
			if r.Comparison == nil || r.Control || !dropIn(c, r.Relaxes) {
				continue
			}
			rivals++
			if v := r.Comparison.Verdict; v != TooFew && v != NoResult {
				return false
			}
		}
	}
	return rivals > 0
}

// runnersUp names variants that beat the winner by giving up clauses.
func runnersUp(c ComponentStats, best Rank) string {
	var s []string
	for _, r := range c.Ranking {
		if !dropIn(c, r.Relaxes) && r.Cases == len(c.Cases) && r.Faster > r.Slower && r.Ratio > best.Ratio {
			s = append(s, fmt.Sprintf("%s is %s as fast but relaxes %s", r.Variant, wording.Times(r.Ratio), strings.Join(r.Relaxes, ", ")))
		}
	}
	if len(s) == 0 {
		return ""
	}
	return "; " + strings.Join(s, "; ")
}

// overall is the report's first sentences.
func overall(components []ComponentStats) string {
	var use, keep, open, alone []string
	low, high := math.Inf(1), 0.0
	for _, c := range components {
		best, ok := winner(c)
		if !ok && !compared(c) {
			alone = append(alone, fmt.Sprintf("%s (%s alone)", c.Component, baselineOf(c)))
			continue
		}
		if !ok && undecided(c) {
			open = append(open, c.Component)
			continue
		}
		if !ok {
			keep = append(keep, fmt.Sprintf("%s (%s)", c.Component, baselineOf(c)))
			continue
		}
		use = append(use, fmt.Sprintf("%s=%s", c.Component, best.Variant))
		low, high = math.Min(low, best.Ratio), math.Max(high, best.Ratio)
	}
	var s []string
	if len(use) > 0 {
		gain := wording.Times(low)
		if wording.Times(high) != gain {
			gain = fmt.Sprintf("%s to %s", gain, wording.Times(high))
		}
		what := "full drop-ins, %s as fast as what they replace"
		if len(use) == 1 {
			what = "a full drop-in, %s as fast as what it replaces"
		}
		s = append(s, fmt.Sprintf("Use %s: "+what+".", strings.Join(use, ", "), gain))
	}
	if len(keep) > 0 {
		s = append(s, fmt.Sprintf("Keep what you have for %s: nothing better was shown.", strings.Join(keep, ", ")))
	}
	if len(alone) > 0 {
		s = append(s, fmt.Sprintf("Nothing to compare was measured for %s.", strings.Join(alone, ", ")))
	}
	if len(open) > 0 {
		s = append(s, fmt.Sprintf("Too few samples to decide on %s.", strings.Join(open, ", ")))
	}
	return strings.Join(s, " ")
}
