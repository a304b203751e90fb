package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"golang.org/x/perf/benchunit"
)

// A Gate is the outcome of comparing two results in CI. Its methods print it in
// the forms that CI systems read; names in it may be anybody's and are escaped.
type Gate struct {
	Old, New string           // the paths compared
	Limits   string           // what may change, as given; empty for no gate
	Changes  []compare.Change // every comparison that a limit covers; all without limits
	Failed   []Failure        // one of each limit that a change exceeds
	Broken   string           // the line at which go test failed in New; "" if it did not
	Warnings []experiment.Warning
}

// A Failure is a change that was shown and exceeds a limit.
type Failure struct {
	compare.Change
	Limit string // as given: "queue:time>5%"
}

// What a job summary holds at most: it is read by people, and GitHub's ends at
// 1 MiB.
const maxGateRows, maxGateWarnings = 50, 20

// Verdict is the outcome in one sentence.
func (g Gate) Verdict() string {
	n := wording.Count(len(g.Changes), "comparison")
	switch failed := g.failedChanges(); {
	case g.Broken != "":
		return "Gate failed: a benchmark failed in the new result, " + g.Broken
	case failed > 0:
		return fmt.Sprintf("Gate failed: %d of %s changed by more than the limit %s", failed, n, g.Limits)
	case g.Limits != "":
		return fmt.Sprintf("Gate passed: none of %s is shown to change by more than the limit %s", n, g.Limits)
	case len(g.shown()) == 0:
		return fmt.Sprintf("No change is shown in %s", n)
	}
	return fmt.Sprintf("%s shown in %s", wording.Count(len(g.shown()), "change"), n)
}

// failedChanges counts changes, not the limits they exceed.
func (g Gate) failedChanges() int {
	rows := map[[2]string]bool{}
	for _, f := range g.Failed {
		rows[[2]string{f.Name(), f.Unit}] = true
	}
	return len(rows)
}

// ChangeText is a change as people read it: "+12.50%", "~" where none is shown,
// the new value where the old one is 0.
func ChangeText(c compare.Change) string {
	switch {
	case !c.Shown():
		return "~"
	case c.Old.Center == 0:
		return "+" + benchunit.Scale(c.New.Center, benchunit.ClassOf(c.Unit))
	}
	return fmt.Sprintf("%+.2f%%", 100*(c.Effect()-1))
}

// NoiseText is a change's noise floor: "±3.1%", "-" where it is unknown.
func NoiseText(c compare.Change) string {
	if c.Noise == 0 {
		return "-"
	}
	return "±" + wording.Percent(c.Noise)
}

// String says what failed on one line.
func (f Failure) String() string {
	class := benchunit.ClassOf(f.Unit)
	relative := ""
	if f.Relative > 0 {
		relative = "; beside upstream's code in the same runs"
	}
	return fmt.Sprintf("%s: %s is %s (%s, now %s%s; p %.3f after Holm, noise %s), the limit is %s", f.Name(), f.Unit, ChangeText(f.Change),
		benchunit.Scale(f.Old.Center, class), benchunit.Scale(f.New.Center, class), relative, f.PAdjusted, NoiseText(f.Change), f.Limit)
}

// Markdown is a job summary: the verdict, what failed, the largest changes and
// the warnings.
func (g Gate) Markdown() []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("### %s", text(g.Verdict()))
	line("")
	line("%s → %s. A change counts only beyond chance (Mann–Whitney U, and signed ranks of samples taken in turns; Holm's correction) and beyond the noise floor; where both runs hold the same upstream code, it is told beside it.", code(g.Old), code(g.New))
	if len(g.Failed) > 0 {
		line("")
		line("| benchmark | unit | old | new | change | noise | p adjusted | limit |")
		line("|---|---|--:|--:|--:|--:|--:|---|")
		for _, f := range g.Failed[:min(maxGateRows, len(g.Failed))] {
			line("%s %s |", gateRow(f.Change), gateCode(f.Limit))
		}
		if more := len(g.Failed) - maxGateRows; more > 0 {
			line("")
			line("%d more failed.", more)
		}
	}
	if shown := g.shown(); len(shown) > 0 {
		line("")
		line("<details><summary>%s</summary>", wording.Count(len(shown), "change")+" shown")
		line("")
		line("| benchmark | unit | old | new | change | noise | p adjusted |")
		line("|---|---|--:|--:|--:|--:|--:|")
		for _, c := range shown[:min(maxGateRows, len(shown))] {
			line("%s", gateRow(c))
		}
		line("")
		if more := len(shown) - maxGateRows; more > 0 {
			line("And %s.", wording.Count(more, "smaller one"))
		}
		line("</details>")
	}
	if len(g.Warnings) > 0 {
		line("")
		line("<details><summary>%s</summary>", wording.Count(len(g.Warnings), "warning"))
		line("")
		for _, x := range g.Warnings[:min(maxGateWarnings, len(g.Warnings))] {
			line("- %s: %s", code(x.Scope), text(x.Text))
		}
		if more := len(g.Warnings) - maxGateWarnings; more > 0 {
			line("- %d more", more)
		}
		line("")
		line("</details>")
	}
	return []byte(plain.Text(w.String()))
}

// shown are the changes that are shown, the largest first.
func (g Gate) shown() []compare.Change {
	var shown []compare.Change
	for _, c := range g.Changes {
		if c.Shown() {
			shown = append(shown, c)
		}
	}
	size := func(c compare.Change) float64 {
		if c.Effect() <= 0 {
			return math.Inf(1)
		}
		return math.Abs(math.Log(c.Effect()))
	}
	slices.SortStableFunc(shown, func(a, b compare.Change) int { return cmp.Compare(size(b), size(a)) })
	return shown
}

func gateRow(c compare.Change) string {
	class := benchunit.ClassOf(c.Unit)
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %.3f |", gateCode(strings.TrimPrefix(c.Name(), "Benchmark")), gateCode(c.Unit),
		benchunit.Scale(c.Old.Center, class), benchunit.Scale(c.New.Center, class), text(ChangeText(c)), NoiseText(c), c.PAdjusted)
}

// gateCode is a code span in a table's cell, where "|" ends the cell even in code.
func gateCode(s string) string {
	if s == "" {
		return ""
	}
	return strings.ReplaceAll(code(s), "|", `\|`)
}
