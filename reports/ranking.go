package reports

import (
	"fmt"
	"math"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A rank is one line of a component's ranking.
type rank struct {
	variantName
	Ratio, Interval, Worst, Tally string
	WorstID, WorstCase            string
	Tone                          string // "faster", "slower", "mixed", "same", "base"
	Pick                          bool   // what the component's decision names
	Combined                      span
	Range                         span // from the worst case to the best
	Mid                           float64
	Value, WorstValue             float64
}

func (p *page) rank(r experiment.Rank, cases []experiment.CaseStats, views []caseView) rank {
	line := rank{variantName: variantName{Name: r.Variant, Peer: r.Peer, Relaxes: r.Relaxes},
		Ratio: ratio(r.Ratio), Worst: ratio(r.Worst), Mid: p.Axis.at(r.Ratio), Value: r.Ratio, WorstValue: r.Worst}
	if !finite(r.Ratio) || r.Cases == 0 {
		line.Value, line.WorstValue = 0, 0
	}
	low, high, best := combined(r.Variant, cases)
	if finite(low) && finite(high) {
		line.Interval = interval(experiment.Comparison{Low: low, High: high})
		line.Combined = p.Axis.span(low, high)
	}
	if finite(best) && finite(r.Worst) && best >= r.Worst {
		line.Range = p.Axis.span(r.Worst, best)
	}
	for i, x := range cases {
		for _, row := range x.Rows {
			if row.Comparison != nil && !row.Control && row.Variant == r.Variant && row.Comparison.Ratio == r.Worst {
				line.WorstCase = x.Name
				if i < len(views) {
					line.WorstID = views[i].ID
				}
			}
		}
	}
	of := fmt.Sprintf(" in %d of %s", r.Faster, plural(r.Cases, "case"))
	switch {
	case r.Faster > 0 && r.Slower > 0:
		line.Tone, line.Tally = "mixed", fmt.Sprintf("faster in %d, slower in %d of %s", r.Faster, r.Slower, plural(r.Cases, "case"))
	case r.Faster > 0:
		line.Tone, line.Tally = "faster", "faster"+of
	case r.Slower > 0:
		line.Tone, line.Tally = "slower", fmt.Sprintf("slower in %d of %s", r.Slower, plural(r.Cases, "case"))
	case r.Cases == 0:
		line.Tone, line.Tally = "unknown", "no result"
	default:
		line.Tone, line.Tally = "same", "no difference shown"
	}
	return line
}

// combined is the interval of the geometric mean over cases, whose samples are
// independent: the half widths of the logarithms add in squares.
func combined(variant string, cases []experiment.CaseStats) (low, high, best float64) {
	var sum, squares, n float64
	best = math.NaN()
	for _, c := range cases {
		for _, row := range c.Rows {
			x := row.Comparison
			if x == nil || row.Control || row.Variant != variant || !usable(*x) {
				continue
			}
			half := (math.Log(x.High) - math.Log(x.Low)) / 2
			sum += math.Log(x.Ratio)
			squares += half * half
			n++
			if !(best >= x.Ratio) {
				best = x.Ratio
			}
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN(), best
	}
	mean, half := sum/n, math.Sqrt(squares)/n
	return math.Exp(mean - half), math.Exp(mean + half), best
}

// usable tells whether x has an interval that a logarithmic axis can show.
func usable(x experiment.Comparison) bool {
	return finite(x.Ratio) && finite(x.Low) && finite(x.High) && x.Low > 0 && x.Ratio > 0 && x.High >= x.Low
}
