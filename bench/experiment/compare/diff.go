// Package compare tells what changed between two results of unlike runs.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A Change is one benchmark's unit in two results of unlike runs.
type Change struct {
	Benchmark string          `json:"benchmark"`
	Unit      string          `json:"unit"`
	Old       verdict.Summary `json:"old"`
	New       verdict.Summary `json:"new"`
	Ratio     float64         `json:"ratio"`              // new / old medians: 1.05 is 5% more; 0 where only the old median is 0
	Relative  float64         `json:"relative,omitempty"` // the same of each sample's ratio to upstream's unchanged code in its run; 0 where there is none
	P         float64         `json:"p"`                  // Mann–Whitney U, as benchstat's; of those ratios where Relative is known
	PAdjusted float64         `json:"pAdjusted"`          // Holm over all changes
	Noise     float64         `json:"noiseFloor"`         // what the A/A controls differ by in this case and unit: 0.05 is 5%; 0 where unknown

	samples int // that P is of, on the side that has fewer
}

// Effect is the change that counts, as new / old: Relative where it is known.
// It is 0 where only the old median is 0.
func (c Change) Effect() float64 {
	if c.Relative > 0 {
		return c.Relative
	}
	return c.Ratio
}

// Grown is the change that counts in the unit; negative if it shrank.
func (c Change) Grown() float64 {
	if c.Old.Center == 0 {
		return c.New.Center
	}
	return (c.Effect() - 1) * c.Old.Center
}

// Shown reports that a change is more than chance and than the noise floor.
func (c Change) Shown() bool {
	if c.PAdjusted >= statistic.Alpha {
		return false
	}
	return c.Effect() == 0 || apart(c.Effect(), 1) > c.Noise
}

// apart is how far the ratio of two medians is from 1, whichever is larger.
func apart(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return math.Expm1(math.Abs(math.Log(a / b)))
}

// Diff compares two result directories or files in the Go benchmark format, by
// benchstat's statistics. What makes the comparison doubtful is in the
// warnings: benchmarks and units that only one side has, lines left out, unlike
// machines, plans and versions.
//
// Between two result directories of the same Go and modules a case's upstream
// baseline is the same code: each sample counts by its ratio to the baseline's
// of the same round, because times of unlike runs can't be compared. Otherwise
// the values count as they are. The noise floor is the larger of what the A/A
// controls of either side differ by from their baseline.
func Diff(oldPath, newPath string) ([]Change, []experiment.Warning, error) {
	before, err := readSide(oldPath)
	if err != nil {
		return nil, nil, err
	}
	after, err := readSide(newPath)
	if err != nil {
		return nil, nil, err
	}
	warnings := slices.Concat(before.warnings, after.warnings, unlike(before, after))
	steady := sameCode(before, after)
	var changes []Change
	var ps []float64
	for _, name := range before.names {
		if after.values[name] == nil {
			warnings = append(warnings, experiment.Warn(name, "only in %s", oldPath))
			continue
		}
		for _, unit := range before.units[name] {
			a, b := before.values[name][unit], after.values[name][unit]
			if len(b) == 0 {
				warnings = append(warnings, experiment.Warn(name, "%s is only in %s", unit, oldPath))
				continue
			}
			c := Change{Benchmark: name, Unit: unit, Old: verdict.Summarise(a, 0.95), New: verdict.Summarise(b, 0.95), P: statistic.UTest(a, b), samples: min(len(a), len(b))}
			switch {
			case c.Old.Center == c.New.Center:
				c.Ratio = 1
			case c.Old.Center != 0:
				c.Ratio = c.New.Center / c.Old.Center
			}
			c.Noise = max(before.floor(name, unit), after.floor(name, unit))
			if x, y := before.relative(name, unit), after.relative(name, unit); steady && len(x) > 0 && len(y) > 0 && c.Ratio > 0 {
				c.P, c.samples = statistic.UTest(x, y), min(len(x), len(y))
				c.Relative = median(y) / median(x)
			}
			changes = append(changes, c)
			ps = append(ps, c.P)
		}
		for _, unit := range after.units[name] {
			if len(before.values[name][unit]) == 0 {
				warnings = append(warnings, experiment.Warn(name, "%s is only in %s", unit, newPath))
			}
		}
	}
	for _, name := range after.names {
		if before.values[name] == nil {
			warnings = append(warnings, experiment.Warn(name, "only in %s", newPath))
		}
	}
	if len(changes) == 0 {
		return nil, nil, fmt.Errorf("%s and %s have no benchmark in common%s", oldPath, newPath, whyNone(before, after))
	}
	for i, p := range statistic.Holm(ps) {
		changes[i].PAdjusted = p
	}
	return changes, warnings, nil
}

