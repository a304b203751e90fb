package app

import (
	"fmt"
	"path/filepath"

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
program's. Each names the
machine, the versions, the date and the command.`,
		Example: `  benchrun results reports/out/20261120T201500Z-full reports/out/20261120T221500Z-ablation`,
		Args:    wantSome("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, from := range args {
				run, samples, err := experiment.Load(from)
				if err != nil {
					return err
				}
				if len(samples) == 0 {
					return fmt.Errorf("%s holds no sample: there is nothing to show", from)
				}
				names, err := reports.WriteResults(dir, from, run, verdict.Analyse(run, samples))
				if err != nil {
					return err
				}
				for _, name := range names {
					fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, name))
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "to", "reports/results", "folder for the pages")
	return cmd
}
