package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchproc"
)

// failures are the files at whose end, or in whose middle, go test failed.
func (s *results) failures() []experiment.Warning {
	var warnings []experiment.Warning
	for _, f := range s.files {
		if f.failure != "" {
			warnings = append(warnings, experiment.Warn("run", "a benchmark failed, what is missing was not measured: %s", f.failure))
		}
	}
	for _, at := range s.places {
		c := s.cells[at]
		for i, unit := range c.units {
			if v := c.values[i]; s.exact(unit) && slices.Min(v) != slices.Max(v) {
				warnings = append(warnings, experiment.Warn(benchmarkName(at.row), "%s is declared exact, but goes from %v to %v", unit, slices.Min(v), slices.Max(v)))
			}
		}
	}
	return warnings
}

// only lists what the old column and another one don't both have: whole
// configurations, benchmarks, or units of them.
func (s *results) only(columns []benchproc.Key, fields []*benchproc.Field) []experiment.Warning {
	if len(columns) != 2 {
		return nil // a sparse table is no fault
	}
	var warnings []experiment.Warning
	tables := map[[2]benchproc.Key]bool{}
	for _, at := range s.places {
		tables[[2]benchproc.Key{at.table, at.col}] = true
	}
	told := map[benchproc.Key]bool{}
	for _, at := range s.places {
		other := columns[0]
		if at.col == other {
			other = columns[1]
		}
		where := s.columnName(at.col)
		if !tables[[2]benchproc.Key{at.table, other}] {
			if !told[at.table] {
				told[at.table] = true
				warnings = append(warnings, experiment.Warn("run", "only %s has results of %s", where, described(at.table, fields)))
			}
			continue
		}
		name := strings.TrimSpace(benchmarkName(at.row) + " " + described(at.table, fields))
		twin := s.cells[place{at.table, at.row, other}]
		if twin == nil || twin.values == nil {
			warnings = append(warnings, experiment.Warn(name, "only in %s", where))
			continue
		}
		for _, unit := range s.cells[at].units {
			if !slices.Contains(twin.units, unit) {
				warnings = append(warnings, experiment.Warn(name, "%s is only in %s", unit, where))
			}
		}
	}
	return warnings
}

func (s *results) columnName(col benchproc.Key) string {
	return cmp.Or(col.StringValues(), "the column without "+s.col.Fields()[0].Name)
}

// nothingInCommon finds the reason: mostly another machine.
func (s *results) nothingInCommon(columns []benchproc.Key) error {
	if len(columns) == 1 {
		return fmt.Errorf("found one column alone, %s: expected two or more to compare", columns[0])
	}
	var first, other *place
	for i, at := range s.places {
		if at.col == columns[0] && first == nil {
			first = &s.places[i]
		}
		if at.col != columns[0] && other == nil {
			other = &s.places[i]
		}
	}
	begin := fmt.Sprintf("%s and %s have no benchmark in common", s.columnName(first.col), s.columnName(other.col))
	bare := map[string]string{}
	rows := map[benchproc.Key]benchproc.Key{} // to their tables
	for _, at := range s.places {
		if at.col == columns[0] {
			bare[rawtext.Bare(benchmarkName(at.row))], rows[at.row] = benchmarkName(at.row), at.table
		}
	}
	for _, at := range s.places {
		if at.col == columns[0] {
			continue
		}
		if table, ok := rows[at.row]; ok && table != at.table {
			keys, text := unlikeFields(table, at.table)
			return fmt.Errorf("%s: %s; times of unlike configurations can't be compared, --ignore %s does so nevertheless", begin, text, strings.Join(keys, ","))
		}
	}
	for _, at := range s.places {
		name := benchmarkName(at.row)
		if twin, ok := bare[rawtext.Bare(name)]; ok && at.col != columns[0] && twin != name {
			return fmt.Errorf("%s: %s and %s differ in GOMAXPROCS, run both on like machines", begin, twin, name)
		}
	}
	return fmt.Errorf("%s: found %s, … and %s, …", begin, benchmarkName(first.row), benchmarkName(other.row))
}

// unlike lists what should be equal in two files and is not.
func (s *results) unlike() []experiment.Warning {
	if len(s.files) != 2 {
		return nil
	}
	before, after := s.files[0], s.files[1]
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
	modules := slices.AppendSeq(slices.Collect(maps.Keys(before.run.Versions)), maps.Keys(after.run.Versions))
	slices.Sort(modules)
	for _, path := range slices.Compact(modules) {
		differ(path, before.run.Versions[path], after.run.Versions[path], "a change may come from it")
	}
	return warnings
}

// sameCode reports that there are two files and upstream's code in them is the same.
func (s *results) sameCode() bool {
	if len(s.files) != 2 || s.files[0].run == nil || s.files[1].run == nil {
		return false
	}
	a, b := s.files[0].run, s.files[1].run
	if a.Environment.Go != b.Environment.Go {
		return false
	}
	for _, path := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"} {
		if v := a.Versions[path]; v == "" || v != b.Versions[path] {
			return false
		}
	}
	return true
}
