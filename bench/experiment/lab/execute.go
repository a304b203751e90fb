package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
)

// A Progress says how far an experiment is.
type Progress struct {
	Doing   string // "queue/op=cycle: ring"
	Done    int    // samples taken
	Failed  int
	Elapsed time.Duration
	Left    time.Duration // estimated, 0 while unknown
}

// allFailed is how many samples may fail before the first one succeeds.
const allFailed = 5

// maxStalls is how many samples of an arm may hang for the machine's sake.
const maxStalls = 3

// A Lab is what an experiment runs with.
type Lab struct {
	Sample Sampler
	// Profile is the command line that profiles a variant of a case into dir
	// with RunProfile; nil for no profiles.
	Profile func(c experiment.PlannedCase, variant, dir string) []string
	Report  func(Progress)
}

// Execute samples run.Plan into dir, which it makes and which must not hold
// anything yet: run.json before the first sample and again at the end, raw.txt
// sample by sample, then the profiles. When ctx is cancelled it stops at once and
// returns what was sampled, without an error. An error, such as of a full disk, comes
// with what was sampled as well. An arm whose sample fails is not sampled again and
// has no result, unless it worked before and the sample merely took too long, a few
// times at most.
func (l Lab) Execute(ctx context.Context, dir string, run experiment.Run) (experiment.Run, []experiment.Measurement, error) {
	if err := makeEmpty(dir); err != nil {
		return run, nil, err
	}
	run.Schema, run.Started = experiment.SchemaVersion, time.Now().UTC()
	if err := atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), run); err != nil {
		return run, nil, err
	}
	raw, err := os.OpenFile(filepath.Join(dir, rawtext.File), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return run, nil, err
	}
	defer raw.Close()
	if _, err := raw.WriteString(experiment.RawHeader(run.Environment)); err != nil {
		return run, nil, err
	}
	run.Plan.Cases = slices.Clone(run.Plan.Cases)
	x := &execution{run: run, raw: raw, sample: l.Sample, report: l.Report}
	if x.file, err = raw.Stat(); err != nil {
		return run, nil, err
	}
	for i, c := range run.Plan.Cases {
		x.cases = append(x.cases, &progress{plan: c, rank: rankOf(run.Plan, i), dropped: map[string]string{}, stalls: map[string]int{}})
	}
	if err := x.rounds(ctx); err != nil {
		return x.run, x.samples, err
	}
	if err := raw.Close(); err != nil {
		return x.run, x.samples, err
	}
	if err := x.removed(); err != nil {
		return x.run, x.samples, err
	}
	if run.Plan.Profile == Quick && x.run.Stopped == "budget" {
		leaveOut(&x.run.Plan, x.cases)
	}
	if l.Profile != nil && ctx.Err() == nil {
		x.run.Warnings = append(x.run.Warnings, l.profiles(ctx, dir, x.run.Plan)...)
	}
	x.run.Finished = time.Now().UTC()
	if err := x.removed(); err != nil {
		return x.run, x.samples, err
	}
	return x.run, x.samples, atomicfile.WriteJSON(filepath.Join(dir, rawtext.RunFile), x.run)
}

// ErrRemoved says that the result directory is no longer where it was made, so
// that nothing more can be kept in it.
var ErrRemoved = errors.New("the result directory was removed or replaced while the run was under way, and its samples with it")

// removed looks whether raw.txt is still the file that is written to.
func (x *execution) removed() error {
	if now, err := os.Stat(x.raw.Name()); err != nil || !os.SameFile(now, x.file) {
		return ErrRemoved
	}
	return nil
}

type execution struct {
	run     experiment.Run
	raw     *os.File
	file    os.FileInfo // raw's, as it was made
	sample  Sampler
	report  func(Progress)
	cases   []*progress
	samples []experiment.Measurement
	failed  int
	loads   time.Duration // that samples of loads took
	fitted  bool          // the time of a sample was
}

// budgetLeft is what sampling may still take.
func (x *execution) budgetLeft() time.Duration {
	return x.run.Plan.Budget - x.run.Plan.Profiling - time.Since(x.run.Started)
}

func (x *execution) rounds(ctx context.Context) error {
	for {
		c, reason := next(x.run.Plan, x.cases, x.budgetLeft())
		if ctx.Err() != nil {
			reason = "interrupted"
		}
		if c == nil || ctx.Err() != nil {
			x.run.Stopped = reason
			return nil
		}
		x.fit()
		begin := time.Now()
		if err := x.round(ctx, c); err != nil {
			return err
		}
		c.took += time.Since(begin)
		if err := x.removed(); err != nil {
			return err
		}
		if c.rounds >= x.run.Plan.MinRounds {
			c.width = widest(x.run.Plan, c)
		}
	}
}

