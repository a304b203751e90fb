package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/releases"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/spf13/cobra"
)

func (s Suite) bisectCommand() *cobra.Command {
	var o lab.Options
	var dir, clone string
	var out output
	cmd := &cobra.Command{
		Use:   "bisect MODULE@VERSION MODULE@VERSION",
		Short: "Find the release or commit that made a case slower or faster",
		Long: `Bisect compares the older release with the first of the next minor, that with the
next and so on to the newer one, and then, for each case that differs between two
of them, halves the releases in between until it knows the one with which the case
changed. Each step samples three releases in turns: both ends and the one in the
middle, which counts as the end whose ratio is nearer to its own. What is left
before that release and behind it is searched too, if it differs.

With --commits, a clone of the module's repository with its tags, the commits that
led from one release to the other are halved too, where the module proxy has their
pseudo-versions. What can't be built is passed over.

A step that the interval does not decide is marked as not sure: give it more
budget. The result directory holds a report of each step, and releases.md with
what was found, also of a search that is interrupted.`,
		Example: `  # Which release changed what an informer takes for an event?
  benchrun releases bisect client-go@v0.34.0 client-go@v0.37.2 --component informer

  benchrun releases bisect controller-runtime@v0.22.0 controller-runtime@latest --case op=cycle --budget 1m

  # Down to the commit
  git clone --bare --filter=blob:none https://github.com/kubernetes/client-go
  benchrun releases bisect client-go@v0.34.0 client-go@v0.35.0 --case op=list --commits client-go.git`,
		Args: cobra.ArbitraryArgs, // counted where they are read
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.bisect(cmd, args, o, dir, clone, out)
		},
		ValidArgs: releasedModules,
	}
	f := cmd.Flags()
	addReleaseFlags(f, &o, "bisect")
	f.DurationVar(&o.Budget, "budget", 30*time.Second, "time for the samples of each step")
	f.StringVar(&clone, "commits", "", "clone of the module's repository, whose commits between two releases are searched (default none)")
	f.StringVar(&dir, "out", "", "directory for a result of each step, new or empty (default reports/out/TIME-bisect)")
	out.addTo(cmd)
	return cmd
}

// A step is a release with which a case changed.
type step struct {
	Case    string             `json:"case"` // component + "/" + name
	Before  string             `json:"before"`
	Version string             `json:"version"`           // the first that is changed
	Subject string             `json:"subject,omitempty"` // of that version's commit
	Change  verdict.Comparison `json:"change"`            // of that release with the one before it
	Sure    bool               `json:"sure"`              // whether the interval decided every halving, and the change itself
}

func (s Suite) bisect(cmd *cobra.Command, args []string, o lab.Options, dir, clone string, out output) error {
	if err := noZeroes(cmd); err != nil {
		return err
	}
	if err := checkOut(dir); err != nil {
		return err
	}
	all, err := bisected(cmd, args, clone)
	if err != nil {
		return interruptedOr(cmd.Context(), err)
	}
	b, err := newBuilds(cmd)
	if err != nil {
		return err
	}
	defer b.remove()
	if dir, err = resultDir(dir, "bisect"); err != nil {
		return err
	}
	stretches := stretchesOf(all)
	compare := func(only string, compared ...releases.Release) (verdict.Stats, error) {
		o := o
		if only != "" {
			o.Case, o.Components = "^"+regexp.QuoteMeta(only)+"$", nil
		}
		return s.step(cmd, b, o, filepath.Join(dir, fmt.Sprintf("%02d-%s", len(b.steps), versionsOf(compared)[len(compared)/2])), compared)
	}
	steps, err := bisectAll(stretches, compare)
	if err == nil && clone != "" {
		steps, err = bisectCommits(steps, all, func(from, to releases.Release) []releases.Release {
			found, n, err := releases.Commits(cmd.Context(), clone, from, to)
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", err)
			} else {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s from %s to %s on the module proxy\n", len(found), wording.Count(n, "commit"), from.Version, to.Version)
			}
			return found
		}, compare)
	}
	page := filepath.Join(dir, "releases.md")
	if err != nil && len(b.run.Command) == 0 {
		return interruptedOr(cmd.Context(), err)
	}
	if err := atomicfile.Write(page, bisectPage(b.run, stretches, all, steps, err != nil)); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return fmt.Errorf("%w: what was found until then is in %s", err, page)
	}
	if len(steps) == 0 && out == "table" {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "No release from %s to %s changes a case by more than the noise.\n", all[0].Version, all[len(all)-1].Version)
		if err != nil {
			return err
		}
	} else if err := out.print(cmd.OutOrStdout(), stepTable(steps)); err != nil {
		return err
	}
	if _, undecided := unchanged(stretches, steps); len(undecided) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: not decided: %s\n", strings.Join(undecided, "; "))
	}
	return nil
}

// bisected are the releases that the arguments ask to search, the ends first and last.
func bisected(cmd *cobra.Command, args []string, clone string) ([]releases.Release, error) {
	ends, err := releases.Parse(args)
	if err != nil {
		return nil, err
	}
	if len(ends) != 2 {
		return nil, fmt.Errorf("found %s, expected the two to search between", wording.Count(len(ends), "release"))
	}
	for i := range ends {
		if ends[i], err = releases.Resolve(cmd.Context(), ends[i]); err != nil {
			return nil, err
		}
	}
	if clone != "" {
		if err := releases.CheckClone(cmd.Context(), clone, ends...); err != nil {
			return nil, err
		}
	}
	all, err := releases.Between(cmd.Context(), ends[0], ends[1])
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s from %s to %s\n", wording.Count(len(all), "release"), ends[0].Version, ends[1].Version)
	}
	return all, err
}

// step samples the releases into dir.
func (s Suite) step(cmd *cobra.Command, b *builds, o lab.Options, dir string, compared []releases.Release) (verdict.Stats, error) {
	var none verdict.Stats
	l, plan, err := b.plan(o, compared)
	if err != nil {
		if errors.Is(err, releases.ErrNotBuilt) {
			fmt.Fprintln(cmd.ErrOrStderr(), "warning:", err)
		}
		return none, err
	}
	b.steps = append(b.steps, dir)
	progress := newProgressLine(cmd.ErrOrStderr())
	l.Report = progress.show
	run := experiment.Run{Command: commandLine(cmd), Plan: plan, Environment: experiment.Here(), Versions: versionsIn(compared)}
	run, samples, err := l.Execute(cmd.Context(), dir, run)
	progress.done()
	if err != nil {
		return none, fmt.Errorf("%s: %w", dir, err)
	}
	if len(samples) == 0 || run.Stopped == "interrupted" {
		return none, nothingSampled(run)
	}
	stats := verdict.Analyse(run, samples)
	if len(b.steps) == 1 {
		b.run = run
	}
	for _, c := range stats.Components {
		for _, cs := range c.Cases {
			for _, r := range compared[1:] {
				x := comparisonOf(cs, r.Version)
				fmt.Fprintf(cmd.ErrOrStderr(), "%s/%s: %s is %.2f× as fast as %s (%.2f to %.2f×)\n", c.Component, cs.Name, r.Version, x.Ratio, compared[0].Version, x.Low, x.High)
			}
		}
	}
	if err := verdict.Write(dir, stats); err != nil {
		return none, err
	}
	return stats, s.Report(dir, run, stats)
}
