package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/tune/advice"
)

// printAdvice prints what to change in each queue and what that brings, and on a terminal
// where the report is, if it could be written; everything with all.
func printAdvice(w io.Writer, r advice.Result, out output, report string, all bool) error {
	if out != "table" {
		return out.print(w, adviceTable(r))
	}
	for _, a := range r.Queues {
		if a.Refused != "" {
			continue
		}
		if err := printQueue(w, a, all); err != nil {
			return err
		}
	}
	for _, a := range r.Queues {
		if a.Refused != "" {
			printLine(w, "%s: no advice: %s.", a.Queue, a.Refused)
			printLine(w, "  Record instead: %s.", a.Record)
			fmt.Fprintln(w)
		}
	}
	if len(r.Idle) > 0 {
		fmt.Fprintf(w, "Idle: %s.\n\n", plain.Line(strings.Join(r.Idle, ", ")))
	}
	if why := tuneStops[r.Stopped]; why != "" {
		fmt.Fprintf(w, "%s\n\n", why)
	}
	for _, p := range r.Paste {
		fmt.Fprintf(w, "All together, for %s:\n  %s\n\n", p.For, indented(p.Text))
	}
	for _, n := range r.Notes {
		printLine(w, "note: %s", n)
	}
	printLine(w, "From %s (seed %d).", r.Source, r.Seed)
	if report == "" {
		return nil
	}
	more := "Every setting (--all), what the data can't tell and what-if curves: "
	if all {
		more = "What the data can't tell and what-if curves: "
	}
	_, err := fmt.Fprintf(w, "%s%s\n", more, report)
	return err
}

func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// printQueue begins with what to change.
func printQueue(w io.Writer, a advice.Advice, all bool) error {
	printLine(w, "%s: %s", a.Queue, a.Summary)
	for _, line := range []string{a.Bottleneck, a.Certainty()} {
		if line != "" {
			printLine(w, "  %s", line)
		}
	}
	if a.Unstable != "" {
		printLine(w, "  Not stable: %s.", a.Unstable)
	}
	if all || slices.ContainsFunc(a.Changes, func(c advice.SettingAdvice) bool { return c.Changed }) {
		fmt.Fprintln(w)
		if err := printChanges(w, a, all); err != nil {
			return err
		}
	}
	if err := printWhatIf(w, a); err != nil {
		return err
	}
	for _, doubt := range a.Doubts {
		printLine(w, "  doubt: %s", doubt)
	}
	if all || a.Recommended != a.Current.Settings {
		for _, p := range a.Paste[:min(1, len(a.Paste))] {
			fmt.Fprintf(w, "\n  %s\n", indented(p.Text))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

var tuneStops = map[string]string{
	"budget":      "The budget was spent before the search was complete: what was found is reported.",
	"interrupted": "Interrupted before the search was complete: what was found is reported.",
}

// printChanges prints the settings that change and what that does to waits, or everything.
func printChanges(w io.Writer, a advice.Advice, all bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	from := ""
	if all {
		from = "FROM\t"
	}
	fmt.Fprintf(tw, "  SETTING\tCURRENT\tRECOMMENDED\t%sWHY\n", from)
	for _, c := range a.Changes {
		recommended := c.Recommended
		if !c.Changed {
			recommended = "="
		}
		switch {
		case all:
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\n", c.Title, c.Current, recommended, c.Told, c.Why)
		case c.Changed:
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", c.Title, c.Current, recommended, c.Why)
		}
	}
	for _, row := range advice.Effects(a) {
		switch {
		case all:
			fmt.Fprintf(tw, "  %s\t%s\t%s\t\t%s\n", row.Figure, row.Now, row.Then, row.Meaning)
		case row.First && row.Now != row.Then:
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", row.Figure, row.Now, row.Then, row.Meaning)
		}
	}
	return tw.Flush()
}

// printWhatIf prints what was asked for, if anything was.
func printWhatIf(w io.Writer, a advice.Advice) error {
	if len(a.WhatIf) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(tw, "\n  WHAT IF")
	for _, x := range a.WhatIf {
		fmt.Fprintf(tw, "\t%s", x.Text)
	}
	fmt.Fprintln(tw)
	for _, row := range advice.Effects(a) {
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

// adviceTable is a row a setting, or one for a queue without advice, one for each
// objective that is not kept, and a column more for everything that was asked for.
func adviceTable(r advice.Result) table {
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
			add(nil, a.Queue, "", "", "", "", "", "no advice: "+a.Refused+"; record instead: "+a.Record)
		}
		for _, x := range slices.Concat(a.Impossible, a.Unmet) {
			add(nil, a.Queue, "", "", "", "", "", "objective not kept: "+x)
		}
		for _, c := range a.Changes {
			add(nil, a.Queue, c.Setting, c.Current, c.Told, c.Recommended, fmt.Sprint(c.Changed), c.Why)
		}
		for _, row := range advice.Effects(a) {
			add(row.WhatIf, a.Queue, row.Figure, row.Now, "predicted", row.Then, fmt.Sprint(row.Now != row.Then), row.Meaning)
		}
	}
	return t
}
