package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/swap"
	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/spf13/cobra"
)

// A swapCommandLine is what swap's flags say.
type swapCommandLine struct {
	swap.Options
	seed      uint64
	rounds    int
	budget    time.Duration
	precision share
	force     bool
	dir       string
	out       output
}

func (s Suite) swapCommand() *cobra.Command {
	var l swapCommandLine
	cmd := &cobra.Command{
		Use:   "swap PACKAGE [-- ARGUMENT...]",
		Short: "Show what a real program gains from other queues and caches",
		Long: `Swap builds the program of a main package once, with client-go's and
controller-runtime's queues, informers and indexers and with ours in their place,
and runs both under a load of yours, in turns and in fresh processes. The
program's files are not touched: copies of upstream's constructors with hooks, and
our packages, are given to go build beside them.

It begins with the program as it is, under the load, for a CPU profile: no swap can
gain more than the share that queues and caches have. Below 5% it stops there.

A round starts the server, if there is one, and the program; waits until every
informer has its list and no queue is busy; runs the load command to its end; and
waits until no queue is busy again. What is compared is what the program used from
the load's start on: CPU time above all, allocations, memory, garbage collection.
Queue waits, how much of the traffic was swapped, the state at the end and panics
are reported beside it.

All commands run in this folder with the round's arm in $INFORMERBENCH_ARM. The
server prints a line "export NAME=VALUE" when it is ready; the others, and the
program's arguments, have that variable too.

Exit codes: 0 fine, 1 a round failed or an arm ends in another state, 2 wrong usage
or input.`,
		Example: `  # Against the cluster of your kubeconfig, with a load that you have already
  benchrun swap ./cmd/manager --load 'make e2e' -- --leader-elect=false

  # A fresh API server each round, the state at its end, and the names of metrics
  benchrun swap ./cmd/manager --server 'hack/serve.sh' --load 'hack/load.sh' --state 'kubectl get deployments -A -o name' --metrics http://127.0.0.1:8080/metrics

  # A load of ours, without one of your own
  benchrun swap ./cmd/manager --load 'benchrun workload apply rolling-update'

  # Other containers within client-go's own queues and caches beside ours
  benchrun swap ./cmd/manager --load 'make e2e' --arm library,outside --outside ./internal/btreeindexer

  # Queues alone and informers alone, in twelve rounds
  benchrun swap ./cmd/manager --load 'make e2e' --arm queues,informers --rounds 12`,
		Args: cobra.ArbitraryArgs, // counted where they are read
		RunE: func(cmd *cobra.Command, args []string) error { return s.swap(cmd, args, l) },
	}
	f := cmd.Flags()
	f.StringVar(&l.Load, "load", "", "shell command that brings the load and returns")
	f.StringVar(&l.Server, "server", "", "shell command that serves until SIGTERM, started anew each round (default none: the program finds its API server itself)")
	f.StringVar(&l.State, "state", "", "shell command that prints the state that all arms have to end in")
	f.StringVar(&l.Metrics, "metrics", "", "URL of the program's metrics, whose names are compared")
	f.StringSliceVar(&l.Arms, "arm", []string{"library"}, "what is swapped: library (all), "+probe.Queues+", "+probe.Informers+", "+probe.Outside)
	f.StringVar(&l.Library, "library", swap.Source(), "folder of the library's source")
	f.StringVar(&l.Outside, "outside", "", "folder of a package whose NewIndexer and NewStorage make the containers of arm outside (see bench/peers/outside)")
	f.DurationVar(&l.Timeout, "timeout", 5*time.Minute, "how long the server may take to be ready, and the program to be ready, and to be idle after the load")
	f.DurationVar(&l.Stop, "stop", 30*time.Second, "how long both may take to stop after SIGTERM")
	f.BoolVar(&l.force, "force", false, "go on even if queues and caches have less than 5% of the CPU time")
	f.IntVar(&l.rounds, "rounds", 0, "exactly so many rounds (default 6 to 10)")
	f.DurationVar(&l.budget, "budget", 0, "time for all rounds (default what they take)")
	f.Var(&l.precision, "precision", "half width of the ratio's interval at which it may end (default 5%)")
	f.Uint64Var(&l.seed, "seed", 0, "seed of the schedule (default random, printed)")
	f.StringVar(&l.Name, "name", "", "what results call the program and its load (default the main package's folder)")
	f.StringVar(&l.dir, "out", "", "result directory, new or empty (default reports/out/TIME-swap)")
	l.out.addTo(cmd)
	completeList(cmd, "arm", "library", probe.Queues, probe.Informers, probe.Outside)
	return cmd
}

// check refuses what would be noticed after minutes otherwise.
func (l *swapCommandLine) check(cmd *cobra.Command, args []string) error {
	if err := noZeroes(cmd); err != nil {
		return err
	}
	before := len(args)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before = dash
	}
	if before != 1 {
		return fmt.Errorf("%s: found %s, expected one main package, as in ./cmd/manager (the program's own arguments come after --)", cmd.CommandPath(), wording.Count(before, "argument"))
	}
	l.Dir, l.Main, l.Args = ".", args[0], args[1:]
	if l.Load == "" {
		return errors.New("--load: found nothing, expected a command that brings the load, as in --load 'make e2e'")
	}
	if err := swap.CheckArms(l.Arms); err != nil {
		return fmt.Errorf("--arm: %w", err)
	}
	if outside := slices.Contains(l.Arms, probe.Outside); outside != (l.Outside != "") {
		return fmt.Errorf("--arm %s --outside %q: expected arm %s and its folder together", strings.Join(l.Arms, ","), l.Outside, probe.Outside)
	}
	for name, d := range map[string]time.Duration{"timeout": l.Timeout, "stop": l.Stop} {
		if d <= 0 {
			return fmt.Errorf("--%s: found %s, expected more than 0s", name, d)
		}
	}
	if l.dir != "" {
		return checkOut(l.dir)
	}
	return nil
}

