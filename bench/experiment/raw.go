package experiment

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchfmt"
)

// A Measurement is what one sample measured, read from raw.txt.
type Measurement struct {
	Round  int
	Case   string             // component + "/" + name
	Arm    string             // as in raw.txt; bench.NullSink's samples are the load's
	Values map[string]float64 // by tidied unit
}

// Key names a case in schedules and warnings: component + "/" + name.
func (c PlannedCase) Key() string { return c.Component + "/" + c.Name }

// Benchmark names an arm in raw.txt, without "-GOMAXPROCS".
func (c PlannedCase) Benchmark(arm string) string {
	return bench.Case{Component: c.Component, Name: c.Name}.Benchmark(arm)
}

// readRaw reads the samples of the planned cases. A last line without its end
// is left out with a warning: the process died while it was written.
func readRaw(path string, plan Plan) ([]Measurement, []Warning, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if _, err := rawtext.WholeLines(f); err != nil { // too large, or no file
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	type place struct{ key, arm string }
	places := map[string]place{}
	for _, c := range plan.Cases {
		for _, a := range c.Arms {
			places[c.Benchmark(a.Name)] = place{c.Key(), a.Name}
		}
		places[c.Benchmark(bench.NullSink)] = place{c.Key(), bench.NullSink}
	}
	var samples []Measurement
	var warnings []Warning
	warn := func(line int, format string, args ...any) {
		warnings = append(warnings, Warn("run", "%s:%d: %s", rawtext.File, line, fmt.Sprintf(format, args...)))
	}
	round := 0
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			if line != "" {
				warn(n, "the last line is cut off and was left out")
			}
			return samples, warnings, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if mark, ok := strings.CutPrefix(line, rawtext.RoundMark); ok {
			number, _, _ := strings.Cut(mark, " ")
			if round, err = strconv.Atoi(strings.TrimSpace(number)); err != nil {
				return nil, nil, fmt.Errorf("%s:%d: found %.40q, expected %q and a number", path, n, line, rawtext.RoundMark)
			}
			continue
		}
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		name, _, _ := strings.Cut(line, "\t")
		name = strings.TrimRight(name, " ")
		at, ok := places[name]
		if !ok {
			at, ok = places[rawtext.Bare(name)]
		}
		if !ok {
			warn(n, "%.100q is not in the plan and was left out", name)
			continue
		}
		reader := benchfmt.NewReader(strings.NewReader(line), path)
		reader.Scan()
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			warn(n, "malformed result left out")
			continue
		}
		values, err := rawtext.Values(result)
		if err != nil {
			warn(n, "left out: the sample %v", err)
			continue
		}
		samples = append(samples, Measurement{round, at.key, at.arm, values})
	}
}
