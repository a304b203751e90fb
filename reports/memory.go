package reports

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/informerbench/informerbench/bench/memory"
)

var (
	//go:embed assets/memory.js
	memoryJS string
	//go:embed assets/memory.html.tmpl
	memoryHTML string
)

var memoryTemplate = template.Must(template.New("memory.html").Parse(shellHTML + memoryHTML))

// WriteMemory writes what a cache takes into the directory dir: memory.json for
// machines (see package schema), memory.md for pull requests and report.html. Each
// file appears whole or not at all.
func WriteMemory(dir string, r memory.Result) error {
	var html bytes.Buffer
	err := memoryTemplate.Execute(&html, struct {
		memory.Result
		shell
		Data memoryData
	}{r, newShell("informerbench: memory of a cache", memoryJS), newMemoryData(r)})
	if err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	return writeAdvice(dir, "memory", r, renderMemoryMarkdown(r), html.Bytes())
}

// memoryData is what the page's script draws from.
type memoryData struct {
	Charts []chart `json:"charts"` // none, but the report's script looks for them
	Memory struct {
		Parts    []memoryBar  `json:"parts"`
		Sizes    []memoryLine `json:"sizes"`    // bytes by objects
		Timeline []memoryLine `json:"timeline"` // bytes by seconds
	} `json:"memory"`
}

type memoryBar struct {
	Name  string  `json:"name"`
	Bytes float64 `json:"bytes"`
}

// A memoryLine has points of x, value, and the ends of the interval.
type memoryLine struct {
	Name   string       `json:"name"`
	Points [][4]float64 `json:"points"`
}

func newMemoryData(r memory.Result) (d memoryData) {
	d.Memory.Parts = []memoryBar{}
	for _, p := range r.Parts {
		if p.Within == "" {
			d.Memory.Parts = append(d.Memory.Parts, memoryBar{p.Name, p.Bytes.Value})
		}
	}
	sizes := r.Sizes
	if !r.Prediction.Measured {
		sizes = append(sizes[:len(sizes):len(sizes)], r.Prediction)
	}
	for _, line := range []struct {
		name string
		of   func(memory.Usage) memory.Figure
	}{
		{"lives at rest", func(u memory.Usage) memory.Figure { return u.Live }},
		{"resident in service", func(u memory.Usage) memory.Figure { return u.ServiceResident }},
		{"peak at start", func(u memory.Usage) memory.Figure { return u.StartResident }},
		{"peak at relist", func(u memory.Usage) memory.Figure { return u.RelistResident }},
	} {
		l := memoryLine{Name: line.name}
		for _, u := range sizes {
			f := line.of(u)
			l.Points = append(l.Points, [4]float64{float64(u.Objects), f.Value, f.Low, f.High})
		}
		d.Memory.Sizes = append(d.Memory.Sizes, l)
	}
	heap, resident := memoryLine{Name: "heap"}, memoryLine{Name: "resident set"}
	for _, p := range r.Timeline {
		at, h, rss := p.At.Seconds(), float64(p.Heap), float64(p.Resident)
		heap.Points = append(heap.Points, [4]float64{at, h, h, h})
		resident.Points = append(resident.Points, [4]float64{at, rss, rss, rss})
	}
	d.Memory.Timeline = []memoryLine{resident, heap}
	return d
}

func renderMemoryMarkdown(r memory.Result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Memory of a cache\n\n%s\n\nFrom %s, %d rounds, seed %d.\n", text(r.Summary), text(r.Source), r.Repeats, r.Seed)
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "\n**Warning:** %s.\n", text(w))
	}
	for _, t := range r.Tables() {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", text(t.Title), mdHeader(t.Header...))
		for _, cells := range t.Rows {
			b.WriteString(mdRow(cells...) + "\n")
		}
	}
	fmt.Fprintf(&b, "\n```yaml\n%s```\n\n%s\n", r.Advice.Manifest(), text(r.Advice.Why))
	for _, t := range r.Transforms {
		fmt.Fprintf(&b, "\nTransform of %s:\n\n```go\n%s```\n", text(t.Kind), t.Code)
	}
	return b.Bytes()
}
