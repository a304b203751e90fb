package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// loadLimit is the share of an arm's cost from which the load is warned of.
const loadLimit = 0.1

// A Load is what a case costs with a component that does nothing: keys, events,
// goroutines, calls and checks. It is part of every arm's figures and is not
// subtracted from them.
type Load struct {
	Samples int                `json:"samples"`
	Metrics map[string]Summary `json:"metrics"` // by tidied unit; beside the arms' units "generator-sec/event", which is spent before the measured part
	Share   float64            `json:"share"`   // of what the cheapest arm costs, in the case's unit
	Of      string             `json:"of"`      // that arm
}

// addLoad gives every row its share, from the rounds that have both. A quantile,
// such as of lateness, is no sum, so the load has no share of it.
func addLoad(plan experiment.Plan, cs *CaseStats, arms map[string]statistic.Series) {
	load := arms[bench.NullSink]
	if len(load) == 0 {
		return
	}
	cs.Load = &Load{Samples: len(load), Metrics: summaries(plan, load)}
	if !strings.HasSuffix(cs.Unit, "/op") {
		return
	}
	for i, r := range cs.Rows {
		logs := statistic.LogRatios(load, arms[r.Name], cs.Unit)
		if len(logs) == 0 {
			continue
		}
		share, _, _ := statistic.PairedRatio(logs, plan.Confidence)
		cs.Rows[i].LoadShare = share
		if !r.Control && share > cs.Load.Share {
			cs.Load.Share, cs.Load.Of = share, r.Name
		}
	}
}

// heavyLoad warns where the load is more than loadLimit of an arm's cost. What
// is added to both sides of a ratio brings it nearer to 1.
func heavyLoad(component string, c CaseStats) []experiment.Warning {
	var heavy []Row
	baseline := false
	for _, r := range c.Rows {
		if r.LoadShare > loadLimit && !r.Control {
			heavy = append(heavy, r)
			baseline = baseline || r.Name == c.Baseline
		}
	}
	if len(heavy) == 0 {
		return nil
	}
	slices.SortStableFunc(heavy, func(a, b Row) int { return cmp.Compare(b.LoadShare, a.LoadShare) })
	var shares []string
	for _, r := range heavy {
		shares = append(shares, fmt.Sprintf("%s of what %s costs", wording.Percent(r.LoadShare), r.Name))
	}
	var faster, slower []string
	for _, r := range c.Rows {
		switch x := r.Comparison; {
		case x == nil || r.Control || r.LoadShare <= loadLimit && !baseline:
		case x.Low > 1:
			faster = append(faster, r.Name)
		case x.High < 1:
			slower = append(slower, r.Name)
		}
	}
	var beyond []string
	if len(faster) > 0 {
		beyond = append(beyond, fmt.Sprintf("%s would be faster than %s by more than is shown", strings.Join(faster, ", "), c.Baseline))
	}
	if len(slower) > 0 {
		beyond = append(beyond, fmt.Sprintf("%s would be slower than %s by more than is shown", strings.Join(slower, ", "), c.Baseline))
	}
	text := fmt.Sprintf("the load itself is %s (limit %s), which brings ratios nearer to 1", strings.Join(shares, ", "), wording.Percent(loadLimit))
	if len(beyond) > 0 {
		text += ": without it " + strings.Join(beyond, ", ")
	}
	return []experiment.Warning{{Scope: component + "/" + c.Name, Text: text}}
}
