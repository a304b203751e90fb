// Package compare tells what changed between results of unlike runs:
//
//	read    samples into cells of one configuration, row and column (Options)
//	diff    the old column with each other one, by benchstat's statistics
//	judge   the limits of a gate
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

// A Change is one benchmark's unit in two results of unlike runs.
type Change struct {
	Benchmark string          `json:"benchmark"`
	Config    string          `json:"config,omitempty"` // "goarch=arm64": what tells it from others of that name
	Column    string          `json:"column,omitempty"` // "slice → ring": the columns compared, where they are not two files
	Unit      string          `json:"unit"`
	Old       verdict.Summary `json:"old"`
	New       verdict.Summary `json:"new"`
	Ratio     float64         `json:"ratio"`              // new / old medians: 1.05 is 5% more; 0 where only the old median is 0
	Relative  float64         `json:"relative,omitempty"` // the same of each sample's ratio to upstream's unchanged code in its run; 0 where there is none
	Paired    float64         `json:"paired,omitempty"`   // the same of the samples of one round, where both were taken in turns; 0 where they weren't
	Low       float64         `json:"low,omitempty"`      // of Paired, with 95% confidence; 0 of too few rounds
	High      float64         `json:"high,omitempty"`
	P         float64         `json:"p"`          // Mann–Whitney U, as benchstat's; of those ratios where Relative is known; where Paired is, the smaller of this and the signed rank test's, doubled
	PAdjusted float64         `json:"pAdjusted"`  // Holm over all changes
	Noise     float64         `json:"noiseFloor"` // what the A/A controls differ by in this case and unit: 0.05 is 5%; 0 where unknown

	samples int               // that P is of, on the side that has fewer
	control map[int32]float64 // logarithms of the A/A controls' ratios, by round, where Paired is known
}

// Name is the benchmark with what tells it from others of that name:
// "BenchmarkQueue-4 (goarch=arm64)".
func (c Change) Name() string {
	if more := strings.TrimSpace(c.Config + " " + c.Column); more != "" {
		return c.Benchmark + " (" + more + ")"
	}
	return c.Benchmark
}

// Effect is the change that counts, as new / old: Relative or Paired where it is known.
// It is 0 where only the old median is 0.
func (c Change) Effect() float64 { return cmp.Or(c.Relative, c.Paired, c.Ratio) }

// Grown is the change that counts in the unit; negative if it shrank.
func (c Change) Grown() float64 {
	if c.Old.Center == 0 {
		return c.New.Center
	}
	return (c.Effect() - 1) * c.Old.Center
}

