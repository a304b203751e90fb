package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A caseView is one comparison's table.
type caseView struct {
	ID, Name, Summary, Unit, Baseline string
	Noise                             string
	Load                              string // what of it is the load's, a sentence
	Headline                          string // its best variant in a few words
	Columns                           []string
	Rows                              []row
	More                              *table // measurements beyond the main ones
	Heat                              []heatCell
	Relaxed                           bool // some variant gives up a promise
	stats                             verdict.CaseStats
	index                             int // in its component's stats
}

type row struct {
	variantName
	Control                  bool
	Ratio, Interval, Verdict string
	Tone                     string
	Value                    float64 // the ratio, to sort by
	P                        string
	Cells                    []cellValue
	Samples                  int
	Profile                  string // where its CPU profile is shown
}

// A cellValue is a figure with its spread and the number to sort by.
type cellValue struct {
	Text, Spread string
	Sort         float64
}

// Key is what a column is sorted by; empty for a figure that is not known.
func (c cellValue) Key() string {
	if c.Text == none {
		return ""
	}
	return strconv.FormatFloat(c.Sort, 'g', 6, 64)
}

// A table has lines that begin with one or more names.
type table struct {
	Labels  []string // what the names are
	Columns []string
	Rows    []tableRow
}

type tableRow struct {
	Names []string
	Cells []cellValue
}

type heatCell struct {
	Text, Tone, Title string
	Level             int // 0 is no difference, 1 to 4 the strength of the colour
	Value             float64
}

// mainUnits are the columns of a case's table, after the unit of its verdict.
var mainUnits = []string{"sec/op", "allocs/op", "B/op", liveBytes}

