package reports

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// releasesPage has a row a case and a column a release, against the first of them.
func releasesPage(run experiment.Run, stats verdict.Stats) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	var releases []string
	baseline := run.Plan.Cases[0].Baseline
	for _, a := range run.Plan.Cases[0].Arms {
		if !a.Control && a.Name != baseline {
			releases = append(releases, text(a.Name))
		}
	}
	of := ""
	for module := range run.Versions { // there is one
		of = " of " + text(path.Base(module))
	}
	line("# Releases%s compared with %s", of, text(baseline))
	line("")
	for _, sentence := range strings.SplitAfter(stats.Decision, ". ") {
		line("- %s", text(strings.TrimSpace(sentence)))
	}
	line("")
	line("How many times as fast as %s a release is, with the interval that holds with %s confidence; in bold what is beyond",
		text(baseline), wording.Percent(run.Plan.Confidence))
	line("the noise floor and chance.")
	line("")
	line("| case | %s | noise floor |", strings.Join(releases, " | "))
	line("|---|%s--:|", strings.Repeat("---|", len(releases)))
	for _, c := range stats.Components {
		for _, x := range c.Cases {
			cells := ""
			for _, release := range releases {
				cells += " " + releaseCell(x, release) + " |"
			}
			line("| %s, %s |%s %s |", code(c.Component+"/"+x.Name), quantity(x.Unit), cells, wording.Percent(x.NoiseFloor))
		}
	}
	writeProvenance(run, line)
	return w.Bytes()
}

// releaseCell is what a case shows of a release.
func releaseCell(x verdict.CaseStats, release string) string {
	for _, r := range x.Rows {
		y := r.Comparison
		if r.Control || text(r.Name) != release || y == nil || y.Verdict == verdict.NoResult {
			continue
		}
		cell := wording.Times(y.Ratio) + ", " + interval(*y)
		if y.Verdict == verdict.Faster || y.Verdict == verdict.Slower {
			cell = "**" + cell + "**"
		}
		return cell
	}
	return none
}
