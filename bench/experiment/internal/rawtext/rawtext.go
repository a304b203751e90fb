// Package rawtext holds what the writer and the readers of a result directory's
// raw.txt agree on: the Go benchmark format, whose comments mark the rounds.
package rawtext

import (
	"fmt"
	"math"
	"regexp"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Names of the files in a result directory.
const (
	RunFile   = "run.json"
	File      = "raw.txt"
	StatsFile = "stats.json"
)

// RoundMark begins the comment before a round's samples: "# round 3 of
// queue/op=cycle". It keeps the pairs of a crashed run together without
// run.json.
const RoundMark = "# round "

var procsSuffix = regexp.MustCompile(`-[0-9]+$`)

// Bare is a benchmark's name without "-GOMAXPROCS".
func Bare(name string) string { return procsSuffix.ReplaceAllString(name, "") }

// Procs is the "-GOMAXPROCS" that Bare cuts off.
func Procs(name string) string { return procsSuffix.FindString(name) }

// Values are a result's figures by tidied unit. One that can't be compared (no
// number, infinite, negative) is an error.
func Values(r *benchfmt.Result) (map[string]float64, error) {
	values := make(map[string]float64, len(r.Values))
	for _, v := range r.Values {
		values[Tidied(v)] = v.Value
	}
	return values, Check(r)
}

// Check is the error of Values.
func Check(r *benchfmt.Result) error {
	for _, v := range r.Values {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Value < 0 {
			return fmt.Errorf("printed %v %s, expected a number of 0 or more", v.Value, v.Unit)
		}
	}
	return nil
}

// Tidied is a value's unit: benchfmt leaves "ns/op" as it is where the value
// is 0.
func Tidied(v benchfmt.Value) string {
	if v.Value != 0 {
		return v.Unit
	}
	_, unit := benchunit.Tidy(1, v.Unit)
	return unit
}
