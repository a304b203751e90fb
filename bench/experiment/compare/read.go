package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// machineKeys are the lines of the Go benchmark format that name the machine.
var machineKeys = []string{"goos", "goarch", "cpu"}

// maxSeries bounds what a comparison takes of memory: half a gigabyte. A series is a
// benchmark's unit, in one file.
const maxSeries = 200_000

// A file is one of the results that are compared: a result directory or a file
// in the Go benchmark format.
type file struct {
	path    string
	raw     string          // the path of its samples
	run     *experiment.Run // nil for a file
	machine map[string][]string
	failure string // the line at which go test says that it failed
}

// results are the samples of all files, each in its place.
type results struct {
	grouping
	files     []*file
	places    []place // in the order in which they were seen
	cells     map[place]*cell
	baselines map[caseOfFile]*cell // of the cases that have a control
	units     benchfmt.UnitMetadataMap
	warnings  []experiment.Warning
	firsts    map[tableUnit]benchproc.Key // the old columns
	lastUnits []string                    // of the last new cell
	series    int
}

// A cell holds the samples of one place.
type cell struct {
	of       caseOfFile
	upstream bool // upstream's own code, as run.json has it
	residue  benchproc.Key
	units    []string
	values   [][]float64 // by unit
	rounds   [][]int32   // of the values; nil where the file marks none
	control  *cell       // the A/A control's
}

// A caseOfFile is what has one control: all variants of a case in a file.
type caseOfFile struct {
	file  int
	table benchproc.Key
	name  string // of the benchmark, without its variant
}

// read reads all files. Two of the same Go and modules may be of unlike
// processors, because samples count beside upstream's code then.
func read(o Options, paths ...string) (*results, error) {
	var s results
	for _, path := range paths {
		f, warnings, err := openFile(path)
		if err != nil {
			return nil, err
		}
		s.files, s.warnings = append(s.files, f), append(s.warnings, warnings...)
	}
	if s.sameCode() && o.Col+o.Row == "" {
		o.Ignore = strings.TrimPrefix(o.Ignore+",cpu", ",")
	}
	var err error
	if s.grouping, err = newGrouping(o); err != nil {
		return nil, err
	}
	s.cells, s.baselines, s.units = map[place]*cell{}, map[caseOfFile]*cell{}, benchfmt.UnitMetadataMap{}
	for i := range s.files {
		if err := s.readFile(i); err != nil {
			return nil, err
		}
	}
	if len(s.places) == 0 {
		return nil, fmt.Errorf("no result matches --filter %q", o.Filter)
	}
	return &s, nil
}

// openFile reads what run.json tells about the samples, if there is one.
func openFile(path string) (*file, []experiment.Warning, error) {
	f := &file{path: path, raw: path, machine: map[string][]string{}}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return f, nil, err
	}
	f.raw = filepath.Join(path, rawtext.File)
	if _, err := os.Stat(f.raw); errors.Is(err, fs.ErrNotExist) {
		return f, nil, fmt.Errorf("%s has no %s, expected a directory that benchrun run wrote", path, rawtext.File)
	}
	if _, err := os.Stat(filepath.Join(path, rawtext.RunFile)); errors.Is(err, fs.ErrNotExist) {
		return f, []experiment.Warning{experiment.Warn("run", "%s has no %s: plan and versions are not compared", path, rawtext.RunFile)}, nil
	}
	run, err := experiment.LoadRun(path)
	if err != nil {
		return f, nil, err
	}
	f.run = &run
	var warnings []experiment.Warning
	if !run.Ended() {
		warnings = append(warnings, experiment.Warn("run", "%s: the run did not come to its end", path))
	}
	for _, x := range run.Schedule {
		if x.Failure != "" {
			warnings = append(warnings, experiment.Warn(x.Case+"/"+x.Arm, "a sample failed in %s: %s", path, x.Failure))
		}
	}
	return f, warnings, nil
}

// upstream are the benchmarks of upstream's own code that cases have as baselines.
func (f *file) upstream() map[string]bool {
	upstream := map[string]bool{}
	if f.run == nil {
		return upstream
	}
	for _, c := range f.run.Plan.Cases {
		for _, a := range c.Arms {
			if a.Peer && a.Name == c.Baseline {
				upstream[c.Benchmark(a.Name)] = true
			}
		}
	}
	return upstream
}

