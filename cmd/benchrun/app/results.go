package app

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
)

func resultsCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "results DIR...",
		Short: "Write the pages of results that are kept beside the code",
		Long: `Results writes a Markdown page a component (every case against upstream: ratio,
interval, allocations, live bytes, what is relaxed) and one of the headlines from
a run's directory; from an ablation's, the page of techniques; from a swap's, the
program's. Each names the machine, the versions, the date and the command.

Several runs make one set of pages, as where a few cases took longer than the
first run's budget: of a case that more than one holds the last one's samples count.`,
		Example: `  benchrun results reports/out/20261120T201500Z-full reports/out/20261120T221500Z-ablation`,
		Args:    wantSome("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeResults(cmd.OutOrStdout(), dir, args)
		},
	}
	cmd.Flags().StringVar(&dir, "to", "reports/results", "folder for the pages")
	return cmd
}

func writeResults(w io.Writer, dir string, args []string) error {
	write := func(from string, runs []experiment.Run, run experiment.Run, samples []experiment.Measurement) error {
		names, err := reports.WriteResults(dir, from, runs, verdict.Analyse(run, samples))
		for _, name := range names {
			fmt.Fprintln(w, filepath.Join(dir, name))
		}
		return err
	}
	var joined experiment.Run
	var all []experiment.Measurement
	var runs []experiment.Run
	for _, from := range args {
		run, samples, err := experiment.Load(from)
		if err != nil {
			return err
		}
		if len(samples) == 0 {
			return fmt.Errorf("%s holds no sample: there is nothing to show", from)
		}
		if p := run.Plan.Profile; p == experiment.Ablation || p == experiment.Swap {
			if err := write(from, []experiment.Run{run}, run, samples); err != nil {
				return err
			}
			continue
		}
		if runs = append(runs, run); len(runs) == 1 {
			joined, all = run, samples
		} else {
			joined, all = joinRuns(joined, all, run, samples)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return write("", runs, joined, all)
}

// joinRuns adds a later run to another: of a case that both hold the later samples count.
func joinRuns(run experiment.Run, samples []experiment.Measurement, later experiment.Run, more []experiment.Measurement) (experiment.Run, []experiment.Measurement) {
	again := map[string]bool{}
	cases := slices.Clone(run.Plan.Cases)
	for _, c := range later.Plan.Cases {
		again[c.Key()] = true
		if i := slices.IndexFunc(cases, func(x experiment.PlannedCase) bool { return x.Key() == c.Key() }); i >= 0 {
			cases[i] = c
		} else {
			cases = append(cases, c)
		}
	}
	run.Plan.Cases = cases
	samples = slices.DeleteFunc(slices.Clone(samples), func(m experiment.Measurement) bool { return again[m.Case] })
	return run, append(samples, more...)
}
