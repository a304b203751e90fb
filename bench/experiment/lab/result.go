package lab

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchfmt"
)

// findResult takes the one result called name out of a sample's output.
func findResult(output []byte, name, unit string) (line []byte, values map[string]float64, err error) {
	for l := range bytes.Lines(output) {
		field, _, _ := bytes.Cut(bytes.TrimRight(l, "\n"), []byte("\t"))
		found := strings.TrimRight(string(field), " ")
		if found != name && rawtext.Bare(found) != name {
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
	if values, err = rawtext.Values(result); err != nil {
		return nil, nil, err
	}
	if _, ok := values[unit]; !ok {
		return nil, nil, fmt.Errorf("printed no %s, which the verdict is taken on", unit)
	}
	return append(bytes.TrimRight(line, "\n"), '\n'), values, nil
}
