package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/impl"
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

// dropIn reports whether a variant may stand where the baseline stands: it keeps
// every clause that the baseline keeps, but that it may want a MetricsProvider.
func dropIn(c ComponentStats, relaxes []string) bool {
	i := slices.IndexFunc(c.Ranking, func(r Rank) bool { return r.Variant == baselineOf(c) })
	return !slices.ContainsFunc(relaxes, func(clause string) bool {
		return clause != impl.ExplicitProvider && (i < 0 || !slices.Contains(c.Ranking[i].Relaxes, clause))
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

// Pick is the variant to use: the winner, or the baseline, and then false.
func (c ComponentStats) Pick() (Rank, bool) {
	if best, ok := winner(c); ok {
		return best, true
	}
	return Rank{Variant: baselineOf(c)}, false
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
	s += ", a full drop-in"
	if slices.Contains(best.Relaxes, impl.ExplicitProvider) {
		s += " if its configuration has a MetricsProvider"
	}
	return s + runnersUp(c, best) + "."
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

// named is how many components a headline names; the table has them all.
const named = 3

// overall is the report's headline: what to replace and what that brings, what to
// keep, and on what nothing can be said. Of one component it is that one's decision.
func overall(components []ComponentStats) string {
	var use []replacement
	var keep, open, alone []string
	for _, c := range components {
		best, ok := winner(c)
		switch {
		case ok:
			use = append(use, replacing(c, best))
		case !compared(c):
			alone = append(alone, fmt.Sprintf("%s (%s alone)", spoken(c.Component), baselineOf(c)))
		case undecided(c):
			open = append(open, spoken(c.Component))
		default:
			keep = append(keep, spoken(c.Component))
		}
	}
	if len(components) == 1 && len(use) == 1 {
		return decide(components[0])
	}
	slices.SortStableFunc(use, func(a, b replacement) int {
		if a.headline != b.headline {
			if a.headline {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.ratio, a.ratio)
	})
	var s, what, gains []string
	for i, r := range use {
		what = append(what, "the "+r.component)
		if i < named {
			gains = append(gains, r.gain)
		}
	}
	if len(use) > 0 {
		s = append(s, fmt.Sprintf("Replace %s: %s.", listed(what), strings.Join(gains, ", ")))
	}
	if len(keep) > 0 {
		s = append(s, fmt.Sprintf("Keep your %s: nothing better was shown.", listed(keep)))
	}
	if len(alone) > 0 {
		s = append(s, fmt.Sprintf("Nothing to compare was measured for %s.", listed(alone)))
	}
	if len(open) > 0 {
		s = append(s, fmt.Sprintf("Too few samples to decide on %s.", listed(open)))
	}
	return strings.Join(s, " ")
}

// A replacement is a component that has a better drop-in.
type replacement struct {
	component, gain string
	headline        bool // a headline case shows the gain
	ratio           float64
}

func replacing(c ComponentStats, best Rank) replacement {
	r := replacement{spoken(c.Component), wording.Times(best.Ratio) + " the " + spoken(c.Component), false, best.Ratio}
	for _, cs := range c.Cases {
		i := slices.IndexFunc(cs.Rows, func(r Row) bool { return r.Variant == best.Variant && !r.Control && r.Comparison != nil })
		if cs.Headline != "" && i >= 0 && cs.Rows[i].Comparison.Verdict == Faster {
			ratio := cs.Rows[i].Comparison.Ratio
			return replacement{r.component, wording.Times(ratio) + " " + cs.Headline, true, ratio}
		}
	}
	return r
}

// spoken is a component's name in a sentence.
func spoken(component string) string {
	return strings.ReplaceAll(strings.ReplaceAll(component, "-", " "), "fifo", "FIFO")
}

// listed joins names; of many it names the first.
func listed(names []string) string {
	rest := ""
	switch n := len(names); {
	case n > named+1:
		names, rest = names[:named], fmt.Sprintf("%d others", n-named)
	case n > 1:
		names, rest = names[:n-1], names[n-1]
	default:
		return strings.Join(names, "")
	}
	return strings.Join(names, ", ") + " and " + rest
}
