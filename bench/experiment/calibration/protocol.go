package calibration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/lab"
)

// Options of a calibration.
type Options struct {
	Dir    string        // new, empty or of an earlier calibration, which goes on
	Runs   int           // of each kind of trial; a quarter of it for the habit
	Budget time.Duration // no trial begins later; 0 for no limit
	Seed   uint64
	Cases  []bench.Case
	// Sampler runs arms for a plan, each count times; the planted variants are in
	// its catalogue, and Variant says which one an arm is.
	Sampler func(p experiment.Plan, count int) lab.Sampler
	Report  func(lab.Progress)
}

// A trial is a kind of run that is repeated.
type trial struct {
	name      string
	every     int // of planted trials: after so many items one is done twice
	budget    time.Duration
	precision float64 // half of the planted slow-down at most, so that it can clear the noise floor
	promise   float64
	quarter   bool // takes a quarter of the runs
}

// Sampling stops on width, so a precision of a quarter of the effect decides
// how long a run takes; budgets are limits.
var trials = []trial{
	{name: "equal", budget: time.Minute, precision: 0.05, promise: 0.05},
	{name: "planted-10", every: 10, budget: time.Minute, precision: 0.025, promise: 0.9},
	{name: "planted-5", every: 20, budget: 3 * time.Minute, precision: 0.0125, promise: 0.9},
	{name: "habit", quarter: true},
}

// Run does what is missing of the trials, in turns of one each, and writes the
// result after every one. It ends without an error when ctx is cancelled; the
// trial under way is lost.
func Run(ctx context.Context, o Options) (Result, error) {
	result := Result{Schema: experiment.SchemaVersion, Seed: o.Seed, Environment: experiment.Here(), Versions: experiment.Versions()}
	if err := checkDir(o.Dir, result); err != nil {
		return result, err
	}
	begin := time.Now()
	outcomes := map[string][]outcome{}
	total := 0
	for _, t := range trials {
		total += t.runs(o.Runs)
	}
	done, took, ran := 0, time.Duration(0), 0
	for i := range o.Runs {
		for _, t := range trials {
			if i >= t.runs(o.Runs) {
				continue
			}
			dir := filepath.Join(o.Dir, "trials", fmt.Sprintf("%s-%02d", t.name, i+1))
			x, err := readOutcome(dir)
			if errors.Is(err, os.ErrNotExist) && ctx.Err() == nil && (o.Budget == 0 || time.Since(begin) < o.Budget) {
				o.Report(lab.Progress{Doing: fmt.Sprintf("%s, trial %d of %d", t.name, i+1, t.runs(o.Runs)), Elapsed: time.Since(begin),
					Left: took / time.Duration(max(ran, 1)) * time.Duration(total-done)})
				started := time.Now()
				x, err = t.run(ctx, o, dir, o.Seed+uint64(i))
				took, ran = took+time.Since(started), ran+1
			}
			done++
			if ctx.Err() != nil || errors.Is(err, os.ErrNotExist) {
				continue // not done this time
			}
			if err != nil {
				return result, fmt.Errorf("%s: %w", dir, err)
			}
			outcomes[t.name] = append(outcomes[t.name], x)
			result.derive(outcomes)
			if err := atomicfile.WriteJSON(filepath.Join(o.Dir, FileName), result); err != nil {
				return result, err
			}
		}
	}
	if len(outcomes) == 0 {
		return result, errors.New("no trial came to its end: there is nothing to tell")
	}
	return result, nil
}

func (t trial) runs(of int) int {
	if t.quarter {
		return (of + 3) / 4
	}
	return of
}

// checkDir refuses to go on with a calibration of another machine or seed.
func checkDir(dir string, now Result) error {
	var earlier Result
	err := experiment.ReadJSON(filepath.Join(dir, FileName), &earlier)
	if errors.Is(err, os.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) > 0 && entries[0].Name() != "trials" {
			return fmt.Errorf("%s is not empty (it holds %s), expected a new directory or one of an earlier calibration", dir, entries[0].Name())
		}
		return os.MkdirAll(filepath.Join(dir, "trials"), 0o777)
	}
	if err != nil {
		return err
	}
	if earlier.Schema != now.Schema || earlier.Seed != now.Seed || earlier.Environment != now.Environment {
		return fmt.Errorf("%s holds a calibration with seed %d of %s with %s, which this one, with seed %d of %s with %s, can't go on with: choose another directory",
			dir, earlier.Seed, earlier.Environment.CPU, earlier.Environment.Go, now.Seed, now.Environment.CPU, now.Environment.Go)
	}
	return nil
}

// run does one trial into dir.
func (t trial) run(ctx context.Context, o Options, dir string, seed uint64) (outcome, error) {
	if err := os.RemoveAll(dir); err != nil { // a trial that was cut off
		return outcome{}, err
	}
	if t.name == "habit" {
		return t.habit(ctx, o, dir, seed)
	}
	cases, err := t.cases(o.Cases)
	if err != nil {
		return outcome{}, err
	}
	plan, err := newPlan(cases, lab.Options{Seed: seed, Budget: t.budget, Precision: t.precision})
	if err != nil {
		return outcome{}, err
	}
	run, samples, err := o.lab(plan).Execute(ctx, dir, experiment.Run{Plan: plan, Environment: experiment.Here(), Versions: experiment.Versions()})
	if err != nil {
		return outcome{}, err
	}
	x := outcomeOf(t, run, samples)
	if ctx.Err() != nil {
		return x, ctx.Err()
	}
	return x, x.write(dir)
}

// newPlan leaves out the profiles, which are no evidence.
func newPlan(cases []bench.Case, o lab.Options) (experiment.Plan, error) {
	plan, err := lab.NewPlan(cases, o)
	plan.Profiling = 0
	return plan, err
}

func (o Options) lab(p experiment.Plan) lab.Lab {
	return lab.Lab{Sample: o.Sampler(p, 1), Report: func(lab.Progress) {}}
}

// same names the baseline a second time, beside its control.
const same = "same"

// cases are the quick profile's first of each component for equal arms, and a
// queue's for a planted slow-down.
func (t trial) cases(all []bench.Case) ([]bench.Case, error) {
	var cases []bench.Case
	seen := map[string]bool{}
	for _, c := range all {
		if !c.Quick || seen[c.Component] || !strings.HasPrefix(c.Unit, "cpu-") || c.Component == "pipeline" {
			continue
		}
		seen[c.Component] = true
		c.About, c.Load = nil, nil
		if t.every > 0 {
			c.Baseline, c.Variants = plantedName(0), []string{plantedName(0), plantedName(t.every)}
		} else {
			c.Variants = []string{c.Baseline, same}
		}
		if t.every == 0 || c.Component == "queue" {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil, errors.New("there is no case of a queue that is judged by CPU time")
	}
	return cases, nil
}

// Variant is the catalogue's name for an arm of a trial.
func Variant(c experiment.PlannedCase, a experiment.Arm) string {
	if a.Variant == same {
		return c.Baseline
	}
	return a.Variant
}
