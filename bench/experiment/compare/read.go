package compare

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchfmt"
)

// machineKeys are the lines of the Go benchmark format that name the machine.
var machineKeys = []string{"goos", "goarch", "cpu"}

// A side is one of the two results that Diff compares.
type side struct {
	names     []string // in the file's order, "package.name" where packages share a name
	units     map[string][]string
	values    map[string]map[string][]float64
	rounds    map[string]map[string][]int     // of the values; below 0 where the file marks none
	controls  map[string]map[string][]float64 // of the A/A controls, by the baseline's name
	baselines map[string]string               // of a case, where it has a control
	machine   map[string][]string
	upstream  map[string]bool // benchmarks of upstream's own code; from run.json
	run       *experiment.Run // nil for a file
	warnings  []experiment.Warning
}

// readSide reads a result directory or a file in the Go benchmark format.
func readSide(path string) (side, error) {
	s := side{
		units: map[string][]string{}, values: map[string]map[string][]float64{}, rounds: map[string]map[string][]int{}, machine: map[string][]string{},
		controls: map[string]map[string][]float64{}, upstream: map[string]bool{}, baselines: map[string]string{},
	}
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	raw := path
	if info.IsDir() {
		raw = filepath.Join(path, rawtext.File)
	}
	f, err := os.Open(raw)
	if errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("%s has no %s, expected a directory that benchrun run wrote", path, rawtext.File)
	}
	if err != nil {
		return s, err
	}
	defer f.Close()
	if err := s.readRaw(f, raw); err != nil {
		return s, err
	}
	if len(s.names) == 0 {
		return s, fmt.Errorf("%s holds no benchmark result, expected the Go benchmark format, uncompressed", raw)
	}
	if info.IsDir() {
		return s, s.readRun(path)
	}
	return s, nil
}

