package app

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/tune/lease"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/election"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/leaderelection"
)

// electionTuning is what the flags of election say.
type electionTuning struct {
	objectives lease.Objectives
	current    string
	elector    string
	latency    string
	stall      string
	seed       uint64
	world      failover.Config
	dir        reportDir
	out        output
}

func electionCommand() *cobra.Command {
	var e electionTuning
	cmd := &cobra.Command{
		Use:   "election",
		Short: "Recommend the settings of leader election",
		Long: `Election simulates crashes, partitions and slow API servers and recommends lease
duration, renew deadline and retry period: the cheapest with which another
replica leads in time.`,
		Example: `  # A failover within 10 s and 5 API calls a second
  benchrun election --failover 10s --api-budget 5

  # What the settings of today do when the API server stalls
  benchrun election --lease 15s/10s/2s --api-stall 'exp(8s)' --api-stall-every 5m`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd) },
	}
	f := cmd.Flags()
	f.Uint64Var(&e.seed, "seed", 1, "seed of the simulations")
	f.StringVar(&e.dir.path, "out", "", "directory of the report, new or empty (default reports/out/TIME-election)")
	e.out.addTo(cmd)
	e.addTo(cmd)
	return cmd
}

func (e *electionTuning) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&e.objectives.Failover, "failover", 0, "wanted time from a leader's crash until another leads, in 99 of 100 cases (default that of --lease)")
	f.Float64Var(&e.objectives.Calls, "api-budget", 0, "API calls a second of all candidates together (default those of --lease)")
	f.Float64Var(&e.objectives.Skew, "clock-skew", 1.5, "how many times as fast one candidate's clock may run as another's")
	f.StringVar(&e.current, "lease", failover.Defaults.String(), "current lease duration/renew deadline/retry period")
	f.StringVar(&e.elector, "elector", "client-go", "elector to simulate; with deadline, clocks that differ are simulated too, up to where two lead at once")
	f.IntVar(&e.world.Candidates, "candidates", 2, "replicas that take part")
	f.StringVar(&e.latency, "api-latency", "lognormal(5ms, 100ms)", "duration of an API call, a distribution (see benchrun workload --help)")
	f.Float64Var(&e.world.Errors, "api-errors", 0, "share of API calls that fail")
	f.StringVar(&e.stall, "api-stall", "", "how long the API server stalls now and then, a distribution")
	f.DurationVar(&e.world.SpikeEvery, "api-stall-every", 10*time.Minute, "mean time between stalls")
	f.IntVar(&e.world.Runs, "runs", 10_000, "simulated runs of each scenario")
	complete(cmd, "elector", variantNames(impl.Electors())...)
}

// check refuses what a simulation would refuse in a child process, and zeroes,
// which would silently mean the default.
func (e *electionTuning) check(given func(flag string) bool) error {
	switch {
	case given("failover") && e.objectives.Failover <= 0:
		return fmt.Errorf("--failover: found %v, expected more than 0", e.objectives.Failover)
	case e.objectives.Failover > 24*time.Hour: // as a lease duration may be
		return fmt.Errorf("--failover: found %v, expected at most %v", e.objectives.Failover, 24*time.Hour)
	case given("api-budget") && !(e.objectives.Calls > 0 && !math.IsInf(e.objectives.Calls, 1)):
		return fmt.Errorf("--api-budget: found %v, expected a number of calls a second above 0", e.objectives.Calls)
	case !(e.objectives.Skew > 1 && e.objectives.Skew <= 10):
		return fmt.Errorf("--clock-skew: found %v, expected a factor above 1 and up to 10", e.objectives.Skew)
	case e.world.Candidates < 2 || e.world.Candidates > 100:
		return fmt.Errorf("--candidates: found %d, expected 2 to 100, so that there is one to take over", e.world.Candidates)
	case !(e.world.Errors >= 0 && e.world.Errors < 1):
		return fmt.Errorf("--api-errors: found %v, expected a share from 0 to below 1", e.world.Errors)
	case e.world.Runs < 1 || e.world.Runs > 10_000_000:
		return fmt.Errorf("--runs: found %d, expected 1 to 10,000,000", e.world.Runs)
	case e.world.SpikeEvery <= 0:
		return fmt.Errorf("--api-stall-every: found %v, expected more than 0", e.world.SpikeEvery)
	case given("api-stall-every") && e.stall == "":
		return errors.New("--api-stall-every: expected --api-stall beside it")
	}
	return nil
}

// problem reads the flags.
func (e *electionTuning) problem(given func(flag string) bool) (lease.Problem, error) {
	fail := func(err error) (lease.Problem, error) { return lease.Problem{}, err }
	if err := e.check(given); err != nil {
		return fail(err)
	}
	current, err := parseLease(e.current)
	if err != nil {
		return fail(fmt.Errorf("--lease: %w", err))
	}
	elector, err := findElector(e.elector)
	if err != nil {
		return fail(fmt.Errorf("--elector: %w", err))
	}
	world := e.world
	if world.Latency, err = randvar.Parse(e.latency); err != nil {
		return fail(fmt.Errorf("--api-latency: %w", err))
	}
	if e.stall == "" {
		world.SpikeEvery = 0
	} else if world.Spike, err = randvar.Parse(e.stall); err != nil {
		return fail(fmt.Errorf("--api-stall: %w", err))
	}
	// 10,000 runs of two minutes are two weeks.
	world.Watch = 2 * time.Minute
	return lease.Problem{
		Objectives: e.objectives, Current: current, World: world, Clocks: takesClock(elector),
		FromLastRenewal: !slices.Contains(elector.Relaxes, "fault:deadline-from-last-renewal"),
	}, nil
}

