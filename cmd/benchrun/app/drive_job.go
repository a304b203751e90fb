package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/trace"
)

// A driveJob is one drive, as it is handed to a child process.
type driveJob struct {
	Source    string // preset, workload file or recording
	Arm       string
	Round     int
	Seed      uint64
	Parts     drive.Parts
	Reconcile loadgen.Reconcile
	TwoQueues bool
	CPU       bool
	ColdStart bool
	OwnWrites bool
	Speed     float64
	Duration  time.Duration
	Warmup    time.Duration
	Drain     time.Duration
	Result    string // file to write
}

// A driveLoad is what a source holds.
type driveLoad struct {
	name  string
	spec  *loadgen.Spec
	trace bool
}

// open finds the source: a preset, a YAML file, or else a recording.
func (j driveJob) open() (driveLoad, error) {
	ext := strings.ToLower(filepath.Ext(j.Source))
	_, err := os.Stat(j.Source)
	if slices.Contains(loadgen.Presets(), j.Source) || ext == ".yaml" || ext == ".yml" || errors.Is(err, os.ErrNotExist) {
		spec, err := loadgen.Open(j.Source)
		if err != nil {
			return driveLoad{}, err
		}
		return driveLoad{name: spec.Name, spec: spec}, nil
	}
	base, _, _ := strings.Cut(filepath.Base(j.Source), ".")
	return driveLoad{name: base, spec: drive.Recorded(base), trace: true}, nil
}

// complete fills in what the controller does where the command line and the
// workload say nothing.
func (j *driveJob) complete(load driveLoad) error {
	spec := *load.spec
	spec.Reconcile = j.Reconcile
	complete, err := spec.Complete()
	if err != nil {
		return err
	}
	j.Reconcile = complete.Reconcile
	return nil
}

// checkRecording reads a recording to its end, so that a comparison does not
// find its faults in its first sample.
func (j driveJob) checkRecording(ctx context.Context, stderr io.Writer) error {
	t, err := unlessInterrupted(ctx, func() (*trace.Trace, error) { return trace.Open(j.Source) })
	if err != nil {
		return err
	}
	defer t.Close()
	for {
		if _, err := t.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if t.Stats().Events() == 0 {
		return fmt.Errorf("%s: no events but bookmarks, expected at least one", j.Source)
	}
	warnTrace(stderr, t)
	return nil
}

// config is the job as package drive takes it.
func (j driveJob) config(load driveLoad) drive.Config {
	spec := *load.spec
	spec.Reconcile = j.Reconcile
	c := drive.Config{
		Workload: load.name, Arm: j.Arm, Round: j.Round, Seed: j.Seed, Spec: &spec, Parts: j.Parts,
		TwoQueues: j.TwoQueues, CPU: j.CPU, ColdStart: j.ColdStart, OwnWrites: j.OwnWrites, Speed: j.Speed,
		Duration: j.Duration, Warmup: j.Warmup, Drain: j.Drain,
	}
	if load.trace {
		c.Trace = func() (loadgen.Stream, error) { return trace.Open(j.Source) }
	}
	spec.Seed = cmp.Or(spec.Seed, j.Seed)
	return c
}