// readFile leaves a cut last line and malformed lines out with a warning. A
// value that can't be compared is an error: a gate must not pass over it.
func (s *results) readFile(i int) error {
	f := s.files[i]
	label := f.path
	for _, other := range s.files[:i] {
		if other.path == f.path {
			label += " again"
		}
	}
	lines, err := rawtext.Open(f.raw, label)
	if err != nil {
		return err
	}
	defer lines.Close()
	upstream := f.upstream()
	samples := 0
	for lines.Scan() {
		r := lines.Sample()
		if err := rawtext.Check(r); err != nil {
			return fmt.Errorf("%s:%d: the sample %w", f.raw, lines.Line(), err)
		}
		samples++
		for _, key := range machineKeys {
			if v := r.GetConfig(key); !slices.Contains(f.machine[key], v) {
				f.machine[key] = append(f.machine[key], v)
			}
		}
		s.add(i, r, int32(lines.Round()), upstream)
		if s.series > maxSeries {
			return fmt.Errorf("%s:%d: found more than %d series (benchmarks by units) in all files, expected at most that: choose some with --filter", f.raw, lines.Line(), maxSeries)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	prefixed := lines.Prefixed()
	if samples == 0 {
		hint := lines.Form()
		if hint == "" {
			hint = prefixed
		}
		if hint == "" && len(lines.Malformed) > 0 {
			hint = lines.Malformed[0].Error()
		}
		if hint != "" {
			hint = "; " + hint
		}
		return fmt.Errorf("%s holds no benchmark result, expected the Go benchmark format, which go test -bench prints%s", f.raw, hint)
	}
	if prefixed != "" {
		s.warnings = append(s.warnings, experiment.Warn("run", "results behind other text were left out: %s", prefixed))
	}
	if s.paired && lines.Round() < 0 {
		return fmt.Errorf("--paired: %s has no line \"%sN\" before the samples of a round, as samples have that were taken in turns", f.raw, rawtext.RoundMark)
	}
	f.failure = lines.Failure()
	if lines.Cut() {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s: the last line is cut off and was left out", f.raw))
	}
	for _, err := range lines.Malformed {
		s.warnings = append(s.warnings, experiment.Warn("run", "left out: %v", err))
	}
	if lines.Broken > len(lines.Malformed) {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s: %d malformed lines left out in all", f.raw, lines.Broken))
	}
	return s.addUnits(lines.Units())
}

// unitValues are what a Unit line may say by benchfmt.
var unitValues = map[string][]string{"assume": {"exact", "nothing"}, "better": {"higher", "lower"}}

// addUnits refuses Unit lines that contradict one another: whichever counted, a gate
// could pass over what the other asks for.
func (s *results) addUnits(units benchfmt.UnitMetadataMap) error {
	for key, u := range units {
		path, line := u.Pos()
		if expected, ok := unitValues[key.Key]; ok && !slices.Contains(expected, u.Value) {
			return fmt.Errorf("%s:%d: Unit %s: found %s=%s, expected %s", path, line, u.OrigUnit, key.Key, u.Value, strings.Join(expected, " or "))
		}
		if before := s.units[key]; before != nil && before.Value != u.Value {
			other, at := before.Pos()
			return fmt.Errorf("%s:%d: Unit %s: found %s=%s, expected %[4]s=%[6]s as in %[7]s:%[8]d", path, line, u.OrigUnit, key.Key, u.Value, before.Value, other, at)
		}
		s.units[key] = u
	}
	return nil
}

// add puts a sample into its cell. A/A controls are kept beside their
// baselines: they compare within one run. What the load costs is no result.
func (s *results) add(file int, r *benchfmt.Result, round int32, upstream map[string]bool) {
	full := "Benchmark" + string(r.Name)
	procs := rawtext.Procs(full)
	name, isControl := strings.CutSuffix(strings.TrimSuffix(full, procs), experiment.ControlSuffix)
	if strings.HasSuffix(name, "/impl="+bench.NullSink) {
		return
	}
	if isControl {
		r.Name = benchfmt.Name(strings.TrimPrefix(name, "Benchmark") + procs)
	}
	if ok, _ := s.filter.Apply(r); !ok {
		return
	}
	at := s.place(r)
	c := s.cells[at]
	if c == nil {
		c = &cell{of: caseOfFile{file, at.table, caseOf(name) + procs}, residue: s.residue.Project(r), upstream: upstream[name] || upstream[name+procs]}
		s.cells[at] = c
		if !isControl {
			s.places = append(s.places, at)
		}
	} else if !isControl && c.values == nil {
		s.places = append(s.places, at)
	}
	if residue := s.residue.Project(r); residue != c.residue {
		s.warnPooled(c.residue, residue)
	}
	if isControl {
		if c.control == nil {
			c.control = &cell{}
			s.baselines[c.of] = c
		}
		c = c.control
	}
	if c.units == nil {
		c.units = s.unitsOf(r)
		s.series += len(c.units)
		c.values = make([][]float64, len(c.units))
	}
	for _, v := range r.Values {
		unit := rawtext.Tidied(v)
		i := slices.Index(c.units, unit)
		if i < 0 {
			i = len(c.units)
			c.units, c.values = append(c.units, unit), append(c.values, nil)
			s.series++
		}
		c.values[i] = append(c.values[i], v.Value)
		if round >= 0 {
			for len(c.rounds) < len(c.values) {
				c.rounds = append(c.rounds, nil)
			}
			c.rounds[i] = append(c.rounds[i], round)
		}
	}
}

// unitsOf are the units of a sample. Cells of the same units share the list: there
// may be a hundred thousand of them.
func (s *results) unitsOf(r *benchfmt.Result) []string {
	var units []string
	for _, v := range r.Values {
		if unit := rawtext.Tidied(v); !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	if !slices.Equal(units, s.lastUnits) {
		s.lastUnits = slices.Clip(units)
	}
	return s.lastUnits
}

// warnPooled says once in what the results of one cell differ.
func (s *results) warnPooled(a, b benchproc.Key) {
	_, text := unlikeFields(a, b)
	w := experiment.Warn("run", "results that differ count as one: %s", text)
	if !slices.Contains(s.warnings, w) && len(s.warnings) < 100 {
		s.warnings = append(s.warnings, w)
	}
}

// in are the cell's samples in a unit, and their rounds.
func (c *cell) in(unit string) ([]float64, []int32) {
	if c == nil {
		return nil, nil
	}
	if i := slices.Index(c.units, unit); i >= 0 {
		if i < len(c.rounds) {
			return c.values[i], c.rounds[i]
		}
		return c.values[i], nil
	}
	return nil, nil
}

// caseOf is a benchmark's name without its variant, if it names one.
func caseOf(name string) string {
	if i := strings.LastIndex(name, "/impl="); i >= 0 {
		return name[:i]
	}
	return name
}

// baseline is the cell whose A/A control tells of the noise: this one, or the
// baseline of its case; nil if there is none.
func (s *results) baseline(c *cell) *cell {
	if c.control != nil {
		return c
	}
	return s.baselines[c.of]
}

// floor is what the A/A control of a benchmark's case differs by in unit.
func (s *results) floor(c *cell, unit string) float64 {
	baseline := s.baseline(c)
	if baseline == nil {
		return 0
	}
	a, _ := baseline.in(unit)
	b, _ := baseline.control.in(unit)
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return apart(statistic.Center(a), statistic.Center(b))
}

// relative gives a benchmark's samples as ratios to upstream's code in the same
// case and round, of the rounds that have both; nil where the case has none or it
// measures 0.
func (s *results) relative(c *cell, unit string) []float64 {
	baseline := s.baseline(c)
	values, rounds := c.in(unit)
	base, baseRounds := baseline.in(unit)
	if len(values) == 0 || len(base) == 0 || len(values) != len(rounds) || len(base) != len(baseRounds) || !baseline.upstream || slices.Min(base) <= 0 || statistic.Center(values) <= 0 {
		return nil
	}
	of := map[int32]float64{}
	for i, round := range baseRounds {
		of[round] = base[i]
	}
	var ratios []float64
	for i, round := range rounds {
		if b, ok := of[round]; ok {
			ratios = append(ratios, values[i]/b)
		}
	}
	return ratios
}
