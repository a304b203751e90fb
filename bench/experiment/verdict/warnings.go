package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
)

// doubts finds what should make a reader careful about a case: arms without or
// with few samples, two modes, a drift over the run.
func doubts(c experiment.PlannedCase, arms map[string]statistic.Series) []experiment.Warning {
	var warnings []experiment.Warning
	warn := func(format string, args ...any) {
		warnings = append(warnings, experiment.Warn(c.Key(), format, args...))
	}
	var missing, few, bimodal, drifting, zero []string
	for _, a := range c.Arms {
		values := statistic.Values(arms[a.Name], c.Unit)
		switch {
		case len(values) == 0:
			missing = append(missing, a.Name)
		case slices.Min(values) <= 0:
			zero = append(zero, a.Name)
		case len(values) < statistic.MinSamples:
			few = append(few, fmt.Sprintf("%s (%d)", a.Name, len(values)))
		default:
			if twoModes(values) {
				bimodal = append(bimodal, a.Name)
			}
			if drifts(values) {
				drifting = append(drifting, a.Name)
			}
		}
	}
	if len(missing) > 0 {
		warn("no samples of %s", strings.Join(missing, ", "))
	}
	if len(zero) > 0 {
		warn("%s is 0 in samples of %s: such rounds have no ratio", c.Unit, strings.Join(zero, ", "))
	}
	if len(few) > 0 {
		warn("too few samples of %s: at least %d are needed for an interval", strings.Join(few, ", "), statistic.MinSamples)
	}
	if len(bimodal) > 0 {
		warn("two modes in %s of %s: the median may lie between them; read the samples", c.Unit, strings.Join(bimodal, ", "))
	}
	// One arm in many drifts by chance; a machine that slows down drifts them all.
	if len(drifting)*2 > len(c.Arms) {
		warn("%s drifted over the run: ratios hold, because the arms took turns, absolute figures don't", c.Unit)
	}
	return warnings
}

// twoModes reports that the values fall into two groups of at least a fifth
// each, further apart than five times the spread within them and than 10%.
// Normal samples do so less than once in a hundred times (see the test).
func twoModes(values []float64) bool {
	n := len(values)
	if n < 10 {
		return false
	}
	logs := make([]float64, n)
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	slices.Sort(logs)
	var low, high group
	for _, x := range logs {
		high.add(x, 1)
	}
	for cut := 1; cut <= n-n/5; cut++ {
		low.add(logs[cut-1], 1)
		high.add(logs[cut-1], -1)
		if cut < n/5 {
			continue
		}
		within := math.Sqrt((low.squares + high.squares) / float64(n-2))
		if apart := high.mean - low.mean; apart > 0.1 && apart > 5*within && logs[cut]-logs[cut-1] > within {
			return true
		}
	}
	return false
}

// A group is how many values there are, their mean and the sum of their squared
// deviations, by Welford's recurrence: a long run has tens of thousands of values,
// and as many ways to part them.
type group struct{ n, mean, squares float64 }

// add adds a value, or with a sign of -1 takes one away.
func (g *group) add(x, sign float64) {
	before := x - g.mean
	g.n += sign
	if g.n == 0 {
		*g = group{}
		return
	}
	g.mean += sign * before / g.n
	g.squares = max(0, g.squares+sign*before*(x-g.mean))
}

// drifts reports that the run's halves differ, and by more than 5%.
func drifts(values []float64) bool {
	half := len(values) / 2
	first, second := values[:half], values[half:]
	a, b := Summarise(first, 0.95).Center, Summarise(second, 0.95).Center
	return math.Abs(math.Log(a/b)) > math.Log(1.05) && statistic.UTest(first, second) < statistic.Alpha
}
