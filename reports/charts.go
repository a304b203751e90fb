package reports

import (
	"math"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A chart is one component's data for the page's script.
type chart struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Baseline string         `json:"baseline"`
	Variants []chartVariant `json:"variants"` // in the order of the ranking
	Cases    []chartCase    `json:"cases"`
	Scales   []scale        `json:"scales"`
}

type chartVariant struct {
	Name     string `json:"name"`
	Peer     bool   `json:"peer,omitempty"`
	Baseline bool   `json:"baseline,omitempty"`
}

type chartCase struct {
	Index  int          `json:"index"` // of all cases, shown or not
	Name   string       `json:"name"`
	Floor  float64      `json:"floor"`
	Time   string       `json:"time"` // "CPU time", "time": what the verdict is taken on
	Marks  []chartMark  `json:"marks"`
	Values []chartValue `json:"values"`
}

// A chartMark is a comparison with the baseline.
type chartMark struct {
	Variant string `json:"v"`
	Peer    bool   `json:"peer,omitempty"`
	Ratio   figure `json:"r"`
	Low     figure `json:"lo"` // null while there are too few samples for an interval
	High    figure `json:"hi"`
	Tone    string `json:"tone"`
	Verdict string `json:"verdict"`
}

// A chartValue is what a variant was measured at, the baseline too: seconds an
// item with their interval, its ratio, and live bytes an item.
type chartValue struct {
	Variant int    `json:"v"` // index into Variants
	Time    figure `json:"t"`
	Low     figure `json:"lo"`
	High    figure `json:"hi"`
	Ratio   figure `json:"r"`
	Memory  figure `json:"m"`
}

// A figure is a number in the page's data: four digits are more than a chart
// can show, and what is not known is null.
type figure float64

// MarshalJSON writes four significant digits.
func (f figure) MarshalJSON() ([]byte, error) {
	if !finite(float64(f)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(f), 'g', 4, 64), nil
}

var unknown = figure(math.NaN())

// newCharts lists the marks of each case in the order of the ranking. The
// baseline is the line at 1× and the control is the noise band, so neither is a
// mark.
func newCharts(p *page) []chart {
	list := []chart{}
	for _, c := range p.Components {
		x := chart{ID: c.ID, Title: c.Title, Baseline: c.Baseline, Variants: []chartVariant{}, Cases: []chartCase{}, Scales: c.Scales}
		for _, v := range c.Variants {
			x.Variants = append(x.Variants, chartVariant{v.Name, v.Peer, v.Baseline})
		}
		for _, view := range c.Cases {
			x.Cases = append(x.Cases, newChartCase(view, c.Variants))
		}
		list = append(list, x)
	}
	return list
}

func newChartCase(view caseView, variants []variantName) chartCase {
	item := chartCase{Index: view.index, Name: view.Name, Time: quantity(view.Unit), Marks: []chartMark{}, Values: []chartValue{}}
	if known(view.stats.NoiseFloor) {
		item.Floor = view.stats.NoiseFloor
	}
	for i, variant := range variants {
		for _, r := range view.stats.Rows {
			if r.Variant != variant.Name || r.Control {
				continue
			}
			if r.Comparison != nil && estimated(*r.Comparison) {
				item.Marks = append(item.Marks, newMark(r))
			}
			item.Values = append(item.Values, newValue(i, r, view.stats))
		}
	}
	return item
}

func newMark(r verdict.Row) chartMark {
	x := *r.Comparison
	mark := chartMark{Variant: r.Name, Peer: r.Peer, Ratio: figure(x.Ratio), Low: unknown, High: unknown, Tone: tone(x.Verdict), Verdict: verdictText(x)}
	if usable(x) {
		mark.Low, mark.High = figure(x.Low), figure(x.High)
	}
	return mark
}

func newValue(variant int, r verdict.Row, c verdict.CaseStats) chartValue {
	value := chartValue{variant, unknown, unknown, unknown, unknown, unknown}
	if m, ok := r.Metrics[c.Unit]; ok && m.Center > 0 {
		value.Time, value.Low, value.High = figure(m.Center), figure(m.Low), figure(m.High)
	}
	if m, ok := r.Metrics[liveBytes]; ok {
		value.Memory = figure(m.Center)
	}
	switch {
	case r.Comparison != nil && estimated(*r.Comparison):
		value.Ratio = figure(r.Comparison.Ratio)
	case r.Variant == c.Baseline && r.Comparison == nil:
		value.Ratio = 1
	}
	return value
}

// liveBytes is the unit of the memory that an item takes.
const liveBytes = "live-B/item"

// Charted tells whether there is anything to compare in a chart.
func (c component) Charted() bool {
	return slices.ContainsFunc(c.Cases, func(view caseView) bool {
		return slices.ContainsFunc(view.stats.Rows, func(r verdict.Row) bool {
			return !r.Control && r.Comparison != nil && estimated(*r.Comparison)
		})
	})
}

// Remembers tells whether an item was seen to take memory: the chart's axis is
// logarithmic.
func (c component) Remembers() bool {
	return slices.ContainsFunc(c.Cases, func(view caseView) bool {
		return slices.ContainsFunc(view.stats.Rows, func(r verdict.Row) bool {
			m, ok := r.Metrics[liveBytes]
			return ok && finite(m.Center) && m.Center > 0 && !r.Control
		})
	})
}