// fit shortens the samples of a quick run once all cases were timed.
func (x *execution) fit() {
	if x.fitted || x.run.Plan.Profile != Quick || slices.ContainsFunc(x.cases, func(c *progress) bool { return c.rounds == 0 }) {
		return
	}
	x.fitted = true
	if t := fitted(x.run.Plan, x.cases, x.budgetLeft()); t < x.run.Plan.SampleTime {
		for i, c := range x.cases {
			x.run.Plan.Cases[i].SampleTime, c.plan.SampleTime = t, t
		}
	}
}

func (x *execution) round(ctx context.Context, c *progress) error {
	if _, err := fmt.Fprintf(x.raw, "%s%d of %s\n", rawtext.RoundMark, c.rounds, c.plan.Key()); err != nil {
		return err
	}
	order := shuffled(x.run.Plan.Seed, c.rounds, c.plan)
	if c.samplesLoad(x.run.Plan.Budget, x.loads) {
		order = withLoad(x.run.Plan.Seed, c.rounds, order)
	}
	for _, arm := range order {
		if _, dropped := c.dropped[arm.Name]; dropped {
			continue
		}
		x.report(Progress{
			Doing: c.plan.Key() + ": " + arm.Name, Done: len(x.samples), Failed: x.failed,
			Elapsed: time.Since(x.run.Started), Left: x.left(),
		})
		if err := x.one(ctx, c, arm); err != nil || ctx.Err() != nil {
			return err
		}
	}
	c.rounds++
	return nil
}

// one takes one sample; its error is one that ends the run.
func (x *execution) one(ctx context.Context, c *progress, arm experiment.Arm) error {
	begin := time.Now()
	output, failure := x.sample(ctx, c.plan, arm)
	if ctx.Err() != nil {
		return nil // the sample under way is lost, and that is no failure
	}
	var line []byte
	var values map[string]float64
	if failure == nil {
		line, values, failure = findResult(output, c.plan.Benchmark(arm.Name), c.plan.Unit)
	}
	s := experiment.Sample{Round: c.rounds, Case: c.plan.Key(), Arm: arm.Name, Took: time.Since(begin)}
	if arm.Name == bench.NullSink {
		x.loads += s.Took
	}
	if failure != nil {
		s.Failure, s.Forgiven = failure.Error(), x.forgives(c, arm, failure)
		line = fmt.Appendf(nil, "# failed: %s: %s: %s\n", s.Case, s.Arm, s.Failure)
	}
	if _, err := x.raw.Write(line); err != nil {
		return err
	}
	x.run.Schedule = append(x.run.Schedule, s)
	if failure == nil {
		m := experiment.Measurement{Round: c.rounds, Case: s.Case, Arm: arm.Name, Values: experiment.NewValues(values)}
		x.samples, c.samples = append(x.samples, m), append(c.samples, m)
		return nil
	}
	x.failed++
	if s.Forgiven {
		c.stalls[arm.Name]++
		x.run.Warnings = append(x.run.Warnings, experiment.Warn(s.Case+"/"+arm.Name, "sample %d was left out, because the machine or the variant stood still: %s", c.rounds+1, s.Failure))
		return nil
	}
	c.dropped[arm.Name] = s.Failure
	x.run.Warnings = append(x.run.Warnings, experiment.Warn(s.Case+"/"+arm.Name, "sample %d failed, so there is no result: %s", c.rounds+1, s.Failure))
	arms := 0
	for _, p := range x.cases {
		arms += len(p.plan.Arms)
	}
	if len(x.samples) == 0 && x.failed >= min(allFailed, arms) {
		return fmt.Errorf("the first %d samples all failed; %s: %s: %w", x.failed, s.Case, arm.Name, failure)
	}
	return nil
}

// forgives a stall of an arm that worked before: on a machine that stands still
// for seconds it is no news about the variant. One that hangs again is dropped.
func (x *execution) forgives(c *progress, arm experiment.Arm, failure error) bool {
	worked := slices.ContainsFunc(c.samples, func(m experiment.Measurement) bool { return m.Arm == arm.Name })
	return errors.As(failure, new(stalled)) && worked && c.stalls[arm.Name] < maxStalls
}

// left estimates the time to the end: what the planned rounds will take, at
// most what is left of the budget.
func (x *execution) left() time.Duration {
	var sum, known time.Duration
	unknown := 0
	for _, c := range x.cases {
		if c.rounds == 0 {
			unknown++
			continue
		}
		known += c.perRound()
		if !c.over() && (c.rounds < x.run.Plan.MinRounds || c.width > x.run.Plan.Precision) {
			sum += c.perRound() * time.Duration(max(x.run.Plan.MaxRounds-c.rounds, 0))
		}
	}
	if n := len(x.cases) - unknown; n > 0 {
		sum += known / time.Duration(n) * time.Duration(unknown*x.run.Plan.MaxRounds)
	}
	if budget := x.budgetLeft(); sum == 0 || sum > budget {
		sum = max(budget, 0)
	}
	return sum + x.run.Plan.Profiling
}

// makeEmpty makes dir and refuses one that holds files already.
func makeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.MkdirAll(dir, 0o777)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("is not empty (it holds %s), expected a new or empty directory", entries[0].Name())
	}
	return nil
}
