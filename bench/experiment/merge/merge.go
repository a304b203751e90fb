// Package merge puts the shards of a run together, each sampled on a machine of
// its own:
//
//	find    the results in the given directories
//	agree   one plan, one seed, the same code; no shard twice
//	join    cases in the plan's order, raw.txt one after the other, profiles
//
// A case is sampled whole in one shard, so that no ratio is between machines.
// A drive has no shards: its arms take turns on one machine, and it is refused.
// Where these are unlike, a warning says so, and raw.txt keeps their names: the
// stock benchstat makes tables of their own for them.
package merge

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/lab"
)

// A shard is one result to be joined.
type shard struct {
	lab.Shard
	dir     string
	run     experiment.Run
	samples int
}

// Dirs joins the results in dirs, or in the directories within them, into out,
// which must be new or empty. Shards that are missing are a warning; those of
// unlike plans or versions are an error.
func Dirs(dirs []string, out string) error {
	found, warnings, err := find(dirs)
	if err != nil {
		return err
	}
	shards, doubts, err := agree(found)
	if err != nil {
		return err
	}
	warnings = append(warnings, doubts...)
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty (it holds %s), expected a new or empty directory", out, entries[0].Name())
	}
	// Beside out, then renamed: nobody sees half a result.
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(out), ".merge-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	run := join(shards)
	run.Warnings = append(run.Warnings, warnings...)
	if err := atomicfile.WriteJSON(filepath.Join(temp, rawtext.RunFile), run); err != nil {
		return err
	}
	if err := joinRaw(shards, filepath.Join(temp, rawtext.File)); err != nil {
		return err
	}
	for _, s := range shards {
		profiles := filepath.Join(s.dir, "profiles")
		if _, err := os.Stat(profiles); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.CopyFS(filepath.Join(temp, "profiles"), os.DirFS(profiles)); err != nil {
			return err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, out)
}

// find reads the results: a directory is one, or holds some.
func find(dirs []string) ([]shard, []experiment.Warning, error) {
	var shards []shard
	var warnings []experiment.Warning
	for _, dir := range dirs {
		results := []string{dir}
		if _, err := os.Stat(filepath.Join(dir, rawtext.RunFile)); errors.Is(err, os.ErrNotExist) {
			if results, err = filepath.Glob(filepath.Join(escaped(dir), "*", rawtext.RunFile)); err != nil {
				return nil, nil, err
			}
			for i := range results {
				results[i] = filepath.Dir(results[i])
			}
			if len(results) == 0 {
				return nil, nil, fmt.Errorf("%s holds no %s, nor does a directory in it, expected what benchrun run --shard wrote", dir, rawtext.RunFile)
			}
		}
		for _, result := range results {
			if _, err := os.Stat(filepath.Join(result, rawtext.File)); errors.Is(err, os.ErrNotExist) {
				warnings = append(warnings, experiment.Warn("run", "%s has no %s and was left out: the run died before its first sample", result, rawtext.File))
				continue
			}
			run, samples, err := experiment.Load(result)
			if err != nil {
				return nil, nil, err
			}
			s := shard{dir: result, run: run, samples: len(samples)}
			if s.Shard, err = lab.ParseShard(run.Plan.Shard, ""); err != nil || run.Plan.Shard == "" {
				if len(dirs) == 1 && len(results) > 1 {
					continue // another run, or an earlier merge, beside the shards
				}
				if _, err := os.Stat(filepath.Join(result, "drive")); err == nil {
					return nil, nil, fmt.Errorf("%s is a drive, expected the result of benchrun run --shard: a drive runs whole controllers in turns on one machine and has no shards, and latencies of two machines can't be joined; read each drive's own report", result)
				}
				return nil, nil, fmt.Errorf("%s is no shard: found plan.shard %q, expected the result of benchrun run --shard", result, run.Plan.Shard)
			}
			shards = append(shards, s)
		}
	}
	if len(shards) == 0 {
		return nil, nil, fmt.Errorf("%s holds no shard, expected results of benchrun run --shard", strings.Join(dirs, ", "))
	}
	return shards, warnings, nil
}

