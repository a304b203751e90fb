package app

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/informerbench/informerbench/bench/tune"
)

// printAdvice prints the settings of each queue, and on a terminal what else is
// worth knowing and, if it could be written, where the report is.
func printAdvice(w io.Writer, r tune.Result, out output, report string) error {
	if out != "table" {
		return out.print(w, adviceTable(r))
	}
	fmt.Fprintf(w, "%s (seed %d)\n", r.Source, r.Seed)
	for _, a := range r.Queues {
		if a.Refused != "" {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n", onOneLine(a.Queue), a.Summary)
		if a.Unstable != "" {
			fmt.Fprintf(w, "Not stable: %s.\n", a.Unstable)
		}
		if a.Bottleneck != "" {
			fmt.Fprintln(w, a.Bottleneck)
		}
		if a.Reproduction != nil {
			fmt.Fprintf(w, "The model's fit is %s.\n", a.Reproduction.Verdict)
		}
		if len(r.Queues) > 1 && a.Now == nil {
			continue // to which nothing is to be said but to keep what there is
		}
		fmt.Fprintln(w)
		if err := printChanges(w, a); err != nil {
			return err
		}
		if err := printWhatIf(w, a); err != nil {
			return err
		}
		for _, doubt := range a.Doubts {
			fmt.Fprintf(w, "doubt: %s\n", doubt)
		}
		for _, p := range a.Paste[:min(1, len(a.Paste))] {
			fmt.Fprintf(w, "\n  %s\n", strings.ReplaceAll(strings.TrimSpace(p.Text), "\n", "\n  "))
		}
	}
	for _, a := range r.Queues {
		if a.Refused != "" {
			fmt.Fprintf(w, "\n%s: no advice: %s.\n  Record instead: %s.\n", onOneLine(a.Queue), a.Refused, a.Record)
		}
	}
	if len(r.Idle) > 0 {
		fmt.Fprintf(w, "\nIdle: %s.\n", onOneLine(strings.Join(r.Idle, ", ")))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	if why := tuneStops[r.Stopped]; why != "" {
		fmt.Fprintf(w, "\n%s\n", why)
	}
	for _, p := range r.Paste {
		fmt.Fprintf(w, "\nAll together, for %s:\n  %s\n", p.For, strings.ReplaceAll(strings.TrimSpace(p.Text), "\n", "\n  "))
	}
	if report == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nWhat the data can't tell, what-if curves and what to paste: %s\n", report)
	return err
}

var tuneStops = map[string]string{
	"budget":      "The budget was spent before the search was complete: what was found is reported.",
	"interrupted": "Interrupted before the search was complete: what was found is reported.",
}

func printChanges(w io.Writer, a tune.Advice) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "  SETTING\tCURRENT\tRECOMMENDED\tFROM\tWHY")
	for _, c := range a.Changes {
		recommended := c.Recommended
		if !c.Changed {
			recommended = "="
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\n", c.Title, c.Current, recommended, c.Told, c.Why)
	}
	for _, row := range tune.Effects(a) {
		fmt.Fprintf(tw, "  %s\t%s\t%s\t\t%s\n", row.Figure, row.Now, row.Then, row.Meaning)
	}
	return tw.Flush()
}

// printWhatIf prints what was asked for, if anything was.
func printWhatIf(w io.Writer, a tune.Advice) error {
	if len(a.WhatIf) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(tw, "\n  WHAT IF")
	for _, x := range a.WhatIf {
		fmt.Fprintf(tw, "\t%s", x.Text)
	}
	fmt.Fprintln(tw)
	for _, row := range tune.Effects(a) {
		fmt.Fprintf(tw, "  %s\t%s\n", row.Figure, strings.Join(row.WhatIf, "\t"))
	}
	for _, x := range a.WhatIf {
		if x.Refused != "" {
			fmt.Fprintf(tw, "What if %s: not predicted, %s.\n", x.Text, x.Refused)
		} else if f := x.Figures; f != nil && !f.Stable {
			fmt.Fprintf(tw, "What if %s: not stable, the load is %.0f%% of what that carries (%s).\n", x.Text, 100*f.Load, f.Bottleneck)
		}
	}
	return tw.Flush()
}

// adviceTable is a row a setting, or one for a queue without advice, and a column
// more for everything that was asked for.
func adviceTable(r tune.Result) table {
	t := table{value: r, header: []string{"queue", "setting", "current", "from", "recommended", "changed", "why"}}
	var asked []string
	for _, a := range r.Queues {
		if len(asked) == 0 {
			for _, x := range a.WhatIf {
				asked = append(asked, "what if "+x.Text)
			}
		}
	}
	t.header = append(t.header, asked...)
	add := func(whatIf []string, cells ...string) {
		t.rows = append(t.rows, append(cells, append(whatIf, make([]string, len(asked)-len(whatIf))...)...))
	}
	for _, a := range r.Queues {
		if a.Refused != "" {
			add(nil, a.Queue, "", "", "", "", "", "no advice: "+a.Refused)
		}
		for _, c := range a.Changes {
			add(nil, a.Queue, c.Setting, c.Current, c.Told, c.Recommended, fmt.Sprint(c.Changed), c.Why)
		}
		for _, row := range tune.Effects(a) {
			add(row.WhatIf, a.Queue, row.Figure, row.Now, "predicted", row.Then, fmt.Sprint(row.Now != row.Then), row.Meaning)
		}
	}
	return t
}
