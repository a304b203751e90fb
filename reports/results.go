package reports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// WriteResults writes the pages that are kept beside the code, one a component, the
// headlines and what is slower, into dir; of an ablation its page of techniques, of a
// swap the program's, of releases one with a column a release. They show every case,
// nulls included, and are derived from the result directory from alone, or without one
// from the stats of all the runs, of which each is named.
func WriteResults(dir, from string, runs []experiment.Run, stats verdict.Stats) ([]string, error) {
	run := runs[0]
	pages := map[string][]byte{}
	switch run.Plan.Profile {
	case experiment.Ablation:
		pages["techniques.md"] = techniquesPage(run, stats)
	case experiment.Swap:
		root, err := os.OpenRoot(from)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		name, page, err := swapPage(root, run, stats)
		if err != nil {
			return nil, err
		}
		pages[name] = page
	case experiment.Releases:
		pages["releases.md"] = releasesPage(run, stats)
	default:
		pages["headlines.md"] = headlinesPage(runs, stats)
		pages["slower.md"] = slowerPage(runs, stats)
		for _, c := range stats.Components {
			pages[c.Component+".md"] = componentPage(runs, c)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var names []string
	for name, text := range pages {
		names = append(names, name)
		if err := writeText(filepath.Join(dir, name), text); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// componentPage is a component's table: every case and variant against upstream.
func componentPage(runs []experiment.Run, c verdict.ComponentStats) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# %s", text(capital(c.Component)))
	line("")
	line("%s", text(c.Decision))
	line("")
	line("Ratios say how many times as fast as upstream a variant is in the case's unit, with the interval that holds with %s confidence;", wording.Percent(runs[0].Plan.Confidence))
	line("`~`: no difference above the noise floor was shown. Allocations and live bytes are medians.")
	line("")
	line("| variant | how it works | relaxes |")
	line("|---|---|---|")
	for _, v := range variants(c) {
		line("| %s | %s | %s |", mdName(v), text(v.Summary), text(strings.Join(v.Relaxes, ", ")))
	}
	line("")
	line("| case | variant | ratio | interval | shown | allocs/op | live B/item | noise floor |")
	line("|---|---|--:|---|---|--:|--:|--:|")
	for _, x := range c.Cases {
		name := fmt.Sprintf("%s, %s", code(x.Name), quantity(x.Unit))
		for _, r := range x.Rows {
			if r.Control {
				continue
			}
			ratio, between, shown := "1×", "", "baseline"
			if y := r.Comparison; y != nil {
				ratio, between, shown = wording.Times(y.Ratio), interval(*y), text(string(y.Verdict))
				if y.Verdict == verdict.NoResult {
					ratio = none
				}
			}
			line("| %s | %s | %s | %s | %s | %s | %s | %s |", name, text(r.Name), ratio, between, shown,
				metric(r, "allocs/op"), metric(r, "live-B/item"), wording.Percent(x.NoiseFloor))
			name = ""
		}
	}
	writeAhead(c, line)
	for _, run := range runs {
		writeProvenance(run, line)
	}
	return w.Bytes()
}

// writeAhead lists where a peer beside the baseline does better than each variant of
// ours: the case's best row may be one that nobody can drop in.
func writeAhead(c verdict.ComponentStats, line func(string, ...any)) {
	var rows []string
	compared := 0
	for _, x := range c.Cases {
		best := verdict.Row{}
		var peers []verdict.Row
		for _, r := range x.Rows {
			switch y := r.Comparison; {
			case y == nil || r.Control || y.Verdict == verdict.NoResult:
			case r.Peer:
				peers = append(peers, r)
			case best.Comparison == nil || y.Ratio > best.Comparison.Ratio:
				best = r
			}
		}
		if len(peers) == 0 || best.Comparison == nil {
			continue
		}
		compared++
		for _, r := range peers {
			if r.Comparison.Ratio > best.Comparison.Ratio {
				rows = append(rows, fmt.Sprintf("| %s, %s | %s | %s | %s, %s | %s |", code(x.Name), quantity(x.Unit), text(r.Name),
					wording.Times(r.Comparison.Ratio), text(best.Name), wording.Times(best.Comparison.Ratio), text(strings.Join(r.Relaxes, ", "))))
			}
		}
	}
	if compared == 0 {
		return
	}
	line("")
	line("## Where a peer is ahead")
	line("")
	if len(rows) == 0 {
		line("No peer does better than the best of ours in %s.", wording.Count(compared, "case"))
		return
	}
	line("Of %s; the ratios are those of the table above.", wording.Count(compared, "case"))
	line("")
	line("| case | peer | its ratio | the best of ours | what the peer relaxes |")
	line("|---|---|--:|--:|---|")
	for _, row := range rows {
		line("%s", row)
	}
}

// metric is the median of a row's samples in a unit.
func metric(r verdict.Row, unit string) string {
	s, ok := r.Metrics[unit]
	if !ok {
		return none
	}
	c := newColumn("", []float64{s.Center})
	return c.value(s.Center) + c.scaler.Prefix
}

// headlinesPage is what is wanted of the flagships, and what the run shows.
func headlinesPage(runs []experiment.Run, stats verdict.Stats) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# Headlines")
	line("")
	line("%s", text(stats.Decision))
	line("")
	line("What is wanted of the variants that stand for their component, and what the run shows: how many times as good as upstream, in the")
	line("quantity named. `reached` says that all of the interval is at least what is wanted, `missed` that all of it is less. `reached, not shown`")
	line("and `not shown` have it in between; the first where the ratio itself is enough.")
	line("")
	line("| load | variant | quantity | wanted | shown | interval | |")
	line("|---|---|---|--:|--:|---|---|")
	for _, t := range targets {
		x := t.measure(runs[0], stats)
		line("| %s, %s | %s | %s | %s | %s | %s | %s |", text(t.load), code(t.component+"/"+t.name), text(t.variant), text(t.quantity()),
			wording.Times(t.atLeast), wording.Times(x.Ratio), interval(x), t.judge(x))
	}
	for _, run := range runs {
		writeProvenance(run, line)
	}
	return w.Bytes()
}

// slower is the ratio below which a loss against upstream is listed.
const slower = 0.95

// slowerPage lists where a variant is slower than upstream, which the best rows hide.
func slowerPage(runs []experiment.Run, stats verdict.Stats) []byte {
	var w bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	var rows []string
	cases := 0
	for _, c := range stats.Components {
		cases += len(c.Cases)
		for _, x := range c.Cases {
			for _, r := range x.Rows {
				if y := r.Comparison; y != nil && !r.Control && y.Verdict != verdict.NoResult && y.Ratio < slower {
					rows = append(rows, fmt.Sprintf("| %s, %s | %s | %s | %s | %s |", code(c.Component+"/"+x.Name), quantity(x.Unit),
						text(r.Name), wording.Times(y.Ratio), interval(*y), text(string(y.Verdict))))
				}
			}
		}
	}
	line("# Slower than upstream")
	line("")
	if len(rows) == 0 {
		line("No variant is below %s of upstream in %s.", wording.Times(slower), wording.Count(cases, "case"))
	} else {
		line("Below %s of upstream, of %s:", wording.Times(slower), wording.Count(cases, "case"))
		line("")
		line("| case | variant | ratio | interval | shown |")
		line("|---|---|--:|---|---|")
	}
	for _, row := range rows {
		line("%s", row)
	}
	for _, run := range runs {
		writeProvenance(run, line)
	}
	return w.Bytes()
}
