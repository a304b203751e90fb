package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// techniquesPage is techniques.md: what each technique of a run of profile ablation
// brings, by component and variant.
func techniquesPage(run experiment.Run, stats verdict.Stats) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# What each technique brings")
	line("")
	line("%s", text(stats.Decision))
	line("")
	line("Each variant was built as it is and once without each technique, and sampled in turns. A gain of 1.20× says that 1.2 times")
	line("as much of the quantity named is taken without it; `~` says that nothing was shown above the noise floor or beyond chance. Intervals hold with %s confidence.", wording.Percent(run.Plan.Confidence))
	of := ""
	for _, t := range verdict.Techniques(stats.Components) {
		if next := t.Component + "/" + t.Variant; next != of {
			of = next
			line("")
			line("## %s", text(of))
			line("")
			line("| technique | case | gain | interval | noise floor | load | shown |")
			line("|---|---|--:|---|--:|--:|---|")
		}
		for i, c := range t.Cases {
			name := ""
			if i == 0 {
				name = fmt.Sprintf("**%s**: %s", text(t.Name), text(t.Why))
			}
			load := none
			if c.Case.Load != nil {
				load = wording.Percent(c.Case.Load.Share)
			}
			v := c.Row.Comparison.Verdict
			shown := cmp.Or(map[verdict.Verdict]string{verdict.Slower: "gain", verdict.Faster: "loss"}[v], string(v))
			line("| %s | %s, %s | %s | %s | %s | %s | %s |", name, text(strings.TrimSuffix(c.Case.Name, "/of="+t.Variant)), quantity(c.Case.Unit), wording.Times(c.Gain),
				interval(verdict.Comparison{Low: c.Low, High: c.High}), wording.Percent(c.Case.NoiseFloor), load, text(shown))
		}
	}
	writeProvenance(run, line)
	return w.Bytes()
}

// Provenance is the end of a results page, as [WriteResults] has it: where, when and
// from what it was made.
func Provenance(run experiment.Run) string {
	var w strings.Builder
	writeProvenance(run, func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) })
	return w.String()
}

// writeProvenance ends a results page: where, when and from what it was made.
func writeProvenance(run experiment.Run, line func(format string, args ...any)) {
	line("")
	line("## Where this comes from")
	line("")
	command := fact{"Command", "benchrun " + strings.Join(quoted(run.Command), " ")}
	writeFacts(slices.Concat([]fact{command}, runFacts(run), environmentFacts(run.Environment), versionFacts(run.Versions)), line)
}
