package app

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim/reality"
	"github.com/informerbench/informerbench/loadgen/sim/validate"
	"github.com/spf13/cobra"
)

// A simValidation is what the flags of sim validate say.
type simValidation struct {
	theory  validate.Options
	driven  bool
	reality reality.Options
	out     output
}

func simValidateCommand() *cobra.Command {
	v := simValidation{theory: validate.Options{Arrivals: 1_000_000, Batch: 4, Precision: 0.01}}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Compare simulations with queueing theory, or with drives",
		Long: `Validate simulates systems whose mean wait is known (M/M/c by Erlang, M/D/c by
Crommelin, M/G/1 by Pollaczek and Khinchine, and a token bucket) until the
interval of the mean is narrow enough, and prints theory, simulation and
difference. It exits with 1 if a difference is above 2%.

With --drive it drives a controller on client-go's queue in real time, simulates
it with the same events and service times, at random and in bursts, and prints
p50 and p99 of the queue wait of both. It exits with 1 if one differs by more than 15% and more than
50 µs. That needs a machine with little else to do.`,
		Example: `  # All models, in some minutes
  benchrun sim validate

  # A first look
  benchrun sim validate --precision 5%

  # Against reality, six minutes
  benchrun sim validate --drive`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			others := []string{"arrivals", "utilisation", "workers", "service", "duration"}
			if v.driven {
				others = []string{"precision", "replicas"}
			}
			for _, name := range others {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s: has no effect with --drive=%t", name, v.driven)
				}
			}
			if v.driven {
				return v.compare(cmd)
			}
			return v.simulate(cmd)
		},
	}
	v.reality.Service, _ = randvar.Parse("exp(50ms)") // known to be well formed
	f := cmd.Flags()
	f.Var((*share)(&v.theory.Precision), "precision", "wanted half width of the means' intervals")
	f.IntVar(&v.theory.Most, "replicas", 60, "simulations of a model at most")
	f.BoolVar(&v.driven, "drive", false, "compare with drives in real time")
	f.StringSliceVar(&v.reality.Arrivals, "arrivals", []string{"poisson", "onoff"}, "how events come, in the drives: at random (poisson), a second of twice as many and a second of none (onoff)")
	completeList(cmd, "arrivals", reality.Kinds()...)
	f.Lookup("arrivals").DefValue = "poisson,onoff"
	f.Float64SliceVar(&v.reality.Utilisations, "utilisation", []float64{0.5, 0.8, 0.95}, "`shares` of the time that the workers are busy, in the drives")
	f.Lookup("utilisation").DefValue = "0.5,0.8,0.95"
	f.IntVar(&v.reality.Workers, "workers", 5, "concurrent reconciles, in the drives")
	f.Var(distFlag{&v.reality.Service}, "service", "time of a reconcile, in the drives")
	f.DurationVar(&v.reality.Duration, "duration", time.Minute, "of each drive")
	f.Uint64Var(&v.theory.Seed, "seed", 1, "seed")
	v.out.addTo(cmd)
	return cmd
}

func (v *simValidation) simulate(cmd *cobra.Command) error {
	if v.theory.Most < 1 {
		return outOfRange("replicas", v.theory.Most, false)
	}
	v.theory.Done = func(r validate.Row) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s, utilisation %.2f, service %s: %+.2f%%\n", r.Model, r.Utilisation, r.Service, 100*r.Difference)
	}
	rows, failure := validate.Theory(cmd.Context(), validate.Models(), v.theory)
	t := table{header: []string{"model", "utilisation", "service", "theory", "simulated", "from", "to", "difference"}, value: rows}
	agree := true
	for _, r := range rows {
		agree = agree && r.Agrees()
		t.rows = append(t.rows, []string{
			r.Model, figureText(r.Utilisation, "share"), r.Service, durations.Text(r.Theory),
			figureText(r.Simulated.Mean, "s"), figureText(r.Simulated.Low, "s"), figureText(r.Simulated.High, "s"),
			fmt.Sprintf("%+.2f%%", 100*r.Difference),
		})
	}
	return v.end(cmd, t, agree, failure)
}

func (v *simValidation) compare(cmd *cobra.Command) error {
	switch {
	case v.reality.Workers < 1:
		return outOfRange("workers", v.reality.Workers, false)
	case v.reality.Duration <= 0:
		return outOfRange("duration", v.reality.Duration, false)
	case !(v.reality.Service.Mean() > 0):
		return outOfRange("service", v.reality.Service, false)
	}
	v.reality.Seed = v.theory.Seed
	v.reality.Done = func(r reality.Row) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s, utilisation %.2f: %d reconciles driven and simulated\n", r.Arrivals, r.Utilisation, r.Reconciles)
	}
	rows, failure := reality.Compare(cmd.Context(), v.reality)
	t := table{header: []string{"arrivals", "utilisation", "reconciles", "p50 driven", "simulated", "p99 driven", "simulated", "agrees"}, value: rows}
	agree := true
	for _, r := range rows {
		agree = agree && r.Agrees()
		t.rows = append(t.rows, []string{
			r.Arrivals, figureText(r.Utilisation, "share"), fmt.Sprint(r.Reconciles),
			durations.Text(r.DrivenP50), durations.Text(r.SimulatedP50),
			durations.Text(r.DrivenP99), durations.Text(r.SimulatedP99), yes(r.Agrees()),
		})
	}
	return v.end(cmd, t, agree, failure)
}

// end prints what there is, even of work that was interrupted.
func (v *simValidation) end(cmd *cobra.Command, t table, agree bool, failure error) error {
	if len(t.rows) > 0 {
		if err := v.out.print(cmd.OutOrStdout(), t); err != nil {
			return err
		}
	}
	if failure == nil && !agree {
		return errGate
	}
	return interrupted(failure)
}
