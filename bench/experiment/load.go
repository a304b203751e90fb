package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
)

// Load reads a result directory, a crashed or interrupted run's too. What was
// left out of a damaged raw.txt is in the run's warnings.
func Load(dir string) (Run, []Measurement, error) {
	run, err := LoadRun(dir)
	if err != nil {
		return run, nil, err
	}
	samples, warnings, err := readRaw(filepath.Join(dir, rawtext.File), run.Plan)
	if errors.Is(err, os.ErrNotExist) {
		return run, nil, fmt.Errorf("%s has no %s: the run died before its first sample", dir, rawtext.File)
	}
	if err != nil {
		return run, nil, err
	}
	if run.Finished.IsZero() {
		run.Warnings = append(run.Warnings, Warn("run", "the run died before its end: failed samples are not known, what was sampled is shown"))
	}
	run.Warnings = append(run.Warnings, warnings...)
	return run, samples, nil
}

// LoadRun reads and checks a result directory's run.json.
func LoadRun(dir string) (Run, error) {
	var run Run
	path := filepath.Join(dir, rawtext.RunFile)
	b, err := ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return run, fmt.Errorf("%s has no %s, expected a directory that benchrun run wrote", dir, rawtext.RunFile)
	}
	if err != nil {
		return run, err
	}
	var version struct{ Schema *int }
	if err := json.Unmarshal(b, &version); err != nil {
		return run, jsonError(path, b, err)
	}
	if version.Schema == nil || *version.Schema < 1 || *version.Schema > SchemaVersion {
		found := "none"
		if version.Schema != nil {
			found = fmt.Sprint(*version.Schema)
		}
		return run, fmt.Errorf("%s: schema: found %s, expected a version up to %d", path, found, SchemaVersion)
	}
	if err := json.Unmarshal(b, &run); err != nil {
		return run, jsonError(path, b, err)
	}
	if err := check(run.Plan); err != nil {
		return run, fmt.Errorf("%s: plan: %w", path, err)
	}
	return run, nil
}

// check refuses a plan that can't be analysed.
func check(p Plan) error {
	if p.Confidence <= 0 || p.Confidence >= 1 {
		return fmt.Errorf("confidence: found %g, expected a share between 0 and 1", p.Confidence)
	}
	for i, c := range p.Cases {
		baseline, control := false, false
		for _, a := range c.Arms {
			baseline = baseline || a.Name == c.Baseline
			control = control || a.Control
		}
		if c.Component == "" || c.Name == "" || !baseline || !control {
			return fmt.Errorf("cases[%d]: found component %q, name %q, baseline %q, expected all three, an arm of the baseline's name and a control arm", i, c.Component, c.Name, c.Baseline)
		}
	}
	return nil
}

func jsonError(path string, b []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1
		for _, c := range b[:min(int(syntax.Offset), len(b))] {
			if c == '\n' {
				line++
			}
		}
		return fmt.Errorf("%s:%d: %w (the file is truncated or not JSON)", path, line, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