// escaped takes their meaning from the signs of a pattern in a path.
func escaped(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// agree orders the shards by index and refuses those of another run. Of a shard
// that was tried again only the attempt that came to its end counts.
func agree(shards []shard) ([]shard, []experiment.Warning, error) {
	unfinished := func(s shard) int {
		if s.run.Ended() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(shards, func(a, b shard) int {
		return cmp.Or(a.Index-b.Index, unfinished(a)-unfinished(b), b.samples-a.samples)
	})
	var kept []shard
	var warnings []experiment.Warning
	first := shards[0]
	cases := map[string]string{}
	for _, s := range shards {
		if len(kept) > 0 && kept[len(kept)-1].Index == s.Index && s.Count == first.Count {
			if s.run.Ended() {
				return nil, nil, fmt.Errorf("shard %s is there twice, in %s and in %s: expected each once", s.Shard, kept[len(kept)-1].dir, s.dir)
			}
			warnings = append(warnings, experiment.Warn("run", "shard %s was tried more than once; %s did not come to its end and was left out", s.Shard, s.dir))
			continue
		}
		if err := alike(first, s); err != nil {
			return nil, nil, err
		}
		for _, c := range s.run.Plan.Cases {
			if other, ok := cases[c.Key()]; ok {
				return nil, nil, fmt.Errorf("%s is in %s and in %s: they are no shards of one run", c.Key(), other, s.dir)
			}
			cases[c.Key()] = s.dir
		}
		kept = append(kept, s)
	}
	var missing []string
	for i := 1; i <= first.Count; i++ {
		if !slices.ContainsFunc(kept, func(s shard) bool { return s.Index == i }) {
			missing = append(missing, lab.Shard{Index: i, Count: first.Count}.String())
		}
	}
	if len(missing) > 0 {
		warnings = append(warnings, experiment.Warn("run", "no result of shard %s: their cases are missing", strings.Join(missing, ", ")))
	}
	return kept, append(warnings, unlike(kept)...), nil
}

// alike refuses what would mix unlike work.
func alike(a, b shard) error {
	p, q := a.run.Plan, b.run.Plan
	for _, x := range []struct {
		what     string
		one, two any
	}{
		{"number of shards", a.Count, b.Count}, {"profile", p.Profile, q.Profile}, {"workload", p.Workload, q.Workload}, {"trace", p.Trace, q.Trace},
		{"seed", p.Seed, q.Seed}, {"time of a sample", p.SampleTime, q.SampleTime}, {"confidence", p.Confidence, q.Confidence},
		{"versions", a.run.Versions, b.run.Versions}, {"Go", a.run.Environment.Go, b.run.Environment.Go},
	} {
		if !reflect.DeepEqual(x.one, x.two) {
			return fmt.Errorf("%s differs: %v in %s, %v in %s; shards of one run have the same", x.what, x.one, a.dir, x.two, b.dir)
		}
	}
	return nil
}

func join(shards []shard) experiment.Run {
	run := shards[0].run
	run.Command = []string{"merge"}
	run.Plan.Shard, run.Plan.Cases = "", nil
	run.Schedule, run.Warnings = nil, nil
	for i := 0; ; i++ { // in the order from which the shards were dealt
		more := false
		for _, s := range shards {
			if i < len(s.run.Plan.Cases) {
				run.Plan.Cases, more = append(run.Plan.Cases, s.run.Plan.Cases[i]), true
			}
		}
		if !more {
			break
		}
	}
	var environments []experiment.Environment
	for _, s := range shards {
		m := experiment.Machine{Shard: s.String(), Environment: s.run.Environment, Started: s.run.Started, Finished: s.run.Finished, Stopped: s.run.Stopped}
		for _, c := range s.run.Plan.Cases {
			m.Cases = append(m.Cases, c.Key())
		}
		run.Machines = append(run.Machines, m)
		run.Command = append(run.Command, s.dir)
		environments = append(environments, s.run.Environment)
		run.Schedule = append(run.Schedule, s.run.Schedule...)
		for _, w := range s.run.Warnings {
			if w.Scope == "run" {
				w.Text = "shard " + s.String() + ": " + w.Text
			}
			run.Warnings = append(run.Warnings, w)
		}
		if s.run.Started.Before(run.Started) {
			run.Started = s.run.Started
		}
		if s.run.Finished.After(run.Finished) {
			run.Finished = s.run.Finished
		}
		run.Stopped = stoppedOf(run.Stopped, s.run.Stopped)
	}
	if run.Finished.IsZero() { // all died, and say so; the merge did not
		run.Finished = time.Now().UTC()
	}
	run.Environment = common(environments)
	return run
}

// stoppedOf is the worse of two reasons.
func stoppedOf(a, b string) string {
	order := []string{"precision", "rounds", "budget", "interrupted", ""} // "" died
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// joinRaw writes the whole lines of every raw.txt one after the other. Each
// begins with its machine, which the format lets change within a file.
func joinRaw(shards []shard, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := rawtext.CopyLines(out, filepath.Join(s.dir, rawtext.File)); err != nil {
			out.Close()
			return err
		}
	}
	return errors.Join(out.Sync(), out.Close())
}
