package app

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/trend"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
	"golang.org/x/perf/benchunit"
)

func trendCommand() *cobra.Command {
	var match, unit, html string
	var seed uint64
	var o compare.Options
	var out output
	cmd := &cobra.Command{
		Use:   "trend FILE|DIR...",
		Short: "Show how benchmarks changed over many results",
		Long: `Trend reads the history that compare --history keeps, result directories (or
directories of such) and files in the Go benchmark format, and marks the results
at which the level of a benchmark changed. Results are in the order of the times
that a history or run.json gives them. If one has no time, such as a file in the
Go benchmark format, they are in the order of the arguments.

A benchmark that every result measured beside upstream's code counts by its ratio
to that, which survives a change of machine; others by their figures. A level is
three results or more, and no change can be shown of fewer than eight: four on
either side; it takes more where many series are compared. A mark needs a rank
statistic that few permutations of the series reach, corrected over all series so
that one mark in twenty is expected to be chance, and a step beyond the noise
floor of the results. The page holds a chart of each series with a mark, and a
table of all.`,
		Example: `  benchrun compare old new --history history.jsonl --label "$(git rev-parse --short HEAD)"
  benchrun trend history.jsonl

  # The results of a folder, queues alone, as JSON
  benchrun trend reports/out --match Queue --unit cpu-sec/op -o json`,
		Args: wantSome("FILE|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pattern, err := regexp.Compile(match)
			if err != nil {
				return fmt.Errorf("--match: %w", err)
			}
			if err := atomicfile.Check(html); err != nil {
				return fmt.Errorf("--html: %w", err)
			}
			_, tidied := benchunit.Tidy(1, unit)
			defer lessMemory()()
			entries, warnings, err := trend.Read(o, args...)
			if err != nil {
				return err
			}
			t := trend.Find(entries, func(benchmark, u string) bool {
				return (unit == "" || u == tidied) && pattern.MatchString(benchmark)
			}, seed)
			t.Warnings = append(t.Warnings, warnings...)
			if len(t.Series) == 0 {
				return fmt.Errorf("%s: no benchmark of %s matches --match %q and --unit %q", strings.Join(args, ", "), wording.Count(len(entries), "result"), match, unit)
			}
			printWarnings(cmd.ErrOrStderr(), t.Warnings)
			if err := reports.WriteTrend(html, t); err != nil {
				return fmt.Errorf("--html: %w", err)
			}
			return printTrend(cmd, t, html, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&match, "match", "", "regular expression that a benchmark's name has to match (default all)")
	f.StringVar(&unit, "unit", "", "one unit, as in cpu-sec/op or allocs/op (default all)")
	f.StringVar(&o.Ignore, "ignore", "", "keys of the configuration that don't separate the results of directories and files, as in cpu,commit")
	f.StringVar(&o.Filter, "filter", "", "which results count, as in 'goarch:amd64 .name:Queue' (default all)")
	f.StringVar(&html, "html", "trend.html", "file for the page")
	f.Uint64Var(&seed, "seed", 1, "seed of the permutations")
	out.addTo(cmd)
	return cmd
}

func printTrend(cmd *cobra.Command, t trend.Trend, html string, out output) error {
	tab := table{value: t, header: []string{"benchmark", "unit", "results", "first", "last", "change", "since", "p"}}
	for _, s := range t.Series {
		figure := func(v float64) string {
			if s.Relative {
				return fmt.Sprintf("%.2f×", v)
			}
			return benchunit.Scale(v, benchunit.ClassOf(s.Unit))
		}
		row := []string{shortName(s.Name()), plain.Line(s.Unit), fmt.Sprint(len(s.Values)), figure(s.Values[0]), figure(s.Values[len(s.Values)-1])}
		for i, c := range s.Changes {
			step := fmt.Sprintf("%+.1f%%", 100*c.Grown())
			if c.Before == 0 {
				step = "from 0 to " + figure(c.After)
			}
			if i > 0 && out == "table" {
				row = []string{"", "", "", "", ""}
			}
			tab.rows = append(tab.rows, append(row[:5:5], step, plain.Line(t.Results[s.At[c.At]].Label), fmt.Sprintf("%.4f", c.P)))
		}
		if len(s.Changes) == 0 && out == "csv" {
			tab.rows = append(tab.rows, append(row, "~", "-", "-"))
		}
	}
	w := cmd.OutOrStdout()
	if out == "table" {
		printLine(w, "%s", t.Title())
	}
	if out != "table" || len(tab.rows) > 0 {
		if out == "table" {
			fmt.Fprintln(w)
		}
		if err := out.print(w, tab); err != nil {
			return err
		}
	}
	if out == "table" {
		fmt.Fprintf(w, "\nPage: %s\n", filepath.Clean(html))
	}
	return nil
}

// appendHistory keeps NEW's figures for trend.
func appendHistory(o compare.Options, history, path, label string) error {
	if history == "" {
		return nil
	}
	e, _, err := trend.Of(o, path, label) // compare has told the warnings
	if err == nil {
		err = trend.Append(history, e)
	}
	if err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	return nil
}