func parseLease(text string) (failover.Settings, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return failover.Settings{}, fmt.Errorf("found %q, expected lease duration/renew deadline/retry period, as in %v", text, failover.Defaults)
	}
	var durations [3]time.Duration
	for i, part := range parts {
		var err error
		if durations[i], err = time.ParseDuration(part); err != nil {
			return failover.Settings{}, fmt.Errorf("found %q, expected a duration as in 15s", part)
		}
	}
	s := failover.Settings{LeaseDuration: durations[0], RenewDeadline: durations[1], RetryPeriod: durations[2]}
	return s, s.Validate()
}

// run simulates, writes the report, and prints the settings side by side and what to
// paste.
func (e *electionTuning) run(cmd *cobra.Command) error {
	e.dir.kind = "election"
	p, err := e.problem(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	if err := e.dir.check(); err != nil {
		return err
	}
	p.World.Seed = e.seed
	fmt.Fprintf(cmd.ErrOrStderr(), "elector %s, seed %d\n", e.elector, p.World.Seed)
	begin := time.Now()
	progress := newProgressLine(cmd.ErrOrStderr())
	p.Progress = func(doing string) { progress.show(lab.Progress{Doing: doing, Elapsed: time.Since(begin)}) }
	p.Simulate = func(ctx context.Context, c failover.Config) (failover.Result, error) {
		return simulateChild(ctx, e.elector, c)
	}
	advice, err := lease.Advise(cmd.Context(), p)
	progress.done()
	if err != nil && cmd.Context().Err() != nil {
		return errors.New("interrupted before any settings were seen to keep the objectives: nothing is recommended")
	}
	if err != nil {
		return err
	}
	if advice.Stopped == "interrupted" {
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted: recommended is the best of %s tried; \"-\" was not simulated\n", wording.Count(len(advice.Choices), "retry period"))
	}
	advice.Elector = e.elector
	// The advice is shown even if the disk is full.
	wrote := e.dir.write(func(dir string) error { return reports.WriteElection(dir, advice) })
	if err := e.out.print(cmd.OutOrStdout(), electionTable(advice)); err != nil || e.out != "table" {
		return errors.Join(err, wrote)
	}
	w := cmd.OutOrStdout()
	for _, p := range lease.Paste(advice.Recommended) {
		fmt.Fprintf(w, "\n%s:\n  %s\n", p.For, strings.ReplaceAll(strings.TrimSuffix(p.Text, "\n"), "\n", "\n  "))
	}
	if wrote == nil {
		fmt.Fprintf(w, "\nReport: %s\n", filepath.Join(e.dir.path, "report.html"))
	}
	return wrote
}

// electionTable shows current and recommended settings side by side.
func electionTable(a lease.Advice) table {
	t := table{value: a, header: []string{"figure", "current", "recommended"}}
	for _, e := range lease.Effects(a) {
		t.rows = append(t.rows, []string{e.Figure, e.Now, e.Then})
	}
	return t
}

func findElector(name string) (impl.Variant[impl.NewElector], error) {
	v, err := impl.Find(impl.Electors(), name)
	if err != nil {
		return v, fmt.Errorf("unknown elector %q, expected one of %s", name, strings.Join(variantNames(impl.Electors()), ", "))
	}
	return v, nil
}

// takesClock tells whether an elector is our own, the only one that takes a clock
// and a source of jitter.
func takesClock(v impl.Variant[impl.NewElector]) bool { return v.Name == impl.Electors()[0].Name }

func newSimulated(v impl.Variant[impl.NewElector]) failover.NewElector {
	return func(c leaderelection.LeaderElectionConfig, o election.Options) (election.Elector, error) {
		if takesClock(v) {
			return election.NewWithOptions(c, o)
		}
		return v.New(c)
	}
}

// simulateChild has a child process simulate: virtual time needs a test.
func simulateChild(ctx context.Context, elector string, c failover.Config) (failover.Result, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return failover.Result{}, err
	}
	return childResult[failover.Result](ctx, time.Hour, "elections", "--elector", elector, "--config", string(config))
}

// electionsCommand is the child process that simulates elections.
func electionsCommand() *cobra.Command {
	var elector, config string
	cmd := &cobra.Command{
		Use: "elections", Short: "Simulate elections in this process", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			variant, err := findElector(elector)
			if err != nil {
				return fmt.Errorf("--elector: %w", err)
			}
			var c failover.Config
			if err := json.Unmarshal([]byte(config), &c); err != nil {
				return fmt.Errorf("--config: %w", err)
			}
			testing.Init()
			flag.CommandLine.SetOutput(cmd.ErrOrStderr())
			simulate := testing.InternalTest{Name: "elections", F: func(t *testing.T) {
				r, err := failover.Simulate(t, newSimulated(variant), c)
				if err != nil {
					t.Fatal(err)
				}
				if err := printResult(cmd.OutOrStdout(), r); err != nil {
					t.Fatal(err)
				}
			}}
			testing.Main(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{simulate}, nil, nil)
			return nil
		},
	}
	cmd.Flags().StringVar(&elector, "elector", "", "elector of the catalogue")
	cmd.Flags().StringVar(&config, "config", "", "JSON of the config")
	return cmd
}
