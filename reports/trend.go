package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/trend"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"golang.org/x/perf/benchunit"
)

var (
	//go:embed assets/trend.js
	trendJS string
	//go:embed assets/trend.html.tmpl
	trendHTML string
)

var trendTemplate = template.Must(template.New("trend.html").Parse(shellHTML + trendHTML))

// What a trend's page holds at most, for its reader and for the browser.
const maxTrendCharts, maxTrendRows = 60, 2000

// WriteTrend writes the page of a trend to the file path: a chart of each
// series with a change, the largest first, and a table of all. It appears whole
// or not at all, but for what is no regular file, such as a device or a pipe.
func WriteTrend(path string, t trend.Trend) error {
	html, err := renderTrend(t)
	if err != nil {
		return err
	}
	return writeText(path, html)
}

type trendPage struct {
	shell
	Title, Span string
	Charts      []trendChart
	Rows        []trendRow
	More        int // series without a row
	MoreCharts  int
	Warnings    []experiment.Warning
	Data        trendData
}

// trendData is what the page's script draws from; the report's viewers find
// nothing in it.
type trendData struct {
	pageData
	Trend []trendChart `json:"trend"`
}

type trendChart struct {
	Title  string      `json:"title"`
	Unit   string      `json:"unit"`
	Ratio  bool        `json:"ratio"` // values are ratios to upstream's code
	Labels []string    `json:"labels"`
	Values []float64   `json:"values"`
	Levels []trendMark `json:"levels"`
}

// A trendMark is one level, from value From to value To, both included.
type trendMark struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Value float64 `json:"value"`
	Step  string  `json:"step"` // from the level before
}

type trendRow struct {
	Benchmark, Unit, First, Last, Noise string
	Results                             int
	Key                                 float64 // to sort by
	Steps                               []string
}

func renderTrend(t trend.Trend) ([]byte, error) {
	p := trendPage{shell: newShell("informerbench: trend", trendJS), Warnings: t.Warnings}
	for _, s := range t.Series {
		if len(s.Changes) > 0 && len(p.Charts) < maxTrendCharts {
			p.Charts = append(p.Charts, newTrendChart(t, s))
		}
		if len(p.Rows) < maxTrendRows {
			p.Rows = append(p.Rows, newTrendRow(t, s))
		}
	}
	p.More, p.MoreCharts = len(t.Series)-len(p.Rows), t.Changed()-len(p.Charts)
	p.Title = t.Title()
	if n := len(t.Results); n > 0 {
		p.Span = fmt.Sprintf("From %s (%s) to %s (%s).", t.Results[0].Label, t.Results[0].Time.UTC().Format("2006-01-02"), t.Results[n-1].Label, t.Results[n-1].Time.UTC().Format("2006-01-02"))
	}
	p.Data = trendData{Trend: p.Charts}
	var buf bytes.Buffer
	err := trendTemplate.Execute(&buf, p)
	return buf.Bytes(), err
}

func newTrendChart(t trend.Trend, s trend.Series) trendChart {
	c := trendChart{Title: s.Name(), Unit: s.Unit, Ratio: s.Relative, Values: s.Values}
	for _, i := range s.At {
		c.Labels = append(c.Labels, t.Results[i].Label)
	}
	level := trendMark{Value: s.Changes[0].Before}
	for _, change := range s.Changes {
		level.To = change.At - 1
		c.Levels = append(c.Levels, level)
		level = trendMark{From: change.At, Value: change.After, Step: stepText(s, change)}
	}
	level.To = len(s.Values) - 1
	c.Levels = append(c.Levels, level)
	return c
}

func newTrendRow(t trend.Trend, s trend.Series) trendRow {
	r := trendRow{Benchmark: s.Name(), Unit: s.Unit, Results: len(s.Values), Noise: none,
		First: trendFigure(s, s.Values[0]), Last: trendFigure(s, s.Values[len(s.Values)-1])}
	if s.Noise > 0 {
		r.Noise = "±" + wording.Percent(s.Noise)
	}
	for _, c := range s.Changes {
		r.Key = cmp.Or(r.Key, c.Grown())
		r.Steps = append(r.Steps, fmt.Sprintf("%s since %s", stepText(s, c), t.Results[s.At[c.At]].Label))
	}
	return r
}

func stepText(s trend.Series, c trend.Step) string {
	if c.Before == 0 {
		return "from 0 to " + trendFigure(s, c.After)
	}
	return fmt.Sprintf("%+.1f%%", 100*c.Grown())
}

// trendFigure is a value as people read it.
func trendFigure(s trend.Series, v float64) string {
	if s.Relative {
		return fmt.Sprintf("%.2f×", v)
	}
	return benchunit.Scale(v, benchunit.ClassOf(s.Unit))
}
