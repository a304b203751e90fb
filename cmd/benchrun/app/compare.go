package app

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/spf13/cobra"
	"golang.org/x/perf/benchunit"
)

func compareCommand() *cobra.Command {
	var failOn string
	var out output
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two results, as a gate for CI",
		Long: `Compare takes two result directories or files in the Go benchmark format and
prints what changed, by benchstat's medians and U-test, with Holm's correction
over all rows. With --fail-on it exits with 1 if a change is both shown and
larger than a limit.

The limits are separated by commas: a metric (` + strings.Join(metricNames(), ", ") + `, or a unit as
in live-B/item), then > and how much more is too much: 5% of the old median, or
an amount in the unit.`,
		Example: `  benchrun compare reports/out/old reports/out/new
  benchrun compare main.txt branch.txt --fail-on 'time>5%,allocs>0'`,
		Args: wantArgs("OLD", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			limits, err := parseLimits(failOn)
			if err != nil {
				return err
			}
			changes, warnings, err := experiment.Diff(args[0], args[1])
			if err != nil {
				return err
			}
			for _, l := range limits {
				if !slices.ContainsFunc(changes, func(c experiment.Change) bool { return c.Unit == l.unit }) {
					return fmt.Errorf("--fail-on: no benchmark measures %s, found %s", l.unit, strings.Join(unitsOf(changes), ", "))
				}
			}
			for _, w := range warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", w.Scope, w.Text)
			}
			if err := out.print(cmd.OutOrStdout(), changeTable(changes)); err != nil {
				return err
			}
			failed := false
			for _, c := range changes {
				for _, l := range limits {
					if l.exceeded(c) {
						failed = true
						fmt.Fprintf(cmd.ErrOrStderr(), "failed: %s: %s is %s, the limit is %s\n", c.Benchmark, c.Unit, change(c), l.text)
					}
				}
			}
			if failed {
				return errGate
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "", "limits on what may grow, as in 'time>5%,allocs>0'")
	out.addTo(cmd)
	return cmd
}

// metrics are the short names of units in --fail-on.
var metrics = map[string]string{"time": "sec/op", "cpu": "cpu-sec/op", "bytes": "B/op", "allocs": "allocs/op"}

func metricNames() []string {
	names := make([]string, 0, len(metrics))
	for name := range metrics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A limit is one part of --fail-on.
type limit struct {
	text  string
	unit  string
	share float64 // of the old median, where percent
	more  float64 // in the unit, otherwise
	byPct bool
}

var limitSyntax = regexp.MustCompile(`^\s*([^\s>]+)\s*>\s*([0-9.]+)\s*(%?)\s*$`)

func parseLimits(s string) ([]limit, error) {
	if s == "" {
		return nil, nil
	}
	var limits []limit
	for part := range strings.SplitSeq(s, ",") {
		m := limitSyntax.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("--fail-on: found %q, expected METRIC>AMOUNT or METRIC>SHARE%%, as in time>5%% or allocs>0", part)
		}
		amount, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("--fail-on: found %q, expected a number", m[2])
		}
		unit, ok := metrics[m[1]]
		if !ok && !strings.Contains(m[1], "/") {
			return nil, fmt.Errorf("--fail-on: unknown metric %q, expected one of %s or a unit as in live-B/item", m[1], strings.Join(metricNames(), ", "))
		}
		if !ok {
			_, unit = benchunit.Tidy(1, m[1])
		}
		l := limit{text: strings.TrimSpace(part), unit: unit, byPct: m[3] != ""}
		if l.byPct {
			l.share = amount / 100
		} else {
			l.more = amount
		}
		limits = append(limits, l)
	}
	return limits, nil
}

// exceeded never fails on noise alone: the change has to be shown as well.
func (l limit) exceeded(c experiment.Change) bool {
	if c.Unit != l.unit || !c.Shown() {
		return false
	}
	grown := c.New.Center - c.Old.Center
	if l.byPct {
		return grown > l.share*c.Old.Center
	}
	return grown > l.more
}

func unitsOf(changes []experiment.Change) []string {
	var units []string
	for _, c := range changes {
		units = append(units, c.Unit)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

func changeTable(changes []experiment.Change) table {
	t := table{value: changes, header: []string{"benchmark", "unit", "old", "new", "change", "p", "p adjusted"}}
	for _, c := range changes {
		class := benchunit.ClassOf(c.Unit)
		t.rows = append(t.rows, []string{
			strings.TrimPrefix(c.Benchmark, "Benchmark"), c.Unit,
			benchunit.Scale(c.Old.Center, class), benchunit.Scale(c.New.Center, class), change(c),
			fmt.Sprintf("%.3f", c.P), fmt.Sprintf("%.3f", c.PAdjusted),
		})
	}
	return t
}

// change is "~" where none was shown.
func change(c experiment.Change) string {
	switch {
	case !c.Shown():
		return "~"
	case c.Old.Center == 0:
		return "+" + benchunit.Scale(c.New.Center, benchunit.ClassOf(c.Unit))
	}
	return fmt.Sprintf("%+.2f%%", 100*(c.Ratio-1))
}
