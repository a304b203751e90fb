package reports

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

var (
	//go:embed assets/echarts.min.js
	echarts string
	//go:embed assets/page.js
	pageJS string
	//go:embed assets/charts.js
	chartsJS string
	//go:embed assets/flames.js
	flamesJS string
	//go:embed assets/report.css
	reportCSS string
	//go:embed assets/report.html.tmpl
	reportHTML string
)

// application is the page's own script. The last file starts the others.
var application = pageJS + chartsJS + flamesJS

var htmlTemplate = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"join": strings.Join, "plural": plural,
}).Parse(reportHTML))

// renderHTML prints the page as report.html: one file that needs no other and
// no network. Its content security policy allows exactly the two scripts that
// are in it, so that a name that found a way into the page could still not run.
func renderHTML(p *page) ([]byte, error) {
	var buf bytes.Buffer
	err := htmlTemplate.Execute(&buf, struct {
		*page
		Links                []link
		Policy               string
		CSS                  template.CSS
		ECharts, Application template.JS
		Data                 pageData
	}{p, p.links, fmt.Sprintf("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src %s %s; base-uri 'none'; form-action 'none'",
		hash(echarts), hash(application)), template.CSS(reportCSS), template.JS(echarts), template.JS(application), pageData{newCharts(p), p.Profiles, kindNames()}})
	return buf.Bytes(), err
}

// hash is a script's source expression in a content security policy.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageData is what the page's script draws from.
type pageData struct {
	Charts   []chart     `json:"charts"`
	Profiles *profileSet `json:"profiles"`
	Kinds    []string    `json:"kinds"`
}

// A chart is one component's data for the page's script.
type chart struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Baseline string      `json:"baseline"`
	Cases    []chartCase `json:"cases"`
}

type chartCase struct {
	Name  string      `json:"name"`
	Floor float64     `json:"floor"`
	Marks []chartMark `json:"marks"`
}

type chartMark struct {
	Variant string   `json:"v"`
	Peer    bool     `json:"peer,omitempty"`
	Ratio   float64  `json:"r"`
	Low     *float64 `json:"lo,omitempty"` // nil while there are too few samples for an interval
	High    *float64 `json:"hi,omitempty"`
	Tone    string   `json:"tone"`
	Verdict string   `json:"verdict"`
}

// newCharts lists the marks of each case in the order of the ranking. The
// baseline is the line at 1× and the control is the noise band, so neither is a
// mark.
func newCharts(p *page) []chart {
	list := []chart{}
	for _, c := range p.Components {
		x := chart{ID: c.ID, Title: c.Title, Baseline: c.Baseline, Cases: []chartCase{}}
		for _, view := range c.Cases {
			item := chartCase{Name: view.Name, Marks: []chartMark{}}
			if known(view.stats.NoiseFloor) {
				item.Floor = view.stats.NoiseFloor
			}
			for _, variant := range c.Variants {
				for _, r := range view.stats.Rows {
					if r.Variant == variant.Name && !r.Control && r.Comparison != nil && estimated(*r.Comparison) {
						item.Marks = append(item.Marks, newMark(r))
					}
				}
			}
			x.Cases = append(x.Cases, item)
		}
		list = append(list, x)
	}
	return list
}

func newMark(r verdict.Row) chartMark {
	x := *r.Comparison
	mark := chartMark{Variant: r.Name, Peer: r.Peer, Ratio: x.Ratio, Tone: tone(x.Verdict), Verdict: verdictText(x)}
	if usable(x) {
		mark.Low, mark.High = &x.Low, &x.High
	}
	return mark
}

// Charted tells whether there is anything to draw.
func (c component) Charted() bool {
	for _, view := range c.Cases {
		for _, r := range view.stats.Rows {
			if !r.Control && r.Comparison != nil && estimated(*r.Comparison) {
				return true
			}
		}
	}
	return false
}
