package app

import (
	"fmt"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/spf13/cobra"
)

func (s Suite) reportCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Regenerate the report of a run",
		Long: `Report derives statistics, verdicts and reports again from run.json and raw.txt,
for example with a newer benchrun, or of a run that was killed.`,
		Example: `  benchrun report reports/out/20261120T201500Z-quick`,
		Args:    wantArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer lessMemory()()
			run, samples, err := experiment.Load(args[0])
			if err != nil {
				return err
			}
			if len(samples) == 0 {
				return fmt.Errorf("%s holds no sample: there is nothing to report", args[0])
			}
			return s.publish(cmd.OutOrStdout(), args[0], run, samples, out)
		},
	}
	out.addTo(cmd)
	return cmd
}
