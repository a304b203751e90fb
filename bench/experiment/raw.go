package experiment

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"golang.org/x/perf/benchfmt"
)

// Names of the files in a result directory.
const (
	runFile   = "run.json"
	rawFile   = "raw.txt"
	statsFile = "stats.json"
)

// A Measurement is what one sample measured, read from raw.txt.
type Measurement struct {
	Round  int
	Case   string             // component + "/" + name
	Arm    string             // as in raw.txt
	Values map[string]float64 // by tidied unit
}

// raw.txt is in the Go benchmark format, so that the stock benchstat reads it.
// Rounds are marked by comments, which the format ignores: they keep the pairs
// of a crashed run together without run.json.
const roundMark = "# round "

// rawHeader holds what benchstat prints above its tables. Only what makes two
// files incomparable belongs here, because benchstat separates by it.
func rawHeader(e Environment) string {
	var s strings.Builder
	fmt.Fprintf(&s, "goos: %s\ngoarch: %s\npkg: github.com/informerbench/informerbench/bench\n", e.OS, e.Arch)
	if e.CPU != "" {
		fmt.Fprintf(&s, "cpu: %s\n", e.CPU)
	}
	return s.String()
}

// benchmarkName is an arm's name in raw.txt, without "-GOMAXPROCS".
func benchmarkName(c PlannedCase, arm string) string {
	return bench.Case{Component: c.Component, Name: c.Name}.Benchmark(arm)
}

// Key names a case in schedules and warnings: component + "/" + name.
func (c PlannedCase) Key() string { return c.Component + "/" + c.Name }

var procsSuffix = regexp.MustCompile(`-[0-9]+$`)

// findResult takes the one result called name out of a sample's output.
func findResult(output []byte, name, unit string) (line []byte, values map[string]float64, err error) {
	for l := range bytes.Lines(output) {
		field, _, _ := bytes.Cut(bytes.TrimRight(l, "\n"), []byte("\t"))
		found := strings.TrimRight(string(field), " ")
		if found != name && procsSuffix.ReplaceAllString(found, "") != name {
			continue
		}
		if line != nil {
			return nil, nil, errors.New("printed more than one result")
		}
		line = l
	}
	if line == nil {
		return nil, nil, errors.New("printed no result")
	}
	reader := benchfmt.NewReader(bytes.NewReader(line), "sample")
	if !reader.Scan() {
		return nil, nil, errors.New("printed no result")
	}
	result, ok := reader.Result().(*benchfmt.Result)
	if !ok {
		return nil, nil, fmt.Errorf("printed a malformed result: %.100q", line)
	}
	if values, err = valuesOf(result); err != nil {
		return nil, nil, err
	}
	if _, ok := values[unit]; !ok {
		return nil, nil, fmt.Errorf("printed no %s, which the verdict is taken on", unit)
	}
	return append(bytes.TrimRight(line, "\n"), '\n'), values, nil
}

func valuesOf(r *benchfmt.Result) (map[string]float64, error) {
	values := make(map[string]float64, len(r.Values))
	for _, v := range r.Values {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Value < 0 {
			return nil, fmt.Errorf("printed %v %s, expected a number of 0 or more", v.Value, v.Unit)
		}
		values[tidied(v)] = v.Value
	}
	return values, nil
}

// readRaw reads the samples of the planned cases. A last line without its end
// is left out with a warning: the process died while it was written.
func readRaw(path string, plan Plan) ([]Measurement, []Warning, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	type place struct{ key, arm string }
	places := map[string]place{}
	for _, c := range plan.Cases {
		for _, a := range c.Arms {
			places[benchmarkName(c, a.Name)] = place{c.Key(), a.Name}
		}
	}
	var samples []Measurement
	var warnings []Warning
	warn := func(line int, format string, args ...any) {
		warnings = append(warnings, Warning{"run", fmt.Sprintf("%s:%d: ", rawFile, line) + fmt.Sprintf(format, args...)})
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
		if mark, ok := strings.CutPrefix(line, roundMark); ok {
			number, _, _ := strings.Cut(mark, " ")
			if round, err = strconv.Atoi(strings.TrimSpace(number)); err != nil {
				return nil, nil, fmt.Errorf("%s:%d: found %.40q, expected %q and a number", path, n, line, roundMark)
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
			at, ok = places[procsSuffix.ReplaceAllString(name, "")]
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
		values, err := valuesOf(result)
		if err != nil {
			warn(n, "left out: the sample %v", err)
			continue
		}
		samples = append(samples, Measurement{round, at.key, at.arm, values})
	}
}
