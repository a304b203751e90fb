package reports

import (
	"math"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"golang.org/x/perf/benchunit"
)

// none stands where a number is missing.
const none = wording.None

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// interval formats the confidence interval of a ratio.
func interval(c verdict.Comparison) string {
	if !finite(c.Low) || !finite(c.High) || c.Low <= 0 {
		return none
	}
	return strings.TrimSuffix(wording.Times(c.Low), "×") + " to " + wording.Times(c.High)
}

// A column formats all values of one unit in a table to one scale, so that
// they compare at a glance.
type column struct {
	unit   string
	scaler benchunit.Scaler
}

func newColumn(unit string, values []float64) column {
	class := benchunit.ClassOf(unit)
	kept := values[:0:0]
	for _, v := range values {
		if finite(v) {
			kept = append(kept, v)
		}
	}
	scaler := benchunit.CommonScale(kept, class)
	if scaler.Factor == 1 && whole(kept) {
		scaler.Prec = 0
	}
	return column{unit, scaler}
}

func whole(values []float64) bool {
	for _, v := range values {
		if v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// title is the column's header: what is measured, and the unit of its figures.
func (c column) title() string {
	base, per, found := strings.Cut(c.unit, "/")
	if found {
		per = "/" + per
	}
	prefix := c.scaler.Prefix
	switch base {
	case "sec", "cpu-sec":
		return quantity(base) + ", " + prefix + "s" + per
	case "B":
		return prefix + "B" + per
	case "live-B":
		return "live " + prefix + "B" + per
	}
	if quantity, ok := strings.CutSuffix(base, "-sec"); ok {
		return quantity + ", " + prefix + "s" + per
	}
	if quantity, ok := strings.CutSuffix(base, "-B"); ok {
		return quantity + ", " + prefix + "B" + per
	}
	if prefix != "" {
		return c.unit + ", " + prefix
	}
	return c.unit
}

// quantity says in words which time a unit is of.
func quantity(unit string) string {
	base, _, _ := strings.Cut(unit, "/")
	switch base {
	case "sec":
		return "time"
	case "cpu-sec":
		return "CPU time"
	}
	return strings.TrimSuffix(base, "-sec")
}

// value formats v without its unit, which the header states.
func (c column) value(v float64) string {
	if !finite(v) {
		return none
	}
	scaler := c.scaler
	scaler.Prefix = ""
	return scaler.Format(v)
}

// spread is the half width of the interval of s as benchstat prints it.
func spread(s verdict.Summary) string {
	if !finite(s.Low) || !finite(s.High) || !finite(s.Center) || s.Center == 0 {
		return ""
	}
	wide := max(s.High-s.Center, s.Center-s.Low) / math.Abs(s.Center)
	if !finite(wide) || wide < 0.0005 {
		return ""
	}
	return "±" + wording.Percent(wide)
}
