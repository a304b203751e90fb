// Package verdict says what the samples of an experiment show: medians, intervals,
// warnings, verdicts and the decision.
package verdict

import (
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// Analyse derives everything that a report shows from the plan and its samples.
func Analyse(run experiment.Run, samples []experiment.Measurement) Stats {
	stats := Stats{Schema: experiment.SchemaVersion, Warnings: slices.Clone(run.Warnings)}
	var family []*Comparison // what Holm corrects over: every claim of the report
	failed := map[string]bool{}
	for _, s := range run.Schedule {
		if s.Failure != "" && !s.Forgiven {
			failed[s.Case+"/"+s.Arm] = true
		}
	}
	byComponent := map[string]int{}
	byCase := statistic.ByCase(samples)
	for _, c := range run.Plan.Cases {
		if c.LeftOut != "" {
			stats.Warnings = append(stats.Warnings, experiment.Warn(c.Key(), "left out: %s", c.LeftOut))
			continue
		}
		i, ok := byComponent[c.Component]
		if !ok {
			i = len(stats.Components)
			byComponent[c.Component] = i
			stats.Components = append(stats.Components, ComponentStats{Component: c.Component})
		}
		arms := statistic.ByArm(samples, byCase[c.Key()])
		for _, a := range c.Arms {
			if failed[c.Key()+"/"+a.Name] {
				delete(arms, a.Name)
			}
		}
		cs, claims := analyseCase(run.Plan, c, arms)
		family = append(family, claims...)
		stats.Warnings = append(stats.Warnings, doubts(c, arms)...)
		stats.Components[i].Cases = append(stats.Components[i].Cases, cs)
	}
	adjust(family)
	poolNoise(stats.Components)
	needed := statistic.RoundsToTell(len(family))
	for i := range stats.Components {
		component := &stats.Components[i]
		for _, c := range component.Cases {
			for _, r := range c.Rows {
				if r.Comparison != nil {
					r.Comparison.Verdict = verdict(r, c.NoiseFloor, needed)
				}
			}
			stats.Warnings = append(stats.Warnings, belowFloor(component.Component, c)...)
			stats.Warnings = append(stats.Warnings, heavyLoad(component.Component, c)...)
		}
		component.Ranking = rank(component.Cases)
		component.Decision = decide(*component)
		if summary, ok := summaryOf(run, stats.Components[i:i+1]); ok {
			component.Decision = summary
		}
	}
	stats.Warnings = append(stats.Warnings, beyondReach(stats, needed, len(family))...)
	stats.Decision = overall(stats.Components)
	if summary, ok := summaryOf(run, stats.Components); ok {
		stats.Decision = summary
	}
	return stats
}

// summaryOf is the decision of a run whose arms are no variants.
func summaryOf(run experiment.Run, components []ComponentStats) (string, bool) {
	switch run.Plan.Profile {
	case experiment.Releases:
		return upgrades(run.Plan.Cases, components), true
	case experiment.Swap:
		return programs(components), true
	case experiment.Ablation:
		return techniques(components), true
	}
	return "", false
}

// analyseCase fills in everything but the adjusted p-values and the verdicts,
// and returns the comparisons that are claims: all but the control's.
func analyseCase(plan experiment.Plan, c experiment.PlannedCase, arms map[string]statistic.Series) (CaseStats, []*Comparison) {
	cs := CaseStats{Name: c.Name, Summary: c.Summary, Unit: c.Unit, Headline: c.Headline, Baseline: c.Baseline}
	var claims []*Comparison
	controlled := true // without a noise floor nothing can be claimed
	baseline := arms[c.Baseline]
	for _, a := range c.Arms {
		row := Row{Arm: a, Samples: len(arms[a.Name]), Metrics: summaries(plan, arms[a.Name])}
		if a.Name != c.Baseline {
			row.Comparison = against(plan, c.Unit, baseline, arms[a.Name])
		}
		switch x := row.Comparison; {
		case x == nil:
		case a.Control && x.Verdict == NoResult:
			controlled = false
		case !a.Control && x.Verdict != NoResult:
			claims = append(claims, x)
		}
		cs.Rows = append(cs.Rows, row)
	}
	addLoad(plan, &cs, arms)
	if !controlled {
		for _, x := range claims {
			x.Verdict = NoResult
		}
		return cs, nil
	}
	return cs, claims
}

// against is NoResult where either side has no samples or no positive value,
// which a ratio needs.
func against(plan experiment.Plan, unit string, baseline, arm statistic.Series) *Comparison {
	logs := statistic.LogRatios(baseline, arm, unit)
	if len(logs) == 0 {
		return &Comparison{Ratio: 1, High: math.Inf(1), P: 1, PPaired: 1, PAdjusted: 1, Verdict: NoResult}
	}
	x := &Comparison{PAdjusted: 1}
	x.Ratio, x.Low, x.High = statistic.PairedRatio(logs, plan.Confidence)
	x.P = statistic.UTest(statistic.Values(baseline, unit), statistic.Values(arm, unit))
	x.PPaired = statistic.SignedRank(logs)
	return x
}

// Summarise gives the median and interval that benchstat prints.
func Summarise(values []float64, confidence float64) Summary {
	center, low, high := statistic.Median(values, confidence)
	return Summary{Center: center, Low: low, High: high, Values: values}
}

func summaries(plan experiment.Plan, arm statistic.Series) map[string]Summary {
	units := map[string]bool{}
	for _, m := range arm {
		for unit := range m.All() {
			units[unit] = true
		}
	}
	metrics := make(map[string]Summary, len(units))
	for unit := range units {
		metrics[unit] = Summarise(statistic.Values(arm, unit), plan.Confidence)
	}
	return metrics
}

// adjust fills in the adjusted p-values. Either test may show a difference:
// the U-test within few rounds, the paired one through a drift. Looking twice
// costs a factor of two.
func adjust(claims []*Comparison) {
	ps := make([]float64, len(claims))
	for i, x := range claims {
		ps[i] = min(1, 2*min(x.P, x.PPaired))
	}
	for i, p := range statistic.Holm(ps) {
		claims[i].PAdjusted = p
	}
}

// verdict needs both: an interval of paired ratios that stays clear of 1 by
// more than the noise floor, and a test that survives Holm's correction, which
// with less than the needed samples it can't.
func verdict(r Row, noiseFloor float64, needed int) Verdict {
	x := r.Comparison
	switch {
	case x.Verdict == NoResult:
		return NoResult
	case r.Samples < statistic.MinSamples || math.IsInf(x.High, 1): // or too few rounds with a sample of both
		return TooFew
	case r.Control:
		return Same
	case x.PAdjusted >= statistic.Alpha && r.Samples < needed:
		return TooFew
	case x.PAdjusted >= statistic.Alpha:
		return Same
	case x.Low > 1+noiseFloor:
		return Faster
	case x.High < 1/(1+noiseFloor):
		return Slower
	}
	return Same
}

// belowFloor names what would have been a verdict on a quieter machine.
func belowFloor(component string, c CaseStats) []experiment.Warning {
	var warnings []experiment.Warning
	for _, r := range c.Rows {
		x := r.Comparison
		if x != nil && x.Verdict == Same && x.PAdjusted < statistic.Alpha && (x.Low > 1 || x.High < 1) {
			warnings = append(warnings, experiment.Warn(component+"/"+c.Name+"/"+r.Name, "differs from %s by %s, less than this run's noise allows to claim (floor %s): more rounds or a quieter machine would tell",
				c.Baseline, wording.Percent(x.Ratio-1), wording.Percent(c.NoiseFloor)))
		}
	}
	return warnings
}

// beyondReach says how many samples a verdict takes, if some comparisons have an
// interval but too few samples to be told from chance among so many.
func beyondReach(stats Stats, needed, comparisons int) []experiment.Warning {
	few := 0
	for _, component := range stats.Components {
		for _, c := range component.Cases {
			for _, r := range c.Rows {
				if x := r.Comparison; x != nil && x.Verdict == TooFew && r.Samples >= statistic.MinSamples {
					few++
				}
			}
		}
	}
	if few == 0 {
		return nil
	}
	return []experiment.Warning{experiment.Warn("run", "%s can't have a verdict, however large the difference: among %s that takes %d samples of each variant",
		wording.Count(few, "comparison"), wording.Count(comparisons, "comparison"), needed)}
}

// Ratio compares samples that were taken round by round in another quantity than the
// case's own; those whose rounds have no partner at the end are left out.
func Ratio(baseline, arm []float64, confidence float64) Comparison {
	var logs []float64
	for i := range min(len(baseline), len(arm)) {
		if baseline[i] > 0 && arm[i] > 0 {
			logs = append(logs, math.Log(baseline[i]/arm[i]))
		}
	}
	if len(logs) == 0 {
		return Comparison{}
	}
	var x Comparison
	x.Ratio, x.Low, x.High = statistic.PairedRatio(logs, confidence)
	return x
}
