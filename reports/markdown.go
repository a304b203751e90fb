package reports

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// maxMarkdown leaves room for a few words below the 65,536 characters of a
// GitHub comment.
const maxMarkdown = 62_000

// renderMarkdown prints the page as report.md, made to be pasted into a pull
// request: the decision and the rankings in sight, each case's table folded.
func renderMarkdown(p *page) ([]byte, error) {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }

	line("# %s", text(p.Decision))
	if !p.Alone {
		line("")
		line("**Confidence: %s.** %s", p.Confidence.Word, text(p.Confidence.Meaning))
		line("%s.", text(capital(strings.Join(p.Confidence.Reasons, "; "))))
		line("")
		line("Ratios say how many times faster than %s a variant is: 2× is twice as fast. Intervals hold with %s confidence.", text(p.Baseline), p.Level)
	}
	if n := len(p.Warnings) + p.Hidden; n > 0 {
		line("")
		line("> **%s**, listed below.", wording.Count(n, "warning"))
	}
	if p.Drive != nil {
		writeDrive(p, line)
	}
	if p.Swap != nil {
		writeSwap(p.Swap, line)
	}
	for _, c := range p.Components {
		writeComponent(c, text(p.Baseline), line)
	}
	for _, note := range p.Notes {
		line("")
		line("%s", text(note))
	}
	if len(p.Warnings) > 0 {
		line("")
		line("## Warnings")
		line("")
		for _, x := range p.Warnings {
			line("- %s: %s", code(x.Scope), text(x.Text))
		}
		if p.Hidden > 0 {
			line("- and %d more in stats.json", p.Hidden)
		}
	}
	if p.Loads != nil {
		line("")
		line("<details><summary>What the load itself costs</summary>")
		line("")
		line("Each case with a component that does nothing, sampled in turns with the variants. This is part of all figures above; the larger its share, the nearer ratios are to 1.")
		line("")
		writeTable(p.Loads, line)
		line("")
		line("</details>")
	}
	if c := p.Calibration; c != nil {
		line("")
		line("<details><summary>How often verdicts are right</summary>")
		line("")
		line("%s", text(c.About+" "+c.Habit))
		line("")
		writeTable(c.Table, line)
		line("")
		line("</details>")
	}
	line("")
	line("## Environment and run")
	line("")
	writeFacts(slices.Concat([]fact{{"Command", p.Command}}, p.Facts, p.Environment, p.Versions), line)
	line("")
	var files []string
	for _, l := range p.links {
		files = append(files, fmt.Sprintf("[%s](%s) (%s)", l.Name, (&url.URL{Path: l.Name}).String(), l.What))
	}
	line("Raw data: %s, [report.html](report.html) (charts and flame graphs).", strings.Join(files, ", "))
	return w.Bytes(), nil
}

// writeComponent prints a ranking and, folded, each case.
func writeComponent(c component, baseline string, line func(format string, args ...any)) {
	line("")
	line("## %s", text(c.Title))
	line("")
	if c.Decision != "" {
		line("%s", text(c.Decision))
		line("")
	}
	line("| variant | times %s | interval | worst case | verdict | relaxes |", baseline)
	line("|---|--:|---|--:|---|---|")
	for _, r := range c.Ranks {
		relaxes := mdRelaxes(r.variantName)
		if r.Shared && len(r.Gives()) > 0 {
			relaxes = "none that " + text(c.Baseline) + " keeps"
		}
		line("| %s | %s | %s | %s | %s | %s |", mdName(r.variantName), r.Ratio, r.Interval, r.Worst, r.Tally, relaxes)
	}
	line("")
	if c.Hidden != "" {
		line("%s", text(c.Hidden))
		line("")
	}
	line("<details><summary>%s, noise floor %s</summary>", wording.Count(len(c.Cases), "case"), c.Noise)
	for _, x := range c.Cases {
		line("")
		line("%s: %s Noise floor %s. %s", code(x.Name), text(sentence(x.Summary)), x.Noise, text(x.Load))
		line("")
		header, rule := "| variant | ratio | interval | verdict |", "|---|--:|---|---|"
		for _, col := range x.Columns {
			header += " " + text(col) + " |"
			rule += "--:|"
		}
		line("%s relaxes |", header)
		line("%s---|", rule)
		for _, r := range x.Rows {
			name := mdName(r.variantName)
			if r.Control {
				name = "_" + text(r.Name) + "_"
			}
			out := fmt.Sprintf("| %s | %s | %s | %s |", name, r.Ratio, r.Interval, text(r.Verdict))
			for _, v := range r.Cells {
				out += " " + strings.TrimSpace(v.Text+" "+v.Spread) + " |"
			}
			line("%s %s |", out, mdRelaxes(r.variantName))
		}
	}
	line("")
	line("</details>")
}

// writeDrive prints the whole controller's latencies and what became of its events.
func writeDrive(p *page, line func(format string, args ...any)) {
	line("")
	line("## Under load: latency and timelines")
	line("")
	for _, reason := range p.Drive.Unsound {
		line("> **Not every event is accounted for**: %s", text(reason))
		line("")
	}
	var facts []string
	for _, f := range p.DriveFacts {
		facts = append(facts, f.Name+": "+f.Value)
	}
	line("%s.", text(strings.Join(facts, "; ")))
	for _, t := range []struct {
		title string
		*table
	}{{"Latency: median of the rounds, smallest to largest", p.Drive.Glance}, {"What became of the events", p.Drive.Balance}} {
		line("")
		line("%s:", t.title)
		line("")
		writeTable(t.table, line)
	}
}

// writeFacts prints a table without a header.
func writeFacts(facts []fact, line func(format string, args ...any)) {
	line("| | |")
	line("|---|---|")
	for _, f := range facts {
		line("%s", mdRow(f.Name, f.Value))
	}
}

// mdRow is the line of a table's cells, which it escapes.
func mdRow(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = text(c)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

// mdHeader is the header of a table and the line below it.
func mdHeader(cells ...string) string {
	return mdRow(cells...) + "\n|" + strings.Repeat("---|", len(cells))
}

func writeTable(t *table, line func(format string, args ...any)) {
	line("| %s |", strings.Join(append(slices.Clone(t.Labels), t.Columns...), " | "))
	line("|%s%s", strings.Repeat("---|", len(t.Labels)), strings.Repeat("--:|", len(t.Columns)))
	for _, r := range t.Rows {
		var cells []string
		for _, name := range r.Names {
			cells = append(cells, text(name))
		}
		for _, v := range r.Cells {
			cells = append(cells, strings.TrimSpace(v.Text+" "+v.Spread))
		}
		line("| %s |", strings.Join(cells, " | "))
	}
}

func mdName(v variantName) string {
	name := text(v.Name)
	switch {
	case v.Baseline:
		return name + " (baseline)"
	case v.Peer:
		if v.Name != "client-go" && v.Name != "controller-runtime" {
			return name + " (peer)"
		}
		return name + " (upstream)"
	}
	return "**" + name + "**"
}

// mdRelaxes keeps the table narrow: report.html lists all.
func mdRelaxes(v variantName) string {
	gives := v.Gives()
	if len(gives) > 3 {
		return fmt.Sprintf("%d promises", len(gives))
	}
	return text(strings.Join(gives, ", "))
}

// text escapes what Markdown or HTML would act on, on one line.
func text(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune("\\`*_[]<>|#~", r) {
			switch r {
			case '<':
				b.WriteString("&lt;")
				continue
			case '>':
				b.WriteString("&gt;")
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code makes a code span of s, whatever it holds.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sentence ends s with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
