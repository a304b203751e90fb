package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A Change is one benchmark's unit in two results of unlike runs.
type Change struct {
	Benchmark string  `json:"benchmark"`
	Unit      string  `json:"unit"`
	Old       Summary `json:"old"`
	New       Summary `json:"new"`
	Ratio     float64 `json:"ratio"`     // new / old medians: 1.05 is 5 % more
	P         float64 `json:"p"`         // Mann–Whitney U, as benchstat's
	PAdjusted float64 `json:"pAdjusted"` // Holm over all changes
}

// Shown reports that a change is more than chance.
func (c Change) Shown() bool { return c.PAdjusted < alpha }

// Diff compares two result directories or files in the Go benchmark format, by
// benchstat's statistics. Benchmarks that only one side has are warnings.
func Diff(oldPath, newPath string) ([]Change, []Warning, error) {
	before, err := readBenchmarks(oldPath)
	if err != nil {
		return nil, nil, err
	}
	after, err := readBenchmarks(newPath)
	if err != nil {
		return nil, nil, err
	}
	var changes []Change
	var warnings []Warning
	var ps []float64
	for _, name := range before.names {
		if _, ok := after.values[name]; !ok {
			warnings = append(warnings, Warning{name, "only in " + oldPath})
			continue
		}
		for _, unit := range before.units[name] {
			a, b := before.values[name][unit], after.values[name][unit]
			if len(b) == 0 {
				warnings = append(warnings, Warning{name, fmt.Sprintf("%s is only in %s", unit, oldPath)})
				continue
			}
			c := Change{Benchmark: name, Unit: unit, Old: summarise(a, 0.95), New: summarise(b, 0.95), P: uTest(a, b)}
			switch {
			case c.Old.Center == c.New.Center:
				c.Ratio = 1
			case c.Old.Center != 0:
				c.Ratio = c.New.Center / c.Old.Center
			}
			changes = append(changes, c)
			ps = append(ps, c.P)
		}
	}
	for _, name := range after.names {
		if _, ok := before.values[name]; !ok {
			warnings = append(warnings, Warning{name, "only in " + newPath})
		}
	}
	if len(changes) == 0 {
		return nil, nil, fmt.Errorf("%s and %s have no benchmark in common", oldPath, newPath)
	}
	for key, value := range before.machine {
		if other := after.machine[key]; other != value {
			warnings = append(warnings, Warning{"run", fmt.Sprintf("%s differs: %q and %q; times of unlike machines can't be compared", key, value, other)})
		}
	}
	for i, p := range holm(ps) {
		changes[i].PAdjusted = p
	}
	return changes, warnings, nil
}

type benchmarks struct {
	names   []string // in the file's order
	units   map[string][]string
	values  map[string]map[string][]float64
	machine map[string]string
}

// readBenchmarks leaves the A/A controls out: they compare within one run.
func readBenchmarks(path string) (benchmarks, error) {
	b := benchmarks{units: map[string][]string{}, values: map[string]map[string][]float64{}, machine: map[string]string{}}
	info, err := os.Stat(path)
	if err != nil {
		return b, err
	}
	if info.IsDir() {
		path = filepath.Join(path, rawFile)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return b, fmt.Errorf("%s has no %s, expected a directory that benchrun run wrote", filepath.Dir(path), rawFile)
	}
	if err != nil {
		return b, err
	}
	defer f.Close()
	reader := benchfmt.NewReader(f, path)
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := "Benchmark" + string(r.Name)
		if strings.HasSuffix(procsSuffix.ReplaceAllString(name, ""), ControlSuffix) {
			continue
		}
		if _, err := valuesOf(r); err != nil {
			_, line := r.Pos()
			return b, fmt.Errorf("%s:%d: the sample %w", path, line, err)
		}
		if b.values[name] == nil {
			b.names = append(b.names, name)
			b.values[name] = map[string][]float64{}
		}
		for _, v := range r.Values {
			if !slices.Contains(b.units[name], v.Unit) {
				b.units[name] = append(b.units[name], v.Unit)
			}
			b.values[name][v.Unit] = append(b.values[name][v.Unit], v.Value)
		}
		for _, key := range []string{"goos", "goarch", "cpu"} {
			b.machine[key] = r.GetConfig(key)
		}
	}
	if err := reader.Err(); err != nil {
		return b, err
	}
	if len(b.names) == 0 {
		return b, fmt.Errorf("%s holds no benchmark result, expected the Go benchmark format", path)
	}
	return b, nil
}
