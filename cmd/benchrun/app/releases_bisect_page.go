package app

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/releases"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/reports"
)

func stepTable(steps []step) table {
	t := table{value: steps, header: []string{"case", "changed in", "before it", "ratio", "interval", "verdict", "sure"}}
	for _, x := range steps {
		sure := "yes"
		if !x.Sure {
			sure = "no"
		}
		version := x.Version
		if x.Subject != "" {
			version += " (" + strings.ReplaceAll(x.Subject, "|", "/") + ")" // in a table's cell
		}
		t.rows = append(t.rows, []string{x.Case, version, x.Before, wording.Times(x.Change.Ratio),
			fmt.Sprintf("%.2f to %.2f×", x.Change.Low, x.Change.High), string(x.Change.Verdict), sure})
	}
	return t
}

// bisectPage is releases.md: the cases that a release changed, and those that none did;
// of a search that was cut short, what there is.
func bisectPage(run experiment.Run, stretches []stretch, all []releases.Release, steps []step, cutShort bool) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# Releases of %s that changed a case", path.Base(all[0].Module))
	line("")
	line("From %s to %s, %s: each minor was compared with the next, and the releases, and", all[0].Version, all[len(all)-1].Version, wording.Count(len(all), "release"))
	line("with --commits the commits, between two that differ in a case were halved until it was known which changed it. A ratio is")
	line("how many times as fast a release is as the one before it. Sure says that the intervals decided every step.")
	line("")
	if cutShort {
		line("**The search did not come to its end**: there may be more.")
		line("")
	}
	t := stepTable(steps)
	if len(t.rows) > 0 {
		line("| %s |", strings.Join(t.header, " | "))
		line("|%s", strings.Repeat("---|", len(t.header)))
	}
	for _, row := range t.rows {
		line("| `%s` | %s |", row[0], strings.Join(row[1:], " | "))
	}
	same, undecided := unchanged(stretches, steps)
	list(&w, "No change was shown in:", same)
	list(&w, "Not decided:", undecided)
	w.WriteString(reports.Provenance(run))
	return w.Bytes()
}

// unchanged are lines on the cases that no release was shown to change, and on those of
// stretches that had too few samples to tell.
func unchanged(stretches []stretch, steps []step) (same, undecided []string) {
	floors := map[string]float64{}
	found := func(name string) bool { return slices.ContainsFunc(steps, func(x step) bool { return x.Case == name }) }
	for _, part := range stretches {
		first, last := part.releases[0].Version, part.releases[len(part.releases)-1].Version
		if len(part.stats.Components) == 0 {
			undecided = append(undecided, fmt.Sprintf("all from %s to %s", first, last))
		}
		for _, c := range part.stats.Components {
			for _, cs := range c.Cases {
				name := c.Component + "/" + cs.Name
				switch v := comparisonOf(cs, last).Verdict; v {
				case verdict.Same:
					floors[name] = max(floors[name], cs.NoiseFloor)
				case verdict.TooFew, verdict.NoResult:
					undecided = append(undecided, fmt.Sprintf("`%s` from %s to %s: %s", name, first, last, v))
				default:
					if !found(name) { // the search was cut short
						undecided = append(undecided, fmt.Sprintf("`%s` from %s to %s: %s, by a release that was not found yet", name, first, last, v))
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		if !found(name) {
			same = append(same, fmt.Sprintf("`%s`, noise floor at most %s", name, wording.Percent(floors[name])))
		}
	}
	return same, undecided
}

// list writes lines beneath a sentence, or nothing where there are none.
func list(w *bytes.Buffer, sentence string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s\n\n- %s\n", sentence, strings.Join(lines, "\n- "))
	}
}
