package app

import (
	"fmt"

	"github.com/informerbench/informerbench/loadgen/sim/validate"
	"github.com/spf13/cobra"
)

func simValidateCommand() *cobra.Command {
	o := validate.Options{Arrivals: 1_000_000, Batch: 4}
	var out output
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Compare simulations with queueing theory",
		Long: `Validate simulates systems whose mean wait is known (M/M/c by Erlang, M/D/c by
Crommelin, M/G/1 by Pollaczek and Khinchine, and a token bucket) until the
interval of the mean is narrow enough, and prints theory, simulation and
difference. It exits with 1 if a difference is above 2 %.`,
		Example: `  # All models, in some minutes
  benchrun sim validate

  # A first look
  benchrun sim validate --precision 0.02`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(o.Precision > 0) || o.Most < 1 {
				return fmt.Errorf("--precision: found %v and --replicas: found %d, expected more than 0", o.Precision, o.Most)
			}
			o.Done = func(r validate.Row) {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s, utilisation %.2f, service %s: %+.2f %%\n", r.Model, r.Utilisation, r.Service, 100*r.Difference)
			}
			rows, err := validate.Theory(cmd.Context(), validate.Models(), o)
			if printed := printValidation(cmd, out, rows); err == nil {
				err = printed
			}
			if err != nil {
				return err
			}
			for _, r := range rows {
				if !r.Agrees() {
					return errGate
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.Float64Var(&o.Precision, "precision", 0.005, "wanted half width of the means' intervals, as a share")
	f.IntVar(&o.Most, "replicas", 100, "simulations of a model at most")
	f.Uint64Var(&o.Seed, "seed", 1, "seed")
	out.addTo(cmd)
	return cmd
}

func printValidation(cmd *cobra.Command, out output, rows []validate.Row) error {
	t := table{header: []string{"model", "utilisation", "service", "theory", "simulated", "difference"}, value: rows}
	for _, r := range rows {
		t.rows = append(t.rows, []string{
			r.Model, figureText(r.Utilisation, "share"), r.Service, roundDuration(r.Theory).String(),
			fmt.Sprintf("%s [%s, %s]", figureText(r.Simulated.Mean, "s"), figureText(r.Simulated.Low, "s"), figureText(r.Simulated.High, "s")),
			fmt.Sprintf("%+.2f%%", 100*r.Difference),
		})
	}
	return out.print(cmd.OutOrStdout(), t)
}
