package app

import (
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/merge"
	"github.com/spf13/cobra"
)

func (s Suite) mergeCommand() *cobra.Command {
	var out output
	var dir string
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the shards of a run on several machines",
		Long: `Merge joins what run --shard left on each machine and writes one report. A DIR is
a shard's result directory or holds some. Each case was sampled on one machine
only, so that no ratio is between two. The report names machines that differ;
absolute figures of their cases can't be compared.

A drive has no shards: its arms took turns on one machine, and its latencies hold
there. Read each drive's own report.

Missing and unfinished shards are a warning; shards whose plans, seeds or versions
differ are an error.`,
		Example: `  benchrun run --profile full --shard 1/2 --out one     # on one machine
  benchrun run --profile full --shard 2/2 --out two     # on another
  benchrun merge one two --out both

  # All in a folder, as the Job in scripts/kubernetes leaves them
  benchrun merge /results --out /results/merged`,
		Args: wantSome("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			into, err := resultDir(dir, "merged")
			if err != nil {
				return err
			}
			if err := merge.Dirs(args, into); err != nil {
				if dir == "" {
					discard(into)
				}
				return err
			}
			run, samples, err := experiment.Load(into)
			if err != nil {
				return err
			}
			return s.publish(cmd.OutOrStdout(), into, run, samples, out)
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "result directory, new or empty (default reports/out/TIME-merged)")
	out.addTo(cmd)
	return cmd
}
