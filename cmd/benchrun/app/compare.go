package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/compare"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
	"golang.org/x/perf/benchunit"
)

// A gateOutput is where compare leaves what CI systems read.
type gateOutput struct {
	markdown, junit string
	annotate        annotation
}

func compareCommand() *cobra.Command {
	var failOn, history, label string
	var o compare.Options
	var out output
	gate := gateOutput{annotate: "none"}
	cmd := &cobra.Command{
		Use:   "compare OLD NEW [--col KEY FILE...]",
		Short: "Compare two results, as a gate for CI",
		Long: `Compare takes two result directories or files in the Go benchmark format and
prints what changed, by benchstat's medians and U-test, with Holm's correction
over all rows, or over those that a limit covers. With --fail-on it exits with 1
if a change is both shown and larger than a limit.

The limits are separated by commas: [SCOPE:]METRIC>AMOUNT. A metric is one of
` + strings.Join(compare.MetricNames(), ", ") + `, or a unit as
in live-B/item; the amount is 5% of the old median, or an amount in the unit as
it is printed (seconds, bytes). METRIC<AMOUNT is for what should not shrink. A
scope is a component or the start of a case's name, with * for anything.

Results belong together as benchstat has it: each configuration (goos, goarch,
cpu, pkg and whatever a file names) is compared with its own kind alone, unless
--ignore names the key; --col, --row and --filter are benchstat's too. A Unit
line with assume=exact counts. NEW fails the gate if go test failed in it.

A change is shown if it is beyond chance and beyond the noise floor, which is
what the A/A controls differ by from their baselines. Between two result
directories of the same Go and modules, a sample counts by its ratio to
upstream's code in the same round, so a slow machine neither fails nor hides
anything; between files, times count as they are. With --paired, where both were
sampled in turns as scripts/compare-revisions.sh does, the ratios of the rounds
count, and all of their interval has to lie beyond the noise floor. It warns where
machines, plans or versions differ.`,
		Example: `  benchrun compare reports/out/old reports/out/new
  benchrun compare main.txt branch.txt --fail-on 'time>5%,allocs>0'

  # Tighter for queues, looser for writes beside lists, a floor below reads a second
  benchrun compare old new --fail-on 'queue:time>5%,indexer/op=write*:cpu>20%,indexer:reads/s<10%'

  # The variants in one file, beside the first
  benchrun compare --col /impl --filter .name:Queue raw.txt

  # In a GitHub workflow
  benchrun compare old new --fail-on 'time>5%' --annotate github --markdown "$GITHUB_STEP_SUMMARY"

  # Keep a history for benchrun trend
  benchrun compare old new --history history.jsonl --label "$(git rev-parse --short HEAD)"

  # In GitLab, as artifacts of the kinds codequality and junit
  benchrun compare old new --fail-on 'time>5%' --annotate gitlab --junit junit.xml > gl-code-quality-report.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("col") {
				return wantSome("FILE")(cmd, args)
			}
			return wantArgs("OLD", "NEW")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("fail-on") && strings.TrimSpace(failOn) == "" {
				return fmt.Errorf("--fail-on: found %q, expected limits, as in 'time>5%%,queue:allocs>0': a gate without limits passes everything", failOn)
			}
			if cmd.Flags().Changed("label") && history == "" {
				return errors.New("--label: has no effect without --history")
			}
			limits, err := compare.ParseLimits(failOn)
			if err != nil {
				return err
			}
			for flag, path := range map[string]string{"--markdown": gate.markdown, "--junit": gate.junit} {
				if path == "" {
					continue
				}
				if err := atomicfile.Check(path); err != nil {
					return fmt.Errorf("%s: %w", flag, err)
				}
			}
			defer lessMemory()()
			result, err := compare.Diff(o, args...)
			if err != nil {
				return err
			}
			changes := result.Changes
			warnings, err := compare.CheckLimits(limits, changes)
			if err != nil {
				return err
			}
			warnings = append(warnings, result.Warnings...) // behind those of the limits: the list is cut
			warnings = append(warnings, compare.Judge(changes, func(c compare.Change) bool {
				return len(limits) == 0 || slices.ContainsFunc(limits, func(l compare.Limit) bool { return l.Covers(c) })
			})...)
			g := judge(changes, limits)
			g.Old, g.New, g.Limits, g.Warnings, g.Broken = args[0], args[len(args)-1], failOn, warnings, result.Failure
			stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
			if gate.annotate == "gitlab" {
				stdout = stderr // which leaves stdout to the report
			}
			printWarnings(stderr, warnings)
			if err := out.print(stdout, changeTable(changes)); err != nil {
				return err
			}
			for _, f := range g.Failed {
				fmt.Fprintf(stderr, "failed: %s\n", plain.Line(f.String()))
			}
			if err := gate.write(cmd, g); err != nil {
				return err
			}
			if err := appendHistory(o, history, args[len(args)-1], label); err != nil {
				return err
			}
			fmt.Fprintf(stderr, "%s.\n", plain.Line(g.Verdict()))
			if len(g.Failed) > 0 || g.Broken != "" {
				return errGate
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&failOn, "fail-on", "", "limits on what may change, as in 'time>5%,queue:allocs>0'")
	f.StringVar(&o.Col, "col", "", "compare the values of these keys with one another, as in /impl, instead of two files")
	f.StringVar(&o.Row, "row", "", "keys that a row is of (default .fullname: the whole name)")
	f.StringVar(&o.Ignore, "ignore", "", "keys of the configuration that don't separate results, as in cpu,commit")
	f.StringVar(&o.Filter, "filter", "", "which results count, as in 'goarch:amd64 .name:Queue' (default all)")
	f.BoolVar(&o.Paired, "paired", false, "the samples were taken in turns: compare those of one round, behind the lines \"# round N\"")
	f.StringVar(&gate.markdown, "markdown", "", "write a job summary in Markdown to this file; $GITHUB_STEP_SUMMARY is appended to")
	f.StringVar(&gate.junit, "junit", "", "write JUnit XML to this file: a test for each comparison under a limit")
	f.StringVar(&history, "history", "", "append NEW's figures to this file, a line of JSON each time, for benchrun trend")
	f.StringVar(&label, "label", "", "what NEW is called in the history, such as a commit (default its name)")
	f.Var(&gate.annotate, "annotate", "annotations: github (workflow commands on stderr), gitlab (a Code Quality report on stdout, the table on stderr), none")
	complete(cmd, "annotate", annotations...)
	out.addTo(cmd)
	return cmd
}

// judge keeps the changes that a limit covers and finds those that exceed one.
func judge(changes []compare.Change, limits []compare.Limit) reports.Gate {
	g := reports.Gate{Changes: changes}
	if len(limits) == 0 {
		return g
	}
	g.Changes = nil
	for _, c := range changes {
		covered := false
		for _, l := range limits {
			covered = covered || l.Covers(c)
			if l.Exceeded(c) {
				g.Failed = append(g.Failed, reports.Failure{Change: c, Limit: l.String()})
			}
		}
		if covered {
			g.Changes = append(g.Changes, c)
		}
	}
	return g
}

// maxWarnings keeps the table in sight; the files hold more.
const maxWarnings = 20

func printWarnings(w io.Writer, warnings []experiment.Warning) {
	for _, x := range warnings[:min(maxWarnings, len(warnings))] {
		fmt.Fprintf(w, "warning: %s\n", plain.Line(x.Scope+": "+x.Text))
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		fmt.Fprintf(w, "warning: and %d more\n", more)
	}
}

func (o gateOutput) write(cmd *cobra.Command, g reports.Gate) error {
	if o.markdown != "" {
		if err := writeSummary(o.markdown, g.Markdown()); err != nil {
			return fmt.Errorf("--markdown: %w", err)
		}
	}
	if o.junit != "" {
		b, err := g.JUnit()
		if err == nil {
			err = atomicfile.Write(o.junit, b)
		}
		if err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	switch o.annotate {
	case "github":
		_, err := cmd.ErrOrStderr().Write(g.GitHub())
		return err
	case "gitlab":
		b, err := g.GitLab()
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(b)
		return err
	}
	return nil
}

// writeSummary replaces a file, but for GitHub's job summary, which earlier
// commands of the step may have written to.
func writeSummary(path string, b []byte) error {
	if path != os.Getenv("GITHUB_STEP_SUMMARY") {
		return atomicfile.Write(path, b)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// An annotation is the --annotate flag.
type annotation string

var annotations = []string{"github", "gitlab", "none"}

func (a *annotation) String() string { return string(*a) }
func (a *annotation) Type() string   { return "system" }
func (a *annotation) Set(s string) error {
	if !slices.Contains(annotations, s) {
		return fmt.Errorf("expected one of %s", strings.Join(annotations, ", "))
	}
	*a = annotation(s)
	return nil
}

func changeTable(changes []compare.Change) table {
	t := table{value: changes, header: []string{"benchmark", "unit", "old", "new", "change", "noise", "p", "p adjusted"}}
	for _, c := range changes {
		class := benchunit.ClassOf(c.Unit)
		t.rows = append(t.rows, []string{
			shortName(c.Name()), plain.Line(c.Unit),
			benchunit.Scale(c.Old.Center, class), benchunit.Scale(c.New.Center, class), reports.ChangeText(c), reports.NoiseText(c),
			fmt.Sprintf("%.3f", c.P), fmt.Sprintf("%.3f", c.PAdjusted),
		})
	}
	return t
}

// shortName leaves "Benchmark" out, unless the line could then be a command to
// a CI system: "::error::" or "##[error]".
func shortName(benchmark string) string {
	short := plain.Line(strings.TrimPrefix(benchmark, "Benchmark"))
	if strings.HasPrefix(short, ":") || strings.HasPrefix(short, "#") {
		return plain.Line(benchmark)
	}
	return short
}
