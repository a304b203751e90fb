package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (s Suite) runCommand() *cobra.Command {
	var o lab.Options
	var dir, shard string
	var cores []int
	var out output
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Compare the variants and write a report",
		Long: `Run samples every variant of the selected cases in turns, each sample in a
fresh process, and takes the baseline twice: what it differs by from itself is
the noise floor. Sampling ends when every ratio's interval is as narrow as
wanted or the budget is spent. Ctrl-C ends it early and still reports.

The result directory holds raw.txt, which the stock benchstat reads
(benchstat -filter .name:Queue -col '/impl@(client-go ring)' raw.txt), run.json,
stats.json, profiles, report.md and report.html.`,
		Example: `  # Everything on the quick profile, in under two minutes
  benchrun run

  # Two queues on every case about a cycle, until ratios are known to 2%
  benchrun run --profile full --component queue --variant ring,client-go --case op=cycle --precision 2%

  # The pipeline on your own cluster's traffic
  kubectl get pods -A --watch --output-watch-events -o json > pods.json
  benchrun run --component pipeline --trace pods.json

  # The same cases on one, two and four processors
  benchrun run --component queue --cpu 1,2,4

  # One of two machines; benchrun merge joins their results
  benchrun run --profile full --shard 1/2`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if shard != "" {
				var err error
				if o.Shard, err = lab.ParseShard(shard, os.Getenv("JOB_COMPLETION_INDEX")); err != nil {
					return fmt.Errorf("--shard: %w", err)
				}
				o.Seed = cmp.Or(o.Seed, 1) // the same on every machine
			}
			return s.run(cmd, o, cores, dir, out)
		},
	}
	f := cmd.Flags()
	oneOf(cmd, &o.Profile, "profile", "which cases and how long", lab.Quick, lab.Full)
	f.StringSliceVar(&o.Components, "component", nil, "components to compare (default all)")
	f.StringSliceVar(&o.Variants, "variant", nil, "variants to compare, the baseline is always one (default all)")
	f.StringVar(&o.Case, "case", "", "cases to run: part of component/name, or a regular expression (default the profile's)")
	f.IntSliceVar(&cores, "cpu", nil, "run each case on so many processors, as go test -cpu: 1,2,4 (default all of the machine, once)")
	f.StringVar(&o.Workload, "workload", "", "preset or file that the pipeline runs (see benchrun list workloads)")
	f.StringVar(&o.Trace, "trace", "", "recording that the pipeline runs (see benchrun trace --help)")
	f.DurationVar(&o.Budget, "budget", 0, "time for samples and profiles (default 1m40s quick, 1h40m full)")
	f.Var((*share)(&o.Precision), "precision", "wanted half width of a ratio's interval (default 5% quick, 2% full)")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of keys, events and schedule (default random, printed)")
	f.IntVar(&o.Rounds, "rounds", 0, "exactly so many samples of each variant and case (default as many as the precision takes)")
	f.StringVar(&shard, "shard", "", "sample one part of the cases, for merge: 2/5, or 5 where JOB_COMPLETION_INDEX says which; the seed is then 1 unless given")
	f.StringVar(&dir, "out", "", "result directory, new or empty (default reports/out/TIME-PROFILE)")
	out.addTo(cmd)
	completeNames(cmd, s.listing)
	completeBy(cmd, "workload", completeWorkloads)
	return cmd
}

// checkCores refuses what no machine has, and repetitions: a case would be planned
// twice under one name.
func checkCores(cores []int) error {
	for i, n := range cores {
		switch {
		case n < 1 || n > maxCores:
			return fmt.Errorf("--cpu: found %d, expected 1 to %d", n, maxCores)
		case slices.Contains(cores[:i], n):
			return fmt.Errorf("--cpu: found %d twice, expected different numbers", n)
		}
	}
	return nil
}

const maxCores = 1024

