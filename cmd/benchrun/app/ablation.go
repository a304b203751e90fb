package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/ablation"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/spf13/cobra"
)

func (s Suite) ablationCommand() *cobra.Command {
	var o lab.Options
	var source, dir string
	var names []string
	var out output
	cmd := &cobra.Command{
		Use:   "ablation",
		Short: "Show what each technique of each variant brings",
		Long: `Ablation builds benchrun from the source around the current folder: as it is, and
once for each technique with that technique taken out, by edits of copies of the
files that go build -overlay puts in their place. It samples them in turns as run
does, on cases with several workers, keys that come and go and cold caches. A
technique's gain says how many times as long the variant takes without it.

A technique whose code has changed is an error that names it: its edits are in
bench/ablation.`,
		Example: `  benchrun ablation --budget 20m

  # One technique
  benchrun ablation --technique keys-without-strings --budget 2m`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.ablation(cmd, o, names, source, dir, out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Components, "component", nil, "components to take apart (default all)")
	f.StringSliceVar(&names, "technique", nil, "techniques to take out (default all)")
	f.StringVar(&o.Case, "case", "", "cases to run: part of component/name, or a regular expression (default all)")
	f.DurationVar(&o.Budget, "budget", 20*time.Minute, "time for samples")
	f.Var((*share)(&o.Precision), "precision", "wanted half width of a ratio's interval (default 5%)")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of keys and schedule (default random, printed)")
	f.IntVar(&o.Rounds, "rounds", 0, "exactly so many samples of each technique and case (default as many as the precision takes)")
	f.StringVar(&source, "source", ".", "a folder of informerbench's source")
	f.StringVar(&dir, "out", "", "result directory, new or empty (default reports/out/TIME-ablation)")
	out.addTo(cmd)
	completeNames(cmd, ablationListing)
	completeList(cmd, "technique", techniqueNames(ablation.Techniques())...)
	return cmd
}

// ablationListing lists the components and cases of the techniques.
func ablationListing() (listing, error) {
	var l listing
	for _, t := range ablation.Techniques() {
		l.Components = append(l.Components, listedComponent{Name: t.Component})
		for _, c := range t.Cases {
			name, _, _ := strings.Cut(c, " ") // from the unit
			l.Cases = append(l.Cases, listedCase{Name: t.Component + "/" + name})
		}
	}
	return l, nil
}

func techniqueNames(all []ablation.Technique) []string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

func (s Suite) ablation(cmd *cobra.Command, o lab.Options, names []string, source, dir string, out output) error {
	if err := noZeroes(cmd); err != nil {
		return err
	}
	if err := checkOut(dir); err != nil { // building takes minutes
		return err
	}
	ctx := cmd.Context()
	root, err := ablation.Root(ctx, source)
	if err != nil {
		return interruptedOr(ctx, fmt.Errorf("--source: %w", err))
	}
	o.Seed = cmp.Or(o.Seed, uint64(time.Now().UnixNano()))
	all, err := s.Cases(bench.Options{Seed: o.Seed})
	if err != nil {
		return err
	}
	techniques, err := selectTechniques(ablation.Techniques(), o.Components, names)
	if err != nil {
		return err
	}
	cases, of, err := ablation.Cases(all, techniques)
	if err != nil {
		return err
	}
	o.SampleTime = 100 * time.Millisecond
	plan, err := lab.NewPlan(cases, o)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "benchrun-ablation-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	programs := map[string]string{} // by component, variant and arm
	build := func(t ablation.Technique, key string) error {
		fmt.Fprintf(cmd.ErrOrStderr(), "building %d of %d: %s\n", len(programs)+1, len(techniques)+1, key)
		programs[key], err = t.Build(ctx, root, "./cmd/benchrun", filepath.Join(temp, strconv.Itoa(len(programs))))
		return interruptedOr(ctx, err)
	}
	if err := build(ablation.Technique{}, ablation.AsItIs); err != nil {
		return err
	}
	for _, t := range techniques {
		if err := build(t, t.Component+"/"+t.Variant+"/"+t.Arm()); err != nil {
			return err
		}
	}
	plan.Profile, plan.Profiling = experiment.Ablation, 0
	l := lab.Lab{Sample: lab.Children(func(c experiment.PlannedCase, a experiment.Arm) []string {
		x := of[c.Key()]
		program, ok := programs[c.Component+"/"+x.Variant+"/"+a.Variant]
		if !ok { // as it is, or the load
			program = programs[ablation.AsItIs]
		}
		variant := x.Variant
		if a.Name == bench.NullSink {
			variant = bench.NullSink
		}
		full := c
		full.Name = x.Case
		return append([]string{program}, sampleArgs(plan, full, variant, "--as", c.Name, "--arm", a.Name, "--time", plan.SampleTime.String())...)
	}, plan.Timeout)}
	return s.execute(cmd, l, plan, experiment.Versions(), dir, out)
}

// selectTechniques keeps those of the components and names; none for all.
func selectTechniques(all []ablation.Technique, components, names []string) ([]ablation.Technique, error) {
	known := techniqueNames(all)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--technique: unknown technique %q, expected one of %s", name, strings.Join(known, ", "))
		}
	}
	kept := slices.DeleteFunc(all, func(t ablation.Technique) bool {
		return len(names) > 0 && !slices.Contains(names, t.Name) || len(components) > 0 && !slices.Contains(components, t.Component)
	})
	if len(kept) == 0 {
		return nil, fmt.Errorf("no technique is left by these components and techniques, of %s", wording.Count(len(known), "technique"))
	}
	return kept, nil
}
