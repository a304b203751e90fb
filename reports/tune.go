package reports

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"path/filepath"

	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen/durations"
)

var (
	//go:embed assets/tune.js
	tuneJS string
	//go:embed assets/tune.html.tmpl
	tuneHTML string
)

var tuneTemplate = template.Must(template.New("tune.html").Funcs(template.FuncMap{
	"effects": advice.Effects, "share": wording.Percent, "queueShare": queueShare, "seconds": secondsText,
}).Parse(shellHTML + tuneHTML))

// queueShare has two digits of a small share, which a queue's processor time is.
func queueShare(x float64) string {
	if x >= 0.1 {
		return wording.Percent(x)
	}
	return fmt.Sprintf("%.2g%%", 100*x)
}

// WriteTune writes recommended settings into the directory dir: tune.json for
// machines (see package schema), tune.md for pull requests and report.html.
// Each file appears whole or not at all.
func WriteTune(dir string, r advice.Result) error {
	html, err := renderTuneHTML(r)
	if err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	return writeAdvice(dir, "tune", r, renderTuneMarkdown(r), html)
}

// writeAdvice writes the three forms of an advice.
func writeAdvice(dir, name string, content any, markdown, html []byte) error {
	if err := atomicfile.WriteJSON(filepath.Join(dir, name+".json"), content); err != nil {
		return fmt.Errorf("directory of the report: %w", err)
	}
	return errors.Join(
		writeText(filepath.Join(dir, name+".md"), markdown),
		writeText(filepath.Join(dir, "report.html"), html))
}

// renderTuneHTML prints one file that needs no other and no network, under the
// same policy as the report of a run.
func renderTuneHTML(r advice.Result) ([]byte, error) {
	var buf bytes.Buffer
	err := tuneTemplate.Execute(&buf, struct {
		advice.Result
		shell
		Title string
		Data  tuneData
		Trust trust
	}{r, newShell("informerbench: recommended settings", tuneJS), tuneTitle(r), tuneData{Tune: newTuneCharts(r)}, recordedTrust()})
	return buf.Bytes(), err
}

// tuneTitle is the first thing to know.
func tuneTitle(r advice.Result) string {
	advised := 0
	first := ""
	for _, a := range r.Queues {
		if a.Refused == "" {
			if advised++; advised == 1 {
				first = a.Queue + ": " + a.Summary
			}
		}
	}
	switch {
	case advised == 0:
		return "The data can't carry advice."
	case advised == 1:
		return first
	}
	return fmt.Sprintf("Settings for %d queues. The busiest is %s", advised, first)
}

// tuneData is what the page's script draws from.
type tuneData struct {
	Charts []chart     `json:"charts"` // none, but the report's script looks for them
	Tune   []tuneChart `json:"tune"`
}

// A tuneChart is one queue's data, in the form that tune.js draws.
type tuneChart struct {
	Queue        string               `json:"queue"`
	Pareto       []search.Tradeoff    `json:"pareto"`
	Curves       []search.Curve       `json:"curves"`
	Reproduction *advice.Reproduction `json:"reproduction"`
	Now          *tuneMark            `json:"now"`
	Then         *tuneMark            `json:"then"`
}

type tuneMark struct {
	Cost   float64 `json:"cost"`
	Settle float64 `json:"settle"`
}

func newTuneCharts(r advice.Result) []tuneChart {
	list := []tuneChart{}
	for _, a := range r.Queues {
		mark := func(f *predict.Figures) *tuneMark {
			if f == nil || !f.Stable {
				return nil
			}
			return &tuneMark{f.Cost, f.Settle.P99.Mean}
		}
		list = append(list, tuneChart{a.Queue, a.Pareto, a.Curves, a.Reproduction, mark(a.Now), mark(a.Then)})
	}
	return list
}

// secondsText prints a bucket's bound; 0 is the last one's.
func secondsText(x float64) string {
	if x == 0 {
		return "longer"
	}
	return durations.Seconds(x)
}