func (s Suite) run(cmd *cobra.Command, o lab.Options, cores []int, dir string, out output) error {
	if err := noZeroes(cmd); err != nil {
		return err
	}
	o.Seed = cmp.Or(o.Seed, uint64(time.Now().UnixNano()))
	load := bench.Options{Seed: o.Seed, Workload: o.Workload, Trace: o.Trace, Cut: func(err error) { warnCut(cmd.ErrOrStderr(), err) }}
	if s.Check != nil {
		if _, err := unlessInterrupted(cmd.Context(), func() (any, error) { return nil, s.Check(load) }); err != nil {
			return err
		}
	}
	cases, err := s.Cases(load)
	if err != nil {
		return err
	}
	if err := checkCores(cores); err != nil {
		return err
	}
	if most := slices.Max(append(cores, 1)); most > runtime.NumCPU() {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: --cpu: %d are more than this machine's %d: they take turns\n", most, runtime.NumCPU())
	}
	o.Timeout = s.timeout
	plan, err := lab.NewPlan(bench.OnCores(cases, cores), o)
	if err != nil {
		return err
	}
	if (o.Workload != "" || o.Trace != "") && len(o.Components) > 0 && !slices.Contains(o.Components, "pipeline") {
		return errors.New("--workload and --trace are what the pipeline runs, which is not selected: expected --component pipeline")
	}
	l, err := newLab(plan)
	if err != nil {
		return err
	}
	return s.execute(cmd, l, plan, experiment.Versions(), dir, out)
}

// execute samples a plan into dir, by default one named after time and profile,
// and publishes what was found.
func (s Suite) execute(cmd *cobra.Command, l lab.Lab, plan experiment.Plan, versions map[string]string, dir string, out output) error {
	dir, err := resultDir(dir, plan.Profile)
	if err != nil {
		return err
	}
	progress := newProgressLine(cmd.ErrOrStderr())
	l.Report = progress.show
	arms := 0
	for _, c := range plan.Cases {
		arms += len(c.Arms)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s, seed %d, into %s\n", wording.Count(len(plan.Cases), "case"), wording.Count(arms, "arm"), plan.Seed, dir)
	run := experiment.Run{Command: commandLine(cmd), Plan: plan, Environment: experiment.Here(), Versions: versions}
	run, samples, err := l.Execute(cmd.Context(), dir, run)
	progress.done()
	return s.conclude(cmd, dir, run, samples, err, out)
}

// conclude publishes what was sampled, even of a run that ended with an error: a
// disk that is full by then does not cost the hour before.
func (s Suite) conclude(cmd *cobra.Command, dir string, run experiment.Run, samples []experiment.Measurement, err error, out output) error {
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", dir, err)
		if len(samples) == 0 {
			return err
		}
		if errors.Is(err, lab.ErrRemoved) { // the decision is all that is left
			return errors.Join(printOutcome(cmd.OutOrStdout(), run, verdict.Analyse(run, samples), "", out), err)
		}
		run.Warnings = append(run.Warnings, experiment.Warn("run", "the run did not come to its end: %v", err))
	case len(samples) == 0:
		if run.Stopped == "interrupted" { // the directory is free for the next try
			os.Remove(filepath.Join(dir, "raw.txt"))
			os.Remove(filepath.Join(dir, "run.json"))
			discard(dir)
		}
		return nothingSampled(run)
	}
	return errors.Join(err, s.publish(cmd.OutOrStdout(), dir, run, samples, out))
}

var errTooSoon = errors.New("interrupted before the first sample: there is nothing to report")

// nothingSampled is the error of a run without a sample.
func nothingSampled(run experiment.Run) error {
	if run.Stopped == "interrupted" {
		return errTooSoon
	}
	return fmt.Errorf("sampling ended because %s, and no sample succeeded: there is nothing to report", why(run))
}

// noZeroes refuses limits of 0, which would mean none, and negative ones. It refuses
// empty names too, which a variable that is not set leaves: they would mean the default.
func noZeroes(cmd *cobra.Command) error {
	for _, name := range []string{"workload", "trace", "case"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s: found \"\", expected a name", name)
		}
	}
	return inRange(cmd, []string{"budget", "rounds"}) // --precision refuses its own
}

// inRange refuses what is negative of the flags that are given, and 0 but for those
// that may be.
func inRange(cmd *cobra.Command, flags []string, mayBeZero ...string) error {
	for _, name := range flags {
		f, zero := cmd.Flags().Lookup(name), slices.Contains(mayBeZero, name)
		if text := f.Value.String(); f.Changed && (strings.HasPrefix(text, "-") || !zero && (text == "0" || text == "0s")) {
			return outOfRange(name, text, zero)
		}
	}
	return nil
}

// outOfRange is the error of a number that is negative, or 0 where it can't be.
func outOfRange(flag string, found any, mayBeZero bool) error {
	if mayBeZero {
		return fmt.Errorf("--%s: found %v, expected 0 or more", flag, found)
	}
	return fmt.Errorf("--%s: found %v, expected more than 0", flag, found)
}

