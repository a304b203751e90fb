package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/spf13/cobra"
)

// Defaults of a comparison.
const (
	driveRounds   = 10
	driveFewest   = 6 // rounds that an interval needs
	driveLoadTime = 10 * time.Second
)

// driveAll compares the arms: round by round, each drive in a fresh process.
func (s Suite) driveAll(cmd *cobra.Command, l driveCommandLine, load driveLoad, arms []driveArm) error {
	l.job.Duration = cmp.Or(l.job.Duration, driveLoadTime)
	c, err := driveCase(load.name, l.by, arms)
	if err != nil {
		return err
	}
	if l.dir, err = resultDir(l.dir, "drive"); err != nil {
		return err
	}
	run := driveRecord(cmd, l, load, c)
	program, err := self()
	if err != nil {
		return err
	}
	// A job's paths stay right in the child, which runs in the same folder.
	parts := map[string]drive.Parts{}
	for _, a := range arms {
		parts[a.Name] = a.parts
	}
	rounds := map[string]int{}
	sampler := lab.Children(func(_ experiment.PlannedCase, a experiment.Arm) []string {
		job := l.job
		job.Arm, job.Round, job.Parts = a.Name, rounds[a.Name], parts[a.Variant]
		job.Result = resultFile(l.dir, a.Name, job.Round)
		rounds[a.Name]++
		text, _ := json.Marshal(job) // plain data
		return append(program, "drive-sample", string(text))
	}, run.Plan.Timeout)
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, up to %s, at most %s of load an arm, seed %d, into %s\n", wording.Count(len(c.Arms), "arm"), wording.Count(run.Plan.MaxRounds, "round"),
		l.job.Duration, l.job.Seed, l.dir)
	progress := newProgressLine(cmd.ErrOrStderr())
	run, samples, err := lab.Lab{Sample: sampler, Report: progress.show}.Execute(cmd.Context(), l.dir, run)
	progress.done()
	if err := s.conclude(cmd, l.dir, run, samples, err, l.out); err != nil {
		return err
	}
	failed := 0
	for _, x := range run.Schedule {
		if x.Failure != "" {
			printLine(cmd.ErrOrStderr(), "FAILED: %s, round %d: %s", x.Arm, x.Round, x.Failure)
			failed++
		}
	}
	if failed > 0 {
		return errGate
	}
	return nil
}

// driveRecord is the record of a run of drives before the first.
func driveRecord(cmd *cobra.Command, l driveCommandLine, load driveLoad, c experiment.PlannedCase) experiment.Run {
	plan := experiment.Plan{
		Profile: "drive", Seed: l.job.Seed, Confidence: 0.95, SampleTime: l.job.Duration,
		Precision: cmp.Or(float64(l.precision), 0.05),
		Budget:    cmp.Or(l.budget, 24*time.Hour), // the rounds are the limit
		MinRounds: driveFewest, MaxRounds: driveRounds,
		// A drive ends by itself; one that hangs does not.
		Timeout: 10*time.Minute + 2*(l.job.Duration+l.job.Drain),
		Cases:   []experiment.PlannedCase{c},
	}
	if load.trace {
		plan.Trace = l.job.Source
	} else {
		plan.Workload = l.job.Source
	}
	if l.rounds > 0 {
		plan.MinRounds, plan.MaxRounds = l.rounds, l.rounds
	}
	return experiment.Run{
		Schema: experiment.SchemaVersion, Command: commandLine(cmd), Plan: plan, Environment: experiment.Here(), Versions: experiment.Versions(),
	}
}

// driveSampleCommand is one drive of a comparison: a process of its own, which
// prints a line in the Go benchmark format and writes the full result.
func (s Suite) driveSampleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "drive-sample JOB", Short: "Run one drive in this process", Hidden: true, Args: wantArgs("JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var job driveJob
			if err := json.Unmarshal([]byte(args[0]), &job); err != nil {
				return fmt.Errorf("JOB: %w", err)
			}
			load, err := job.open()
			if err != nil {
				return err
			}
			quiet()
			// The parent asks for a drive's end by killing it; what it saw is in
			// the rounds before.
			config := job.config(load)
			config.Pacer = newPacer(cmd, job.Speed)
			result, err := drive.Run(context.WithoutCancel(cmd.Context()), config)
			if err != nil {
				return err
			}
			if err := writeResult(job.Result, result); err != nil {
				return err
			}
			if a := result.Accounting; !a.Sound() {
				return fmt.Errorf("not everything is accounted for: lost %d, last state unseen of %s, backwards %d, two workers at once %d: %s",
					a.Lost, wording.Count(a.Stale, "object"), a.Backwards, a.Together, strings.Join(a.Bad, "; "))
			}
			c := experiment.PlannedCase{Component: driveComponent, Name: driveCaseName(load.name)}
			_, err = fmt.Fprint(cmd.OutOrStdout(), benchmarkLine(c, job.Arm, result))
			return err
		},
	}
}

// keep writes a single drive as a run of one sample, so that compare, report and
// serve read it as any other.
func (s Suite) keep(dir string, run experiment.Run, r drive.Result) error {
	c := run.Plan.Cases[0]
	run.Plan.MinRounds, run.Plan.MaxRounds = 1, 1
	run.Started, run.Stopped = r.Started, "rounds"
	if r.Stopped == drive.Interrupted {
		run.Stopped = "interrupted"
	}
	sample := experiment.Sample{Case: c.Key(), Arm: r.Arm, Took: run.Finished.Sub(r.Started)}
	line := "# round 0 of " + c.Key() + "\n"
	if r.Accounting.Sound() {
		line += benchmarkLine(c, r.Arm, r)
	} else {
		sample.Failure = "not everything is accounted for"
		line += "# failed: " + c.Key() + ": " + r.Arm + ": " + sample.Failure + "\n"
	}
	run.Schedule = []experiment.Sample{sample}
	run.Warnings = []experiment.Warning{experiment.Warn("run", "a single drive shows latencies, it compares nothing")}
	err := errors.Join(
		writeResult(resultFile(dir, r.Arm, r.Round), r),
		os.WriteFile(filepath.Join(dir, "raw.txt"), []byte(experiment.RawHeader(run.Environment)+line), 0o666),
		atomicfile.WriteJSON(filepath.Join(dir, "run.json"), run),
	)
	if err != nil {
		return err
	}
	loaded, samples, err := experiment.Load(dir)
	if err != nil {
		return err
	}
	stats := verdict.Analyse(loaded, samples)
	return errors.Join(verdict.Write(dir, stats), s.Report(dir, loaded, stats))
}