func (s Suite) swap(cmd *cobra.Command, args []string, l swapCommandLine) (err error) {
	if err := l.check(cmd, args); err != nil {
		return err
	}
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	temp, err := os.MkdirTemp("", "benchrun-swap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	p, err := swap.Build(ctx, l.Options, temp, func(step string) { fmt.Fprintln(stderr, step) })
	if err != nil {
		return interruptedOr(ctx, err)
	}
	fmt.Fprintf(stderr, "built: %s; %s\n", strings.Join(p.Layout(), "; "), liftedText(p.Lifted()))
	fmt.Fprintf(stderr, "profiling the program as it is, for up to %s of the load\n", swap.ProfileTime)
	share, err := profileSwap(cmd, p)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	fmt.Fprintln(stderr, share)
	if share.Bound < swap.LeastShare && !l.force {
		return l.out.printShare(cmd, share)
	}
	return s.compareSwap(cmd, l, p, share)
}

// profileSwap keeps the output of what it ran only if that failed.
func profileSwap(cmd *cobra.Command, p *swap.Program) (swap.Share, error) {
	logs, err := os.MkdirTemp("", "benchrun-swap-logs-")
	if err != nil {
		return swap.Share{}, err
	}
	share, err := p.Profile(cmd.Context(), logs)
	if err == nil || cmd.Context().Err() != nil {
		err = errors.Join(err, os.RemoveAll(logs))
	}
	return share, err
}

// printShare is the outcome of a swap that is not worth its rounds.
func (o output) printShare(cmd *cobra.Command, share swap.Share) error {
	t := table{value: share, header: []string{"queues and caches", "themselves", "garbage collection for them", "cpu"}, rows: [][]string{{
		wording.Percent(share.Bound), wording.Percent(share.Direct), wording.Percent(share.Bound - share.Direct), share.CPU.String(),
	}}}
	if err := o.print(cmd.OutOrStdout(), t); err != nil || o != "table" {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nStopped: below %s no difference would be shown. To compare all the same, add --force.\n", wording.Percent(swap.LeastShare))
	return err
}

func liftedText(lifted []string) string {
	if len(lifted) == 0 {
		return "no version of a module is lifted"
	}
	return "versions that are lifted: " + strings.Join(lifted, ", ")
}

// command gives back the arguments that repeat this swap, the program's own at the end.
func (l *swapCommandLine) command(cmd *cobra.Command) []string {
	args := commandLine(cmd)
	flags := args[2+len(l.Args):]
	return slices.Concat(args[:2], flags, []string{"--"}, l.Args)
}

func (s Suite) compareSwap(cmd *cobra.Command, l swapCommandLine, p *swap.Program, share swap.Share) error {
	dir, err := resultDir(l.dir, "swap")
	if err != nil {
		return err
	}
	p.Into(dir)
	plan := experiment.Plan{
		Profile: experiment.Swap, Seed: cmp.Or(l.seed, uint64(time.Now().UnixNano())), Confidence: 0.95,
		Precision: cmp.Or(float64(l.precision), 0.05),
		Budget:    cmp.Or(l.budget, 24*time.Hour), // the rounds are the limit
		MinRounds: driveFewest, MaxRounds: driveRounds, Timeout: 4 * l.Timeout,
		Cases: []experiment.PlannedCase{p.Case()},
	}
	if l.rounds > 0 {
		plan.MinRounds, plan.MaxRounds = l.rounds, l.rounds
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, up to %s, seed %d, into %s\n", wording.Count(len(plan.Cases[0].Arms), "arm"), wording.Count(plan.MaxRounds, "round"), plan.Seed, dir)
	progress := newProgressLine(cmd.ErrOrStderr())
	run := experiment.Run{Schema: experiment.SchemaVersion, Command: l.command(cmd), Plan: plan, Environment: experiment.Here(), Versions: p.Versions()}
	run, samples, err := lab.Lab{Sample: p.Sampler(), Report: progress.show}.Execute(cmd.Context(), dir, run)
	progress.done()
	var summary swap.Summary
	if len(samples) > 0 {
		var wrote error
		summary, wrote = p.Summarise(dir, share)
		err = errors.Join(err, wrote)
	}
	if err := s.conclude(cmd, dir, run, samples, err, l.out); err != nil {
		return err
	}
	return swapGate(cmd, run, summary)
}

// swapGate fails if a round did, or an arm ends in a state of its own.
func swapGate(cmd *cobra.Command, run experiment.Run, summary swap.Summary) error {
	failed := false
	for _, x := range run.Schedule {
		if x.Failure != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "FAILED: %s\n", x.Failure)
			failed = true
		}
	}
	if !summary.Alike {
		fmt.Fprintf(cmd.ErrOrStderr(), "FAILED: %s\n", summary.Ends)
		failed = true
	}
	if failed {
		return errGate
	}
	return nil
}