// Shown reports that a change is more than chance and than the noise floor. Of samples
// that were taken in turns all of the interval is to be: that is a run's own verdict, and
// who looks at each change of a project for a gate can't have one in forty wrong.
func (c Change) Shown() bool {
	switch {
	case c.PAdjusted >= statistic.Alpha:
		return false
	case c.Effect() == c.Paired && c.Paired > 0:
		return c.Low > 1+c.Noise || c.High > 0 && c.High < 1/(1+c.Noise)
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

// A Result is what Diff found.
type Result struct {
	Changes  []Change
	Warnings []experiment.Warning
	Failure  string // the line at which go test says that a new result failed; "" if none does
}

// Diff compares result directories or files in the Go benchmark format by
// benchstat's statistics: the first column that Options make of them, which are
// the old results, with each other one. What makes the comparison doubtful is in
// the warnings: benchmarks, configurations and units that only one side has,
// lines left out, unlike machines, plans and versions.
//
// Between two result directories of the same Go and modules a case's upstream
// baseline is the same code: each sample counts by its ratio to the baseline's
// of the same round, because times of unlike runs can't be compared. Otherwise
// the values count as they are. The noise floor is the larger of what the A/A
// controls of either side differ by from their baseline. Samples that were taken in
// turns (Options.Paired) count round by round, which takes out what the machine does
// meanwhile, and their noise floor is that of a run: of all controls together.
func Diff(o Options, paths ...string) (Result, error) {
	s, err := read(o, paths...)
	if err != nil {
		return Result{}, err
	}
	result := Result{Warnings: append(s.failures(), s.warnings...)}
	if len(s.files) > 1 {
		result.Failure = s.files[len(s.files)-1].failure
	}
	result.Warnings = append(result.Warnings, s.unlike()...)
	columns := s.columns()
	tables := keysOf(s.places, func(p place) benchproc.Key { return p.table })
	fields := benchproc.NonSingularFields(tables)
	steady := s.sameCode() && s.byFile
	var ps []float64
	for _, at := range s.places {
		after := s.cells[at]
		for _, unit := range after.units {
			old := s.oldColumn(columns, at.table, unit)
			if at.col == old {
				continue
			}
			before := s.cells[place{at.table, at.row, old}]
			if v, _ := before.in(unit); len(v) == 0 {
				continue // among the warnings
			}
			c := s.change(before, after, unit, steady)
			c.Benchmark, c.Config = benchmarkName(at.row), described(at.table, fields)
			if len(columns) > 2 || !s.byFile {
				c.Column = fmt.Sprintf("%s → %s", s.columnName(old), s.columnName(at.col))
			}
			result.Changes = append(result.Changes, c)
			ps = append(ps, c.P)
		}
	}
	if len(result.Changes) == 0 {
		return Result{}, s.nothingInCommon(columns)
	}
	result.Warnings = append(result.Warnings, s.only(columns, fields)...)
	for i, p := range statistic.Holm(ps) {
		result.Changes[i].PAdjusted = p
	}
	poolNoise(result.Changes)
	return result, nil
}

// poolNoise sets the noise floors of changes that are known round by round.
func poolNoise(changes []Change) {
	var at []int
	var controls []statistic.Control
	for i, c := range changes {
		if len(c.control) > 0 {
			ratio, low, high := statistic.PairedRatio(slices.Collect(maps.Values(c.control)), 0.95)
			at, controls = append(at, i), append(controls, statistic.Control{Ratio: ratio, Low: low, High: high})
		}
	}
	for i, floor := range statistic.NoiseFloors(controls) {
		changes[at[i]].Noise = floor
	}
}

func keysOf(places []place, of func(place) benchproc.Key) []benchproc.Key {
	var keys []benchproc.Key
	seen := map[benchproc.Key]bool{}
	for _, p := range places {
		if key := of(p); !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys
}

// columns are those of all tables, in benchstat's order.
func (s *results) columns() []benchproc.Key {
	columns := keysOf(s.places, func(p place) benchproc.Key { return p.col })
	benchproc.SortKeys(columns)
	return columns
}

// benchmarkName is a row as raw.txt has it, if it is a full name.
func benchmarkName(row benchproc.Key) string {
	if f := row.Projection().Fields(); len(f) == 1 && (f[0].Name == ".fullname" || f[0].Name == ".name") {
		return "Benchmark" + row.StringValues()
	}
	return cmp.Or(row.String(), "all")
}

// oldColumn is the first that has the unit in a table.
func (s *results) oldColumn(columns []benchproc.Key, table benchproc.Key, unit string) benchproc.Key {
	if s.firsts == nil {
		s.firsts = map[tableUnit]benchproc.Key{}
		rank := map[benchproc.Key]int{}
		for i, c := range columns {
			rank[c] = i
		}
		for _, at := range s.places {
			for _, u := range s.cells[at].units {
				key := tableUnit{at.table, u}
				if first, ok := s.firsts[key]; !ok || rank[at.col] < rank[first] {
					s.firsts[key] = at.col
				}
			}
		}
	}
	return s.firsts[tableUnit{table, unit}]
}

type tableUnit struct {
	table benchproc.Key
	unit  string
}

func (s *results) change(before, after *cell, unit string, steady bool) Change {
	a, _ := before.in(unit)
	b, _ := after.in(unit)
	if s.exact(unit) {
		c := Change{Unit: unit, Old: exactly(a), New: exactly(b), samples: math.MaxInt}
		c.Ratio = ratio(c.Old.Center, c.New.Center)
		return c
	}
	c := Change{Unit: unit, Old: verdict.Summarise(a, 0.95), New: verdict.Summarise(b, 0.95), P: statistic.UTest(a, b), samples: min(len(a), len(b))}
	c.Ratio = ratio(c.Old.Center, c.New.Center)
	c.Noise = max(s.floor(before, unit), s.floor(after, unit))
	if s.paired {
		s.pair(&c, before, after)
	}
	if !steady {
		return c
	}
	if x, y := s.relative(before, unit), s.relative(after, unit); len(x) > 0 && len(y) > 0 && c.Ratio > 0 {
		c.P, c.samples = statistic.UTest(x, y), min(len(x), len(y))
		c.Relative = statistic.Center(y) / statistic.Center(x)
	}
	return c
}

// pair compares samples of the same rounds. Where each side was sampled twice, with a
// control of its own, all four count: the two of a side differ by noise alone, and half
// of what they do is the noise of their mean.
func (s *results) pair(c *Change, before, after *cell) {
	logs := logRatios(before, after, c.Unit)
	if b := s.baseline(before); b != nil {
		c.control = logRatios(b, b.control, c.Unit)
	}
	if before.control != nil && after.control != nil {
		logs = means(logs, logRatios(before.control, after.control, c.Unit))
		c.control = means(c.control, logRatios(after, after.control, c.Unit))
	}
	if len(logs) == 0 {
		c.control = nil
		return
	}
	c.samples = min(c.samples, len(logs))
	shrunk, low, high := statistic.PairedRatio(slices.Collect(maps.Values(logs)), 0.95)
	c.Paired = 1 / shrunk
	if low > 0 {
		c.Low, c.High = 1/high, 1/low
	}
	c.P = min(1, 2*min(c.P, statistic.SignedRank(slices.Collect(maps.Values(logs)))))
}

// logRatios are those of the first cell's samples to the second one's, by round, of the
// rounds that both have.
func logRatios(a, b *cell, unit string) map[int32]float64 {
	x, y, logs := a.logs(unit), b.logs(unit), map[int32]float64{}
	for round, log := range x {
		if other, ok := y[round]; ok {
			logs[round] = log - other
		}
	}
	return logs
}

// means are those of the rounds that both have.
func means(x, y map[int32]float64) map[int32]float64 {
	both := map[int32]float64{}
	for round, log := range x {
		if other, ok := y[round]; ok {
			both[round] = (log + other) / 2
		}
	}
	return both
}

// logs are the mean logarithms of the samples of each round, of values above 0.
func (c *cell) logs(unit string) map[int32]float64 {
	values, rounds := c.in(unit)
	sums, counts := map[int32]float64{}, map[int32]float64{}
	for i, round := range rounds {
		if values[i] > 0 {
			sums[round], counts[round] = sums[round]+math.Log(values[i]), counts[round]+1
		}
	}
	for round, n := range counts {
		sums[round] /= n
	}
	return sums
}

// exact reports that a Unit line says of a unit that it is measured exactly:
// one sample tells all, and any difference is a change.
func (s *results) exact(unit string) bool {
	return s.units.GetAssumption(unit) == benchmath.AssumeExact
}

func exactly(values []float64) verdict.Summary {
	m := benchmath.AssumeExact.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 1)
	return verdict.Summary{Center: m.Center, Low: m.Lo, High: m.Hi, Values: values}
}

// ratio is 0 where only the old value is.
func ratio(before, after float64) float64 {
	switch {
	case before == after:
		return 1
	case before == 0:
		return 0
	}
	return after / before
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
