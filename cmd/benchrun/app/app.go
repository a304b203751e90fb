// Package app is the benchrun command: one file a subcommand.
//
//	list      what there is to compare
//	run       plan, sample in child processes, decide, report
//	merge     the shards of a run on several machines
//	releases  the same cases against versions of client-go or controller-runtime
//	ablation  what each technique of each variant brings
//	calibrate how often verdicts are right on this machine
//	drive     a whole controller under open load, latency by stage
//	sim       the same controller in virtual time
//	swap      a real program with other queues and caches, under its own load
//	report    the report of an older run again
//	results   pages of results, kept beside the code
//	verify    the conformance suites
//	compare   two results, as a gate for CI
//	trend     many results, with the points from which on they differ
//	serve     many runs and their profiles, in the browser
//	workload  workload specs: show, check, explain
//	trace     recordings of watch traffic: look, convert, replay
//	tune      the settings that a controller's metrics recommend
//	election  the settings of leader election
//	memory    how much a cache takes, and what would make it less
//	schema    the JSON Schema of the results
//
// A Suite says what is compared. Main runs benchrun's own; whoever has a queue
// of their own builds a benchrun with it in a few lines:
//
//	s := app.Default()
//	s.Cases = func(o bench.Options) ([]bench.Case, error) { … }
//	os.Exit(s.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
//
// Samples are child processes: the program starts itself again with the hidden
// subcommand sample.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK    = 0
	exitGate  = 1 // a gate failed: a slower variant, a broken contract
	exitUsage = 2 // wrong usage or input, or the work could not be done
)

// A Suite is what a benchrun compares, verifies and how it reports.
type Suite struct {
	// Cases lists the benchmarks; it is called in every child process and has
	// to be cheap.
	Cases func(bench.Options) ([]bench.Case, error)
	// Check reads the workload or trace to its end before anything is sampled;
	// nil for no check.
	Check func(bench.Options) error
	// Workloads lists the embedded presets: name and one line each.
	Workloads func() [][2]string
	// Conformance lists the contract's suites, named "component/variant".
	Conformance func() []testing.InternalTest
	// Report writes the reports into a result directory.
	Report func(dir string, run experiment.Run, stats verdict.Stats) error

	timeout time.Duration // after which a sample of run counts as hung; 0 for the profile's
}

// Main runs benchrun with its own suite and returns the exit code: 0 fine, 1 a
// gate failed, 2 wrong usage or input, ExitInterrupted.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return Default().Main(ctx, args, stdout, stderr)
}

// errGate is a gate that failed; what failed was printed already.
var errGate = errors.New("gate failed")

// Main runs the command line and returns the exit code.
func (s Suite) Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	lab.EndWithParent()
	root := s.root()
	root.SetArgs(args)
	stderr = plain.NewWriter(stderr)
	root.SetOut(plain.NewWriter(stdout))
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd()
	if shells, _, err := root.Find([]string{"completion"}); err == nil {
		shells.Args, shells.RunE = noArgs, root.RunE // by default it takes an unknown shell for a question
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error { // by default the help of what it found is all
			if of, rest, err := root.Find(args); err == nil && len(rest) > 0 && of.HasAvailableSubCommands() {
				return noArgs(of, rest)
			}
			return nil
		}
	}
	err := execute(ctx, root, args)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errGate):
		return exitGate
	}
	fmt.Fprintf(stderr, "error: %s\n", oneLine(err))
	if errors.Is(err, errInterrupted) {
		return ExitInterrupted
	}
	return exitUsage
}

func (s Suite) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "benchrun",
		Short: "Compare the queue and cache internals of Kubernetes controllers",
		Long: `benchrun compares implementations of what lies between a watch event and a
reconcile: FIFOs, indexers, informers, work queues, delaying queues, rate
limiters, leader election. It samples them in turns in fresh processes, states
what differs by more than the machine's noise, and writes a report.

Exit codes: 0 fine, 1 a gate failed, 2 wrong usage or input.`,
		Example: `  # Compare every variant on the quick profile, in under two minutes
  benchrun run

  # See what there is
  benchrun list`,
		Version:       version(),
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var invalid *pflag.InvalidValueError
		var number *strconv.NumError
		if errors.As(err, &invalid) && errors.As(err, &number) { // in words of Go's parser
			err = fmt.Errorf("--%s: found %q, expected %s", invalid.GetFlag().Name, invalid.GetValue(), numbers[invalid.GetFlag().Value.Type()])
		}
		return fmt.Errorf("%w%s (see %s --help)", err, meant(cmd, err), cmd.CommandPath())
	})
	root.AddCommand(s.listCommand(), s.runCommand(), s.calibrateCommand(), s.releasesCommand(), s.ablationCommand(), s.mergeCommand(), s.driveCommand(), simCommand(), s.swapCommand(), s.reportCommand(), resultsCommand(), s.verifyCommand(), compareCommand(), trendCommand(), serveCommand(), traceCommand(), workloadCommand(), s.tuneCommand(), electionCommand(), memoryCommand(), schemaCommand(), s.sampleCommand(), s.driveSampleCommand(), paceCommand(), electionsCommand(), memorySampleCommand(), s.clauseCommand())
	return root
}

// version is that of the program and of what it measures against.
func version() string {
	v := experiment.Versions()
	return fmt.Sprintf("%s, client-go %s, controller-runtime %s, %s", cmp.Or(v["github.com/informerbench/informerbench"], "(devel)"),
		v["k8s.io/client-go"], v["sigs.k8s.io/controller-runtime"], runtime.Version())
}

// numbers say what a flag of a type takes.
var numbers = map[string]string{
	"int": "a whole number", "intSlice": "whole numbers, as in 1,2,4", "uint": "a whole number of 0 or more", "uint64": "a whole number of 0 or more", "float64": "a number", "bool": "true or false",
}

// meant names the flags that an unknown one may be a slip of.
func meant(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	// Cobra suggests commands only, so each flag is made one.
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	names := flags.SuggestionsFor(unknown.GetSpecifiedName())
	if len(names) == 0 {
		return ""
	}
	return ", did you mean --" + strings.Join(names, " or --") + "?"
}

// noArgs also catches an unknown subcommand of the root.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no arguments, found %q", cmd.CommandPath(), args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q, expected one of %s", args[0], strings.Join(names, ", "))
}

// wantArgs wants exactly the arguments that are named.
func wantArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return fmt.Errorf("%s: found %s, expected %s", cmd.CommandPath(), wording.Count(len(args), "argument"), strings.Join(names, " "))
		}
		return nil
	}
}

// wantSome wants one argument or more of that name.
func wantSome(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: found 0 arguments, expected at least one %s", cmd.CommandPath(), name)
		}
		return nil
	}
}

// oneLine joins the lines of an error.
func oneLine(err error) string {
	return plain.Line(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "))
}

// self is the command line that starts this program again.
func self(args ...string) ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("can't find this program to start it again: %w", err)
	}
	return append([]string{path}, args...), nil
}
