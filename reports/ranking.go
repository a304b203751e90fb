package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A rank is one line of a component's ranking.
type rank struct {
	variantName
	Ratio, Interval, Worst, Tally string
	WorstID, WorstCase            string
	Shared                        bool   // the baseline gives up the same promises
	Tone                          string // "faster", "slower", "mixed", "same", "base"
	Pick                          bool   // what the component's decision names
	Combined                      span
	Range                         span // from the worst case to the best
	Mid                           float64
	Value, WorstValue             float64
}

func (p *page) rank(r verdict.Rank, cases []verdict.CaseStats, views []caseView) rank {
	line := rank{variantName: variantName{Name: r.Variant, Peer: r.Peer, Relaxes: r.Relaxes},
		Ratio: wording.Times(r.Ratio), Worst: wording.Times(r.Worst), Mid: p.Axis.at(r.Ratio), Value: r.Ratio, WorstValue: r.Worst}
	if !finite(r.Ratio) || r.Cases == 0 {
		line.Value, line.WorstValue = 0, 0
	}
	low, high, best := combined(r, cases)
	if finite(low) && finite(high) {
		line.Interval = interval(verdict.Comparison{Low: low, High: high})
		line.Combined = p.Axis.span(low, high)
	}
	if finite(best) && finite(r.Worst) && best > r.Worst {
		line.Range = p.Axis.span(r.Worst, best)
	}
	worst := slices.IndexFunc(cases, func(x verdict.CaseStats) bool {
		return slices.ContainsFunc(x.Rows, func(row verdict.Row) bool {
			return row.Comparison != nil && !row.Control && row.Variant == r.Variant && row.Comparison.Ratio == r.Worst
		})
	})
	if worst >= 0 {
		line.WorstCase = cases[worst].Name
	}
	if at := slices.IndexFunc(views, func(v caseView) bool { return v.index == worst }); at >= 0 {
		line.WorstID = views[at].ID
	}
	line.Tone, line.Tally = tally(r, undecided(r.Variant, cases))
	return line
}

// tally puts the verdicts over the cases into words.
func tally(r verdict.Rank, open int) (tone, words string) {
	cases := wording.Count(r.Cases, "case")
	switch {
	case r.Faster > 0 && r.Slower > 0:
		tone, words = "mixed", fmt.Sprintf("faster in %d, slower in %d of %s", r.Faster, r.Slower, cases)
	case r.Faster > 0:
		tone, words = "faster", fmt.Sprintf("faster in %d of %s", r.Faster, cases)
	case r.Slower > 0:
		tone, words = "slower", fmt.Sprintf("slower in %d of %s", r.Slower, cases)
	case r.Cases == 0:
		return "unknown", "no result"
	case open >= r.Cases:
		return "unknown", "too few samples for a verdict"
	default:
		tone, words = "same", "no difference shown"
	}
	if open > 0 {
		words += fmt.Sprintf(", %d undecided", open)
	}
	return tone, words
}

// undecided counts the cases without a verdict on a variant.
func undecided(variant string, cases []verdict.CaseStats) int {
	n := 0
	for _, c := range cases {
		for _, row := range c.Rows {
			x := row.Comparison
			if x != nil && !row.Control && row.Variant == variant && (x.Verdict == verdict.TooFew || x.Verdict == verdict.NoResult) {
				n++
			}
		}
	}
	return n
}

// combined is the interval of the geometric mean over cases, whose samples are
// independent: on either side the distances from the ratios to the ends of their
// intervals, as logarithms, add in squares. Of one case it is that case's own.
// Without an interval in every case there is none. best is the largest ratio.
func combined(r verdict.Rank, cases []verdict.CaseStats) (low, high, best float64) {
	below, above, n := 0.0, 0.0, 0
	best = math.NaN()
	for _, c := range cases {
		for _, row := range c.Rows {
			x := row.Comparison
			if x == nil || row.Control || row.Variant != r.Variant || !estimated(*x) {
				continue
			}
			if !(best >= x.Ratio) {
				best = x.Ratio
			}
			if usable(*x) {
				down, up := math.Log(x.Ratio/x.Low), math.Log(x.High/x.Ratio)
				below += down * down
				above += up * up
				n++
			}
		}
	}
	if n == 0 || n < r.Cases {
		return math.NaN(), math.NaN(), best
	}
	return r.Ratio * math.Exp(-math.Sqrt(below)/float64(n)), r.Ratio * math.Exp(math.Sqrt(above)/float64(n)), best
}

// estimated tells whether x has a ratio, with an interval or without.
func estimated(x verdict.Comparison) bool {
	return x.Verdict != verdict.NoResult && finite(x.Ratio) && x.Ratio > 0
}

// usable tells whether x has an interval that a logarithmic axis can show.
func usable(x verdict.Comparison) bool {
	return estimated(x) && finite(x.Low) && finite(x.High) && x.Low > 0 && x.High >= x.Low
}