// whyNone finds the commonest reason: a machine with another number of cores.
func whyNone(before, after side) string {
	bare := map[string]string{}
	for _, name := range before.names {
		bare[rawtext.Bare(name)] = name
	}
	for _, name := range after.names {
		if other, ok := bare[rawtext.Bare(name)]; ok {
			return fmt.Sprintf(": %s and %s differ in GOMAXPROCS, run both on like machines", other, name)
		}
	}
	return fmt.Sprintf(": found %s, … and %s, …", before.names[0], after.names[0])
}

// Judge corrects only over the changes that a gate looks at: units that nobody
// asked about would cost it its power. The others keep their correction over
// all. It warns where no difference, however large, could be shown.
func Judge(changes []Change, looks func(Change) bool) []experiment.Warning {
	var at []int
	var ps []float64
	for i, c := range changes {
		if looks(c) {
			at = append(at, i)
			ps = append(ps, c.P)
		}
	}
	for i, p := range statistic.Holm(ps) {
		changes[at[i]].PAdjusted = p
	}
	needed := 2
	for p := 1.0 / 3; p*float64(len(at)) >= statistic.Alpha; { // 2/C(2n, n)
		needed++
		p *= float64(needed) / float64(4*needed-2)
	}
	few := 0
	for _, i := range at {
		if changes[i].samples < needed {
			few++
		}
	}
	if few == 0 {
		return nil
	}
	return []experiment.Warning{experiment.Warn("run", "%d of %d comparisons have fewer than the %d samples a side that can show a difference among so many: they may never count", few, len(at), needed)}
}

func median(values []float64) float64 {
	center, _, _ := statistic.Median(values, 0.95)
	return center
}

// unlike lists what should be equal on both sides and is not.
func unlike(before, after side) []experiment.Warning {
	var warnings []experiment.Warning
	differ := func(what, a, b, so string) {
		if a != b {
			warnings = append(warnings, experiment.Warn("run", "%s differs: %q and %q; %s", what, a, b, so))
		}
	}
	const machine = "times of unlike machines can't be compared"
	for _, key := range machineKeys {
		a, b := before.machine[key], after.machine[key]
		differ(key, strings.Join(a, ", "), strings.Join(b, ", "), machine)
	}
	if before.run == nil || after.run == nil {
		return warnings
	}
	p, q := before.run.Plan, after.run.Plan
	const plan = "unlike plans measure unlike work"
	differ("workload", p.Workload, q.Workload, plan)
	differ("trace", p.Trace, q.Trace, plan)
	differ("seed", fmt.Sprint(p.Seed), fmt.Sprint(q.Seed), "keys and events come from it: give both runs the same --seed")
	differ("time of a sample", p.SampleTime.String(), q.SampleTime.String(), plan)
	units := map[string]string{}
	for _, c := range p.Cases {
		units[c.Key()] = c.Unit
	}
	for _, c := range q.Cases {
		if unit, ok := units[c.Key()]; ok {
			differ("unit of "+c.Key(), unit, c.Unit, "its verdicts are taken on unlike units")
		}
	}
	e, f := before.run.Environment, after.run.Environment
	differ("number of cores", fmt.Sprint(e.Cores), fmt.Sprint(f.Cores), machine)
	differ("GOMAXPROCS", fmt.Sprint(e.GOMAXPROCS), fmt.Sprint(f.GOMAXPROCS), machine)
	differ("kernel", e.Kernel, f.Kernel, machine)
	differ("Go", e.Go, f.Go, "a change may come from the compiler")
	var modules []string
	for path := range before.run.Versions {
		modules = append(modules, path)
	}
	for path := range after.run.Versions {
		modules = append(modules, path)
	}
	slices.Sort(modules)
	for _, path := range slices.Compact(modules) {
		differ(path, before.run.Versions[path], after.run.Versions[path], "a change may come from it")
	}
	return warnings
}

// sameCode reports that upstream's code is the same on both sides.
func sameCode(before, after side) bool {
	if before.run == nil || after.run == nil || before.run.Environment.Go != after.run.Environment.Go {
		return false
	}
	for _, path := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"} {
		if v := before.run.Versions[path]; v == "" || v != after.run.Versions[path] {
			return false
		}
	}
	return true
}