// readRaw leaves a cut last line and malformed lines out with a warning. A
// value that can't be compared is an error: a gate must not pass over it.
func (s *side) readRaw(f *os.File, path string) error {
	whole, err := rawtext.WholeLines(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if whole < info.Size() {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s: the last line is cut off and was left out", path))
	}
	marks, err := readRounds(io.NewSectionReader(f, 0, whole))
	if err != nil {
		return err
	}
	type sample struct {
		pkg, name string
		line      int
		values    []benchfmt.Value
	}
	var samples []sample
	packages := map[string]string{} // of a name; sharedName for several
	const sharedName = "\x00"
	malformed := 0
	reader := benchfmt.NewReader(io.NewSectionReader(f, 0, whole), path)
	for reader.Scan() {
		record := reader.Result()
		r, ok := record.(*benchfmt.Result)
		if !ok {
			if e, ok := record.(*benchfmt.SyntaxError); ok {
				if malformed++; malformed <= 3 {
					s.warnings = append(s.warnings, experiment.Warn("run", "left out: %v", e))
				}
			}
			continue
		}
		_, line := r.Pos()
		if _, err := rawtext.Values(r); err != nil {
			return fmt.Errorf("%s:%d: the sample %w", path, line, err)
		}
		x := sample{r.GetConfig("pkg"), "Benchmark" + string(r.Name), line, slices.Clone(r.Values)}
		samples = append(samples, x)
		if pkg, ok := packages[x.name]; ok && pkg != x.pkg {
			packages[x.name] = sharedName
		} else if !ok {
			packages[x.name] = x.pkg
		}
		for _, key := range machineKeys {
			if v := r.GetConfig(key); !slices.Contains(s.machine[key], v) {
				s.machine[key] = append(s.machine[key], v)
			}
		}
	}
	if malformed > 3 {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s: %d malformed lines left out in all", path, malformed))
	}
	if err := reader.Err(); err != nil {
		return err
	}
	for _, x := range samples {
		name := x.name
		if packages[name] == sharedName {
			name = x.pkg + "." + name
		}
		s.add(name, marks.of(x.line), x.values)
	}
	return nil
}

// add keeps the A/A controls apart: they compare within one run.
func (s *side) add(name string, round int, values []benchfmt.Value) {
	procs := rawtext.Procs(name)
	if strings.HasSuffix(strings.TrimSuffix(name, procs), "/impl="+bench.NullSink) {
		return // what the load costs is no result
	}
	if baseline, ok := strings.CutSuffix(strings.TrimSuffix(name, procs), experiment.ControlSuffix); ok {
		baseline += procs
		s.baselines[caseOf(baseline)] = baseline
		if s.controls[baseline] == nil {
			s.controls[baseline] = map[string][]float64{}
		}
		for _, v := range values {
			unit := rawtext.Tidied(v)
			s.controls[baseline][unit] = append(s.controls[baseline][unit], v.Value)
		}
		return
	}
	if s.values[name] == nil {
		s.names = append(s.names, name)
		s.values[name], s.rounds[name] = map[string][]float64{}, map[string][]int{}
	}
	for _, v := range values {
		unit := rawtext.Tidied(v)
		if s.values[name][unit] == nil {
			s.units[name] = append(s.units[name], unit)
		}
		s.values[name][unit] = append(s.values[name][unit], v.Value)
		s.rounds[name][unit] = append(s.rounds[name][unit], round)
	}
}

// readRun adds what run.json tells about the samples.
func (s *side) readRun(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, rawtext.RunFile)); errors.Is(err, os.ErrNotExist) {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s has no %s: plan and versions are not compared", dir, rawtext.RunFile))
		return nil
	}
	run, err := experiment.LoadRun(dir)
	if err != nil {
		return err
	}
	s.run = &run
	if !run.Ended() {
		s.warnings = append(s.warnings, experiment.Warn("run", "%s: the run did not come to its end", dir))
	}
	for _, x := range run.Schedule {
		if x.Failure != "" {
			s.warnings = append(s.warnings, experiment.Warn(x.Case+"/"+x.Arm, "a sample failed in %s: %s", dir, x.Failure))
		}
	}
	upstream := map[string]bool{}
	for _, c := range run.Plan.Cases {
		for _, a := range c.Arms {
			if a.Peer && a.Name == c.Baseline {
				upstream[c.Benchmark(a.Name)] = true
			}
		}
	}
	for _, name := range s.names {
		s.upstream[name] = upstream[name] || upstream[rawtext.Bare(name)]
	}
	return nil
}

// caseOf is a benchmark's name without its variant, if it names one.
func caseOf(name string) string {
	i := strings.LastIndex(name, "/impl=")
	if i < 0 {
		return name
	}
	return name[:i] + rawtext.Procs(name)
}

// baselineOf is the benchmark whose A/A control tells of the noise: itself, or
// the baseline of its case; "" if there is none.
func (s side) baselineOf(name string) string {
	if s.controls[name] != nil {
		return name
	}
	return s.baselines[caseOf(name)]
}

// floor is what the A/A control of a benchmark's case differs by in unit.
func (s side) floor(name, unit string) float64 {
	baseline := s.baselineOf(name)
	a, b := s.values[baseline][unit], s.controls[baseline][unit]
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return apart(median(a), median(b))
}

// relative gives a benchmark's samples as ratios to upstream's code in the same
// case and round, of the rounds that have both; nil where the case has none or it
// measures 0.
func (s side) relative(name, unit string) []float64 {
	baseline := s.baselineOf(name)
	values, base := s.values[name][unit], s.values[baseline][unit]
	if !s.upstream[baseline] || len(values) == 0 || len(base) == 0 || slices.Min(base) <= 0 || median(values) <= 0 {
		return nil
	}
	of := map[int]float64{}
	for i, round := range s.rounds[baseline][unit] {
		of[round] = base[i]
	}
	var ratios []float64
	for i, round := range s.rounds[name][unit] {
		if b, ok := of[round]; ok && round >= 0 {
			ratios = append(ratios, values[i]/b)
		}
	}
	return ratios
}