func newCaseView(c verdict.CaseStats, id string) caseView {
	view := caseView{ID: id, Name: c.Name, Summary: capital(sentence(c.Summary)), Unit: c.Unit, Baseline: c.Baseline,
		Noise: floorText(c.NoiseFloor), Load: loadText(c), stats: c}
	all := map[string][]float64{}
	for _, r := range c.Rows {
		for unit, m := range r.Metrics {
			all[unit] = append(all[unit], m.Center)
		}
	}
	var units, more []string
	if _, ok := all[c.Unit]; ok {
		units = append(units, c.Unit)
	}
	for _, unit := range mainUnits {
		if _, ok := all[unit]; ok && unit != c.Unit {
			units = append(units, unit)
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(units, unit) {
			more = append(more, unit)
		}
	}
	main, rest := columns(units, all), columns(more, all)
	for _, col := range main {
		view.Columns = append(view.Columns, col.title())
	}
	if len(more) > 0 {
		view.More = &table{Labels: []string{"Variant"}}
		for _, col := range rest {
			view.More.Columns = append(view.More.Columns, col.title())
		}
	}
	rows := slices.Clone(c.Rows)
	slices.SortStableFunc(rows, func(a, b verdict.Row) int { return cmp.Compare(standing(b), standing(a)) })
	for _, r := range rows {
		gives, _ := promises(r.Relaxes)
		view.Relaxed = view.Relaxed || len(gives) > 0
		view.Rows = append(view.Rows, newRow(r, c, main))
		if view.More != nil {
			view.More.Rows = append(view.More.Rows, tableRow{[]string{r.Name}, cells(r, rest)})
		}
	}
	view.Headline = headline(c)
	return view
}

func columns(units []string, all map[string][]float64) []column {
	list := make([]column, len(units))
	for i, unit := range units {
		list[i] = newColumn(unit, all[unit])
	}
	return list
}

// standing sorts rows best first; the baseline is 1, the control comes last.
func standing(r verdict.Row) float64 {
	switch {
	case r.Control:
		return -1
	case r.Comparison == nil:
		return 1
	case !finite(r.Comparison.Ratio) || r.Comparison.Verdict == verdict.NoResult:
		return 0
	}
	return r.Comparison.Ratio
}

func newRow(r verdict.Row, c verdict.CaseStats, main []column) row {
	line := row{variantName: variantName{r.Name, r.Summary, r.Peer, r.Comparison == nil && r.Variant == c.Baseline && !r.Control, r.Relaxes},
		Control: r.Control, Samples: r.Samples, Cells: cells(r, main), Tone: "base", Value: 1, Ratio: "1", Verdict: "baseline"}
	if x := r.Comparison; x != nil {
		line.Ratio, line.Value = wording.Times(x.Ratio), standing(r)
		if x.Verdict == verdict.NoResult {
			line.Ratio = none
		}
		line.Verdict, line.Tone = verdictText(*x), tone(x.Verdict)
		if line.Control {
			line.Verdict, line.Tone = "noise control", "control"
			line.Value = x.Ratio
		}
		if !finite(line.Value) {
			line.Value = 0
		}
		if usable(*x) {
			line.Interval = interval(*x)
		}
		if finite(x.PAdjusted) {
			line.P = fmt.Sprintf("p = %.2g after Holm's correction (%.2g before), %s", x.PAdjusted, x.P, wording.Count(r.Samples, "sample"))
		}
	} else if !line.Baseline {
		line.Ratio, line.Verdict, line.Tone, line.Value = none, "no result", "unknown", 0
	}
	return line
}

func cells(r verdict.Row, cols []column) []cellValue {
	list := make([]cellValue, len(cols))
	for i, col := range cols {
		list[i] = cellValue{Text: none}
		if m, ok := r.Metrics[col.unit]; ok && finite(m.Center) {
			list[i] = cellValue{col.value(m.Center), spread(m), m.Center}
		}
	}
	return list
}

func verdictText(x verdict.Comparison) string {
	if x.Verdict == verdict.Same {
		return "no difference"
	}
	return string(x.Verdict)
}

func tone(v verdict.Verdict) string {
	switch v {
	case verdict.Faster:
		return "faster"
	case verdict.Slower:
		return "slower"
	case verdict.Same:
		return "same"
	}
	return "unknown"
}

// headline names the case's best variant in a few words.
func headline(c verdict.CaseStats) string {
	var best *verdict.Row
	decided := false
	for i, r := range c.Rows {
		if r.Control || r.Comparison == nil {
			continue
		}
		decided = decided || tone(r.Comparison.Verdict) != "unknown"
		if r.Comparison.Verdict != verdict.Faster {
			continue
		}
		if best == nil || r.Comparison.Ratio > best.Comparison.Ratio {
			best = &c.Rows[i]
		}
	}
	if !decided {
		return "undecided"
	}
	if best == nil {
		return "nothing faster than " + c.Baseline
	}
	return best.Variant + " " + wording.Times(best.Comparison.Ratio)
}

// heat is one line of the heat map: the case's ratio for every variant.
func heat(c verdict.CaseStats, variants []variantName) []heatCell {
	list := make([]heatCell, len(variants))
	for i, v := range variants {
		list[i] = heatCell{Text: none, Tone: "unknown", Title: v.Name + " has no result here"}
		for _, r := range c.Rows {
			if r.Variant != v.Name || r.Control {
				continue
			}
			x := r.Comparison
			switch {
			case x == nil && r.Variant == c.Baseline:
				list[i] = heatCell{Text: "1", Tone: "base", Title: "the baseline", Value: 1}
			case x == nil || !estimated(*x):
			default:
				list[i] = heatCell{Text: wording.Times(x.Ratio), Tone: tone(x.Verdict), Value: x.Ratio,
					Title: v.Name + ": " + verdictText(*x) + ", " + interval(*x), Level: level(x)}
			}
		}
	}
	return list
}

// level is the strength of a cell's colour: steps of 1.25, 1.6 and 2.5 times.
func level(x *verdict.Comparison) int {
	if x.Verdict != verdict.Faster && x.Verdict != verdict.Slower {
		return 0
	}
	size := math.Abs(math.Log(x.Ratio))
	for i, step := range []float64{1.25, 1.6, 2.5} {
		if size < math.Log(step) {
			return i + 1
		}
	}
	return 4
}
