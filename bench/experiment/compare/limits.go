package compare

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/rawtext"
	"golang.org/x/perf/benchunit"
)

// A Limit is one part of --fail-on: [SCOPE:]METRIC>AMOUNT.
type Limit struct {
	text   string
	scope  *regexp.Regexp // of kebab-case names, nil for all
	metric string
	unit   string  // exactly, or
	tail   string  // a percentile that is part of the unit's name
	less   bool    // fails when the metric shrinks
	share  float64 // of the old median, where percent
	more   float64 // in the unit, otherwise
	byPct  bool
}

// metrics are the short names of units in --fail-on.
var metrics = map[string]string{"time": "sec/op", "cpu": "cpu-sec/op", "bytes": "B/op", "allocs": "allocs/op"}

// tails are the percentiles: p99 is any unit such as p99-ns or p99-ns/op.
var tails = []string{"p50", "p90", "p99", "p999"}

// MetricNames lists what a limit may be called by, besides a unit.
func MetricNames() []string {
	names := slices.AppendSeq(slices.Clone(tails), maps.Keys(metrics))
	slices.Sort(names)
	return names
}

var limitSyntax = regexp.MustCompile(`^(?:(.+):\s*)?([^\s<>:]+)\s*([<>])\s*([0-9.]+)\s*(%?)$`)

// ParseLimits reads limits that commas separate.
func ParseLimits(s string) ([]Limit, error) {
	if s == "" {
		return nil, nil
	}
	var limits []Limit
	for part := range strings.SplitSeq(s, ",") {
		l, err := parseLimit(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("--fail-on: %w", err)
		}
		limits = append(limits, l)
	}
	return limits, nil
}

func parseLimit(part string) (Limit, error) {
	m := limitSyntax.FindStringSubmatch(part)
	if m == nil {
		return Limit{}, fmt.Errorf("found %q, expected METRIC>AMOUNT or METRIC>SHARE%%, as in time>5%% or queue:allocs>0", part)
	}
	l := Limit{text: part, metric: m[2], less: m[3] == "<", byPct: m[5] != ""}
	amount, err := strconv.ParseFloat(m[4], 64)
	if err != nil || math.IsInf(amount, 0) {
		return Limit{}, fmt.Errorf("%q: found %q, expected a number", part, m[4])
	}
	if l.byPct {
		l.share = amount / 100
	} else {
		l.more = amount
	}
	switch unit, ok := metrics[l.metric]; {
	case ok:
		l.unit = unit
	case slices.Contains(tails, l.metric):
		l.tail = l.metric
	case strings.ContainsAny(l.metric, "/-"):
		_, l.unit = benchunit.Tidy(1, l.metric)
	default:
		return Limit{}, fmt.Errorf("unknown metric %q, expected one of %s or a unit as in live-B/item", l.metric, strings.Join(MetricNames(), ", "))
	}
	if m[1] != "" {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(m[1])), `\*`, `.*`)
		l.scope = regexp.MustCompile(`^(?:` + pattern + `)(?:/.*)?$`)
	}
	return l, nil
}

// Covers reports that the limit is about this benchmark and unit.
func (l Limit) Covers(c Change) bool {
	if l.tail != "" {
		if head, _, _ := strings.Cut(c.Unit, "-"); head != l.tail {
			return false
		}
	} else if c.Unit != l.unit {
		return false
	}
	return l.scope == nil || l.scope.MatchString(scopeName(c.Benchmark)) || l.scope.MatchString(bareName(c.Benchmark))
}

// Exceeded never fails on noise alone: the change has to be shown as well.
func (l Limit) Exceeded(c Change) bool {
	if !l.Covers(c) || !c.Shown() {
		return false
	}
	grown := c.Grown()
	if l.less {
		grown = -grown
	}
	if l.byPct {
		return grown > l.share*c.Old.Center
	}
	return grown > l.more
}

// bareName is a benchmark's name as it is written in a scope:
// "Queue/op=cycle/impl=ring".
func bareName(benchmark string) string {
	return rawtext.Bare(strings.TrimPrefix(benchmark, "Benchmark"))
}

// scopeName has the component in place of its Go name: "delta-fifo/op=…".
func scopeName(benchmark string) string {
	title, rest, _ := strings.Cut(bareName(benchmark), "/")
	var s strings.Builder
	for i, r := range title {
		if i > 0 && 'A' <= r && r <= 'Z' {
			s.WriteByte('-')
		}
		s.WriteString(strings.ToLower(string(r)))
	}
	return s.String() + "/" + rest
}

func (l Limit) String() string { return l.text }

// CheckLimits is the error of a limit that no benchmark is under, because a gate
// that can't fail is a mistake, and the warnings of limits that hardly can.
func CheckLimits(limits []Limit, changes []Change) ([]experiment.Warning, error) {
	return loose(limits, changes), unused(limits, changes)
}

func unused(limits []Limit, changes []Change) error {
	for _, l := range limits {
		if slices.ContainsFunc(changes, l.Covers) {
			continue
		}
		anywhere := l
		anywhere.scope = nil
		if l.scope == nil || !slices.ContainsFunc(changes, anywhere.Covers) {
			return fmt.Errorf("--fail-on: no benchmark measures %s, found %s", l.metric, strings.Join(unitsOf(changes), ", "))
		}
		return fmt.Errorf("--fail-on: %s: no benchmark in both results that measures %s is in this scope, expected one as in %s", l.text, l.metric, scopeExample(changes, anywhere))
	}
	return nil
}

// loose warns of limits in seconds that let every benchmark under them more than
// double, as time>5 does where time>5% was meant.
func loose(limits []Limit, changes []Change) []experiment.Warning {
	var warnings []experiment.Warning
	for _, l := range limits {
		longest := 0.
		for _, c := range changes {
			if l.Covers(c) && strings.Contains(c.Unit, "sec") {
				longest = max(longest, c.Old.Center)
			}
		}
		if !l.byPct && !l.less && longest > 0 && l.more > longest {
			warnings = append(warnings, experiment.Warning{Scope: "--fail-on", Text: fmt.Sprintf("%s is in seconds and lets every benchmark more than double, the longest takes %.2g s; a share has a %% sign, as in %[1]s%%", l.text, longest)})
		}
	}
	return warnings
}

func scopeExample(changes []Change, l Limit) string {
	var names []string
	for _, c := range changes {
		if component, _, _ := strings.Cut(scopeName(c.Benchmark), "/"); l.Covers(c) && !slices.Contains(names, component) {
			names = append(names, component)
		}
	}
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return strings.Join(names, ", ") + ", or " + scopeName(changes[0].Benchmark)
}

func unitsOf(changes []Change) []string {
	var units []string
	for _, c := range changes {
		units = append(units, c.Unit)
	}
	slices.Sort(units)
	return slices.Compact(units)
}
