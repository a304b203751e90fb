package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/releases"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (s Suite) releasesCommand() *cobra.Command {
	var o lab.Options
	var dir string
	var out output
	cmd := &cobra.Command{
		Use:   "releases MODULE@VERSION MODULE@VERSION...",
		Short: "Show what an upgrade of client-go or controller-runtime changes",
		Long: `Releases builds the same cases against two or more versions of client-go or
controller-runtime, each in a temporary module, and samples them in turns as run
does. The first version is the baseline. client-go brings its siblings api and
apimachinery along; controller-runtime brings the client-go that it asks for.

The cases are those of upstream's own types in the API that client-go has had
since v0.34: queues, DeltaFIFO, indexer, informer and, for controller-runtime,
its priority queue. The go command downloads what is missing.`,
		Example: `  benchrun releases client-go@v0.36.3 client-go@v0.37.2

  # Four releases, the queues alone, to 2%
  benchrun releases client-go@v0.34 client-go@v0.35 client-go@v0.36 client-go@latest --component queue --precision 2% --budget 10m

  benchrun releases controller-runtime@v0.24 controller-runtime@v0.25`,
		Args: cobra.ArbitraryArgs, // counted where they are read
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.releases(cmd, args, o, dir, out)
		},
		ValidArgs: releasedModules,
	}
	f := cmd.Flags()
	addReleaseFlags(f, &o, "run")
	f.DurationVar(&o.Budget, "budget", 0, "time for samples (default 1m40s)")
	f.StringVar(&dir, "out", "", "result directory, new or empty (default reports/out/TIME-releases)")
	out.addTo(cmd)
	cmd.AddCommand(s.bisectCommand())
	return cmd
}

// releasedModules begin the arguments.
var releasedModules = []string{"client-go@", "controller-runtime@"}

// addReleaseFlags adds what releases and its bisect have in common.
func addReleaseFlags(f *pflag.FlagSet, o *lab.Options, doing string) {
	f.StringSliceVar(&o.Components, "component", nil, "components to compare (default all)")
	f.StringVar(&o.Case, "case", "", "cases to "+doing+": part of component/name, or a regular expression (default all)")
	f.Var((*share)(&o.Precision), "precision", "wanted half width of a ratio's interval (default 5%)")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the schedule (default random, printed)")
	f.IntVar(&o.Rounds, "rounds", 0, "exactly so many samples of each version and case (default as many as the precision takes)")
}

func (s Suite) releases(cmd *cobra.Command, args []string, o lab.Options, dir string, out output) error {
	if err := noZeroes(cmd); err != nil {
		return err
	}
	wanted, err := releases.Parse(args)
	if err != nil {
		return err
	}
	if err := checkOut(dir); err != nil { // building takes minutes
		return err
	}
	b, err := newBuilds(cmd)
	if err != nil {
		return err
	}
	defer b.remove()
	ctx := cmd.Context()
	for i, r := range wanted { // all before the first is built, which takes long
		if wanted[i], err = releases.Resolve(ctx, r); err != nil {
			return interruptedOr(ctx, err)
		}
		if slices.Contains(wanted[:i], wanted[i]) {
			return fmt.Errorf("%s stands for %s, which is there already: expected different versions", args[i], wanted[i].Version)
		}
	}
	l, plan, err := b.plan(o, wanted)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return s.execute(cmd, l, plan, versionsIn(wanted), dir, out)
}

// builds are the programs of releases, each built when it is needed for the first
// time.
type builds struct {
	cmd      *cobra.Command
	temp     string
	programs map[string]built // by version
	steps    []string         // result directories of a bisection
	run      experiment.Run   // its first step, of all cases
}

type built struct {
	path string
	err  error
}

func newBuilds(cmd *cobra.Command) (*builds, error) {
	temp, err := os.MkdirTemp("", "benchrun-releases-")
	return &builds{cmd: cmd, temp: temp, programs: map[string]built{}}, err
}

func (b *builds) remove() { os.RemoveAll(b.temp) }

// plan fixes what is sampled of releases, the first being the baseline.
func (b *builds) plan(o lab.Options, of []releases.Release) (l lab.Lab, plan experiment.Plan, err error) {
	var programs []string
	for _, r := range of {
		program, ok := b.programs[r.Version]
		if !ok {
			fmt.Fprintf(b.cmd.ErrOrStderr(), "building the cases of %s@%s\n", r.Module, r.Version)
			program.path, program.err = releases.Build(b.cmd.Context(), r, filepath.Join(b.temp, fmt.Sprint(len(b.programs))))
			b.programs[r.Version] = program
		}
		if program.err != nil {
			return l, plan, program.err
		}
		programs = append(programs, program.path)
	}
	cases, err := releases.Cases(b.cmd.Context(), of, programs)
	if err != nil {
		return l, plan, err
	}
	o.Seed = cmp.Or(o.Seed, uint64(time.Now().UnixNano()))
	if plan, err = lab.NewPlan(cases, o); err != nil {
		return l, plan, err
	}
	plan.Profile, plan.Profiling = experiment.Releases, 0
	l.Sample = lab.Children(func(c experiment.PlannedCase, a experiment.Arm) []string {
		return []string{b.programs[a.Variant].path, c.Key(), a.Name, plan.SampleTime.String()}
	}, plan.Timeout)
	return l, plan, nil
}

func versionsIn(all []releases.Release) map[string]string {
	return map[string]string{all[0].Module: strings.Join(versionsOf(all), ", ")}
}

func versionsOf(all []releases.Release) []string {
	var versions []string
	for _, r := range all {
		versions = append(versions, r.Version)
	}
	return versions
}

// interruptedOr says in words that the user has ended it.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errTooSoon
	}
	return err
}
