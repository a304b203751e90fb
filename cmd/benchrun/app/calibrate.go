package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/calibration"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/spf13/cobra"
)

func (s Suite) calibrateCommand() *cobra.Command {
	o := calibration.Options{}
	var out output
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Check how often verdicts are right on this machine",
		Long: `Calibrate runs experiments whose truth is known and counts how often the verdict
was right:

  equal     variants against themselves: a report may hold a false verdict in at
            most 5 of 100; simulated heavy-tailed, bimodal and drifting times too
  planted   a queue that does every tenth item twice is found to be slower in at
            least 90 of 100 runs of at most 60s, every twentieth within 180s
  habit     go test -count=10 of one variant, then of the other; and rounds of both
            for as long: after how much time they are as precise

Verdicts use CPU time; the same samples are judged by wall time as well, to show
why. A full calibration takes an hour or two. It may be stopped at any time, prints
what it has by then, and continues when it is started again. A promise counts as
kept after 40 runs. Reports beside it (in reports/out) print the
result in place of the one that came with this program.

It exits with 1 if a promise is broken.`,
		Example: `  benchrun calibrate

  # For ten minutes; the same again goes on
  benchrun calibrate --budget 10m`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 {
				return fmt.Errorf("--runs: found %d, expected at least 1", o.Runs)
			}
			if o.Budget < 0 {
				return fmt.Errorf("--budget: found %s, expected more than 0s", o.Budget)
			}
			var err error
			if o.Cases, err = s.Cases(bench.Options{Seed: o.Seed}); err != nil {
				return err
			}
			program, err := self()
			if err != nil {
				return err
			}
			o.Sampler = func(p experiment.Plan, count int) lab.Sampler {
				return lab.Children(func(c experiment.PlannedCase, a experiment.Arm) []string {
					return slices.Concat(program, sampleArgs(p, c, calibration.Variant(c, a), "--arm", a.Name,
						"--time", p.SampleTime.String(), "--planted", "--count", strconv.Itoa(count)))
				}, p.Timeout)
			}
			progress := newProgressLine(cmd.ErrOrStderr())
			o.Report = progress.show
			result, err := calibration.Run(cmd.Context(), o)
			progress.done()
			if err != nil {
				return err
			}
			return printCalibration(cmd, result, o.Dir, out)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Runs, "runs", 40, "trials of each kind, a quarter of it of the habit")
	f.DurationVar(&o.Budget, "budget", 0, "begin no trial later than this (default no limit)")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of keys and schedules")
	f.StringVar(&o.Dir, "out", filepath.Join("reports", "out", "calibration"), "directory, new or of an earlier calibration")
	out.addTo(cmd)
	return cmd
}

func printCalibration(cmd *cobra.Command, r calibration.Result, dir string, out output) error {
	t := table{value: r, header: []string{"check", "evidence", "promise", "result", ""}}
	broken := false
	for _, c := range r.Checks {
		promise, state := "-", ""
		if c.Promise > 0 {
			promise, state = fmt.Sprintf("at most %.0f%%", 100*c.Promise), string(c.State())
			if c.Planted > 0 {
				promise = fmt.Sprintf("at least %.0f%% in %s", 100*c.Promise, time.Duration(c.Budget*float64(time.Second)))
			}
		}
		broken = broken || state == string(calibration.Broken)
		t.rows = append(t.rows, []string{c.Name, c.Evidence, promise, c.String(), state})
	}
	if err := out.print(cmd.OutOrStdout(), t); err != nil {
		return err
	}
	if out == "table" {
		if r.Habit != nil {
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s.\n", r.Habit)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "\nResult: %s\n", filepath.Join(dir, calibration.FileName))
	}
	if broken {
		return errGate
	}
	return nil
}
