package reports

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// renderTuneMarkdown prints what a pull request that changes settings needs.
func renderTuneMarkdown(r advice.Result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Recommended settings\n\n%s\n\nFrom %s, seed %d. ", text(tuneTitle(r)), text(r.Source), r.Seed)
	if len(r.Objectives) > 0 {
		var texts []string
		for _, o := range r.Objectives {
			texts = append(texts, o.Text)
		}
		fmt.Fprintf(&b, "Objectives: %s.\n", text(strings.Join(texts, "; ")))
	} else {
		b.WriteString("No objectives were given: waits as short as they get within 5% of what events take to be settled, as cheaply as that can be had.\n")
	}
	for _, a := range r.Queues {
		fmt.Fprintf(&b, "\n## %s\n\n", text(a.Queue))
		if a.Refused != "" {
			fmt.Fprintf(&b, "No advice: %s. Record instead: %s.\n", text(a.Refused), text(a.Record))
			continue
		}
		fmt.Fprintf(&b, "%s %s\n\n", text(a.Summary), text(a.Bottleneck))
		if a.Unstable != "" {
			fmt.Fprintf(&b, "**Not stable:** %s.\n\n", text(a.Unstable))
		}
		b.WriteString(mdHeader("setting", "current", "from", "recommended", "why") + "\n")
		for _, c := range a.Changes {
			recommended := c.Recommended
			if !c.Changed {
				recommended = "="
			}
			b.WriteString(mdRow(c.Title, c.Current, c.Told, recommended, c.Why) + "\n")
		}
		b.WriteString("\n")
		header := []string{"predicted", "current", "recommended"}
		for _, x := range a.WhatIf {
			header = append(header, "if "+x.Text)
		}
		b.WriteString(mdHeader(header...) + "\n")
		for _, e := range advice.Effects(a) {
			b.WriteString(mdRow(append([]string{e.Figure, e.Now, e.Then}, e.WhatIf...)...) + "\n")
		}
		for _, x := range a.WhatIf {
			if x.Refused != "" {
				fmt.Fprintf(&b, "\nWhat if %s: not predicted, %s.\n", text(x.Text), text(x.Refused))
			}
		}
		if a.Reproduction != nil {
			fmt.Fprintf(&b, "\nThe model's fit is %s. Mean queue wait %s measured, %s by the model; mean work %s and %s.\n", text(a.Reproduction.Verdict),
				durations.Seconds(a.Reproduction.WaitMean[0]), durations.Seconds(a.Reproduction.WaitMean[1]), durations.Seconds(a.Reproduction.WorkMean[0]), durations.Seconds(a.Reproduction.WorkMean[1]))
		}
		list := func(title string, items []string) {
			if len(items) > 0 {
				fmt.Fprintf(&b, "\n%s\n\n", title)
			}
			for _, x := range items {
				fmt.Fprintf(&b, "- %s\n", text(x))
			}
		}
		list("Out of reach:", a.Impossible)
		list("Not reached in the time given:", a.Unmet)
		list("Doubts:", a.Doubts)
		list("What the data can't tell:", a.Unidentified)
		for _, p := range a.Paste {
			language := "go"
			if p.Kind == "flags" {
				language = "text"
			}
			fmt.Fprintf(&b, "\nFor %s:\n\n```%s\n%s\n```\n", p.For, language, strings.TrimRight(strings.ReplaceAll(p.Text, "```", ""), "\n"))
		}
	}
	if len(r.Idle) > 0 {
		fmt.Fprintf(&b, "\nIdle in the interval: %s.\n", text(strings.Join(r.Idle, ", ")))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", text(n))
	}
	fmt.Fprintf(&b, "\nThe simulation behind this is within %s of queueing theory in its mean waits (benchrun sim validate).\n", recordedTrust().Worst)
	return b.Bytes()
}
