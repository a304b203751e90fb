package app

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/explain"
	"github.com/spf13/cobra"
)

func workloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workload show|validate|explain|apply",
		Short: "Inspect a workload, or write it into a cluster",
		Long: `Workload shows, checks and explains a workload: one of the presets that
"benchrun list workloads" names, or a YAML file. A field that is left out has its
default, which show prints.

Fields such as service, calls and size are distributions, and so are such flags:

  5ms                        always that value; also constant(5ms)
  uniform(1ms, 3ms)          between the two
  exp(10ms)                  exponential, by its mean
  lognormal(5ms, 80ms)       by its median and 99th percentile
  pareto(1ms, 1.5)           by its minimum and tail index, which is above 1
  gamma(10ms, 0.5)           by its mean and coefficient of variation
  quantiles(0=1ms, 0.5=5ms, 1=1s)   by points, straight between them`,
		Example: `  # A file of one's own begins with a preset
  benchrun workload show rolling-update > mine.yaml
  benchrun workload validate mine.yaml

  # How many events, how fast, and can the controller keep up?
  benchrun workload explain mine.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(workloadShowCommand(), workloadValidateCommand(), workloadExplainCommand(), workloadApplyCommand())
	return cmd
}

func workloadShowCommand() *cobra.Command {
	out := output("yaml")
	cmd := &cobra.Command{
		Use:   "show PRESET|FILE",
		Short: "Print a workload with all its defaults",
		Example: `  benchrun workload show steady-5k-nodes
  benchrun workload show mine.yaml -o json`,
		Args:              wantArgs("PRESET|FILE"),
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := loadgen.Open(args[0])
			if err != nil {
				return err
			}
			switch out {
			case "yaml":
				b, err := spec.YAML()
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(b)
				return err
			case "json":
				return out.print(cmd.OutOrStdout(), table{value: spec})
			}
			return fmt.Errorf("-o %s does not fit a workload, expected yaml or json", out)
		},
	}
	cmd.Flags().VarP(&out, "output", "o", "how to print the workload: yaml, json")
	complete(cmd, "output", "yaml", "json")
	return cmd
}

func workloadValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate PRESET|FILE...",
		Short: "Check workloads; errors name file, line and field",
		Example: `  benchrun workload validate mine.yaml
  benchrun workload validate workloads/*.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: found no arguments, expected presets or files", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return loadgen.Presets(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var wrong []error
			for _, name := range args {
				spec, err := loadgen.Open(name)
				if err != nil {
					wrong = append(wrong, err)
					continue
				}
				printLine(cmd.OutOrStdout(), "%s: fine, %s", name, wording.Count(len(spec.Resources), "resource"))
			}
			return errors.Join(wrong...)
		},
	}
}

func workloadExplainCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "explain PRESET|FILE",
		Short: "Show how many events a workload has and how busy they keep a controller",
		Long: `Explain works out, without running the workload, the expected events and rates of
each resource, the size of its objects, how busy the workers are, and what of it
can't be kept up. Rates are events a second, the peak is the highest expected rate.`,
		Example: `  benchrun workload explain 65k-nodes
  benchrun workload explain mine.yaml -o json`,
		Args:              wantArgs("PRESET|FILE"),
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := loadgen.Open(args[0])
			if err != nil {
				return err
			}
			e, err := explain.Explain(spec)
			if err != nil {
				return err
			}
			if err := out.print(cmd.OutOrStdout(), explanationTable(e)); err != nil {
				return err
			}
			if out == "table" {
				printOffer(cmd.OutOrStdout(), e)
			}
			return nil
		},
	}
	out.addTo(cmd)
	return cmd
}

func explanationTable(e *explain.Explanation) table {
	t := table{
		header: []string{"resource", "kind", "pattern", "objects", "end", "added", "modified", "deleted", "rate", "peak", "object bytes", "bytes/s", "heap bytes"},
		value:  e,
	}
	for _, r := range e.Resources {
		t.rows = append(t.rows, []string{
			r.Name, r.Kind, r.Pattern, strconv.Itoa(r.Population), rounded(r.End),
			rounded(r.Events.Added), rounded(r.Events.Modified), rounded(r.Events.Deleted), rounded(r.Events.Rate), rounded(r.Events.Peak),
			strconv.Itoa(r.Bytes), rounded(r.BytesSecond), strconv.FormatInt(r.Heap, 10),
		})
	}
	return t
}

// rounded keeps to what an expectation can say.
func rounded(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// printOffer says in sentences what the table has no room for.
func printOffer(w io.Writer, e *explain.Explanation) {
	fmt.Fprintln(w)
	if e.Seconds > 0 {
		fmt.Fprintf(w, "events    %s in %v: %s/s, %s/s at the peak\n", rounded(e.Total.All()), figureText(e.Seconds, "s"), rounded(e.Total.Rate), rounded(e.Total.Peak))
	} else {
		fmt.Fprintf(w, "events    %s, as fast as possible\n", rounded(e.Total.All()))
	}
	for _, r := range e.Resources {
		if l := r.Life; l != nil {
			ends := "stays"
			if l.Seconds > 0 {
				ends = fmt.Sprintf("is gone after %v", figureText(l.Seconds, "s"))
			}
			fmt.Fprintf(w, "life      one of %s has %s modifications and %s\n", r.Name, rounded(l.Modifications), ends)
		}
	}
	c := e.Reconcile
	fmt.Fprintf(w, "workers   %d, loaded to %s, %s at the peak: %s reconciles/s of %v\n",
		c.Workers, wording.Percent(c.Utilisation), wording.Percent(c.PeakUse), rounded(c.Reconciles), figureText(c.Service, "s"))
	limit := "no client limit"
	if c.QPS > 0 {
		limit = fmt.Sprintf("a limit of %s/s", rounded(c.QPS))
	}
	fmt.Fprintf(w, "API       %s calls/s, %s\n", rounded(c.Calls), limit)
	if c.Retries > 0 {
		fmt.Fprintf(w, "retries   %s/s, the limiter lets %s/s through\n", rounded(c.Retries), rounded(c.RetryLimit))
	}
	fmt.Fprintf(w, "backlog   the initial population takes the workers %v\n", figureText(c.DrainSeconds, "s"))
	for _, warning := range e.Warnings {
		fmt.Fprintf(w, "warning   %s\n", warning)
	}
}