// publish derives statistics and reports of a result directory and prints the
// decision, the ranking and where the report is.
func (s Suite) publish(w io.Writer, dir string, run experiment.Run, samples []experiment.Measurement, out output) error {
	stats := verdict.Analyse(run, samples)
	// The decision is shown even if the disk is full.
	wrote := errors.Join(verdict.Write(dir, stats), s.Report(dir, run, stats))
	report := filepath.Join(dir, "report.html")
	if wrote != nil {
		report = ""
	}
	return errors.Join(printOutcome(w, run, stats, report, out), wrote)
}

// printOutcome prints the decision and the ranking, and names the report, if there
// is one.
func printOutcome(w io.Writer, run experiment.Run, stats verdict.Stats, report string, out output) error {
	if out != "table" {
		return out.print(w, rankingTable(stats))
	}
	fmt.Fprintf(w, "%s\n\n", stats.Decision)
	t := rankingTable(stats)
	if len(stats.Components) > 1 {
		t = decisionTable(stats)
	}
	if err := out.print(w, t); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nSampling ended because %s. ", why(run))
	if len(stats.Warnings) > 0 {
		fmt.Fprint(w, "The report has warnings. ")
	}
	_, err := fmt.Fprintln(w, "Ratios say how many times as fast as the baseline, as geometric means over the cases.")
	if report != "" {
		_, err = fmt.Fprintln(w, "Report:", report)
	}
	return err
}

// decisionTable has a row a component: what to use, and what that brings.
func decisionTable(stats verdict.Stats) table {
	t := table{value: stats, header: []string{"component", "use", "ratio", "worst", "faster in", "noise", "load"}}
	for _, c := range stats.Components {
		use, ok := c.Pick()
		if !ok {
			t.rows = append(t.rows, []string{c.Component, use.Variant, "-", "-", "-", noiseOf(c), loadOf(c)})
			continue
		}
		t.rows = append(t.rows, []string{c.Component, use.Variant, wording.Times(use.Ratio), wording.Times(use.Worst),
			fmt.Sprintf("%d of %d", use.Faster, use.Cases), noiseOf(c), loadOf(c)})
	}
	return t
}

func rankingTable(stats verdict.Stats) table {
	t := table{value: stats, clauses: 9, header: []string{"component", "variant", "ratio", "worst", "faster", "slower", "cases", "noise", "load", "relaxes"}}
	for _, c := range stats.Components {
		noise, load := noiseOf(c), loadOf(c)
		for _, r := range c.Ranking {
			ratio, worst := "-", "-"
			if r.Cases > 0 {
				ratio, worst = fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.Worst)
			}
			t.rows = append(t.rows, []string{
				c.Component, r.Variant, ratio, worst,
				strconv.Itoa(r.Faster), strconv.Itoa(r.Slower), strconv.Itoa(r.Cases),
				noise, load, strings.Join(r.Relaxes, " "),
			})
		}
	}
	return t
}

// noiseOf is the largest noise floor of the cases that have verdicts.
func noiseOf(c verdict.ComponentStats) string {
	noise := "-"
	floor := -1.0
	for _, cs := range c.Cases {
		for _, r := range cs.Rows {
			if r.Control && r.Comparison.Verdict == verdict.Same && cs.NoiseFloor > floor {
				floor = cs.NoiseFloor
				noise = wording.Percent(floor)
			}
		}
	}
	return noise
}

// loadOf is the largest part that the load alone has in any variant's cost.
func loadOf(c verdict.ComponentStats) string {
	share := 0.0
	for _, cs := range c.Cases {
		if cs.Load != nil {
			share = max(share, cs.Load.Share)
		}
	}
	if share == 0 {
		return "-"
	}
	return wording.Percent(share)
}

// why says in words why sampling ended.
func why(run experiment.Run) string {
	if run.Stopped == "precision" && run.Dropped() {
		return stops[run.Stopped] + ", where samples did not fail"
	}
	return stops[run.Stopped]
}

// stops has the reasons; a run that was killed gives none.
var stops = map[string]string{
	"precision":   "every ratio is as precise as wanted",
	"rounds":      "all rounds are done",
	"budget":      "the budget is spent",
	"interrupted": "it was interrupted",
	"":            "the run died",
}

// commandLine gives back the arguments that repeat this run.
func commandLine(cmd *cobra.Command) []string {
	args := append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")), cmd.Flags().Args()...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), ",")
		}
		if f.Name != "output" {
			args = append(args, "--"+f.Name+"="+text)
		}
	})
	return args
}

// A share is a flag that takes 5% or 0.05.
type share float64

func (s *share) Type() string { return "percent" }
func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(*s), 'g', -1, 64) + "%"
}

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x > 0 && x < 1) {
		return errors.New("expected a share between 0 and 1, as in 5% or 0.05")
	}
	*s = share(x)
	return nil
}
