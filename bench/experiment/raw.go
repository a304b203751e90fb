package experiment

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A Measurement is what one sample measured, read from raw.txt.
type Measurement struct {
	Round  int
	Case   string // component + "/" + name
	Arm    string // as in raw.txt; bench.NullSink's samples are the load's
	Values Values
}

// Key names a case in schedules and warnings: component + "/" + name.
func (c PlannedCase) Key() string { return c.Component + "/" + c.Name }

// Benchmark names an arm in raw.txt, without "-GOMAXPROCS".
func (c PlannedCase) Benchmark(arm string) string {
	return bench.Case{Component: c.Component, Name: c.Name}.Benchmark(arm)
}

// readRaw reads the samples of the planned cases. A last line without its end
// is left out with a warning: the process died while it was written. A case that
// was measured in two configurations, such as goarch or GOMAXPROCS, is refused:
// they are not one sample.
func readRaw(path string, plan Plan) ([]Measurement, []Warning, error) {
	type place struct{ key, arm string }
	places := map[string]place{}
	for _, c := range plan.Cases {
		for _, a := range c.Arms {
			places[c.Benchmark(a.Name)] = place{c.Key(), a.Name}
		}
		places[c.Benchmark(bench.NullSink)] = place{c.Key(), bench.NullSink}
	}
	lines, err := rawtext.Open(path, path)
	if err != nil {
		return nil, nil, err
	}
	defer lines.Close()
	var samples []Measurement
	var warnings []Warning
	warn := func(line int, format string, args ...any) {
		warnings = append(warnings, Warn("run", "%s:%d: %s", rawtext.File, line, fmt.Sprintf(format, args...)))
	}
	configurations, err := newConfigurations()
	if err != nil {
		return nil, nil, err
	}
	var last Values
	for lines.Scan() {
		name := "Benchmark" + string(lines.Sample().Name)
		at, ok := places[name]
		if !ok {
			at, ok = places[rawtext.Bare(name)]
		}
		if !ok {
			warn(lines.Line(), "%.100q is not in the plan and was left out", name)
			continue
		}
		if err := configurations.add(at.key, lines.Sample()); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", path, lines.Line(), err)
		}
		values, err := rawtext.Values(lines.Sample())
		if err != nil {
			warn(lines.Line(), "left out: the sample %v", err)
			continue
		}
		last = NewValues(values).sharing(last)
		samples = append(samples, Measurement{max(lines.Round(), 0), at.key, at.arm, last})
	}
	for _, err := range lines.Malformed {
		warnings = append(warnings, Warn("run", "malformed result left out: %v", err))
	}
	if more := lines.Broken - len(lines.Malformed); more > 0 {
		warnings = append(warnings, Warn("run", "%d more malformed results left out", more))
	}
	if lines.Cut() {
		warnings = append(warnings, Warn("run", "%s: the last line is cut off and was left out", rawtext.File))
	}
	if bad := lines.BadMark(); bad != "" {
		return nil, nil, fmt.Errorf("%s, expected %q and a number", bad, rawtext.RoundMark)
	}
	return samples, warnings, lines.Err()
}

// configurations remembers which configuration each case was measured in.
type configurations struct {
	of     *benchproc.Projection
	byCase map[string]benchproc.Key
}

func newConfigurations() (configurations, error) {
	of, err := new(benchproc.ProjectionParser).Parse(".config,/gomaxprocs", nil)
	return configurations{of, map[string]benchproc.Key{}}, err
}

func (c configurations) add(key string, r *benchfmt.Result) error {
	now := c.of.Project(r)
	before, ok := c.byCase[key]
	if !ok {
		c.byCase[key] = now
		return nil
	}
	if before == now {
		return nil
	}
	var differ []string
	for _, field := range benchproc.NonSingularFields([]benchproc.Key{before, now}) {
		differ = append(differ, fmt.Sprintf("%s %q before and %q here", field.Name, before.Get(field), now.Get(field)))
	}
	return fmt.Errorf("%s was measured in two configurations, %s: a report is of one, benchrun compare keeps them apart", key, strings.Join(differ, ", "))
}
