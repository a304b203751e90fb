package reports

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A telling orders the cases of each component from the one that a reader must
// not miss to the one that says least: failed samples, then the worst case of
// each variant, which the ranking links to, then the largest difference that is
// no noise, then the most warnings. Equals stay in the plan's order.
type telling struct {
	order [][]int        // per component, indexes into its cases
	place map[string]int // of a case, by its key: how far ahead it comes
}

func newTelling(run experiment.Run, stats verdict.Stats) telling {
	t := telling{make([][]int, len(stats.Components)), map[string]int{}}
	for _, c := range stats.Components {
		for _, x := range c.Cases {
			t.place[c.Component+"/"+x.Name] = 0
		}
	}
	failures, warnings := map[string]int{}, map[string]int{}
	for _, s := range run.Schedule {
		if s.Failure != "" {
			failures[s.Case]++
		}
	}
	for _, w := range stats.Warnings {
		warnings[t.caseOf(w.Scope)]++
	}
	for i, c := range stats.Components {
		worst := map[string]float64{}
		for _, r := range c.Ranking {
			if !r.Peer {
				worst[r.Variant] = r.Worst
			}
		}
		type weight struct{ failures, worst, size, warnings float64 }
		weights := make([]weight, len(c.Cases))
		for j, x := range c.Cases {
			key := c.Component + "/" + x.Name
			w := weight{failures: float64(failures[key]), warnings: float64(warnings[key])}
			for _, r := range x.Rows {
				if r.Control || r.Peer || r.Comparison == nil || !estimated(*r.Comparison) {
					continue
				}
				if least, ok := worst[r.Variant]; ok && r.Comparison.Ratio == least {
					w.worst = 1
					delete(worst, r.Variant) // one case is enough
				}
				if r.Comparison.Verdict == verdict.Faster || r.Comparison.Verdict == verdict.Slower {
					w.size = max(w.size, math.Abs(math.Log(r.Comparison.Ratio)))
				}
			}
			weights[j] = w
			t.order[i] = append(t.order[i], j)
		}
		slices.SortStableFunc(t.order[i], func(a, b int) int {
			x, y := weights[a], weights[b]
			return cmp.Or(cmp.Compare(y.failures, x.failures), cmp.Compare(y.worst, x.worst), cmp.Compare(y.size, x.size), cmp.Compare(y.warnings, x.warnings))
		})
		for place, j := range t.order[i] {
			t.place[c.Component+"/"+c.Cases[j].Name] = place
		}
	}
	return t
}

// caseOf is the key of the case that a warning's scope is or lies within, ""
// for one of the run.
func (t telling) caseOf(scope string) string {
	for {
		if _, ok := t.place[scope]; ok {
			return scope
		}
		i := strings.LastIndexByte(scope, '/')
		if i < 0 {
			return ""
		}
		scope = scope[:i]
	}
}

// first keeps at most n of a list, in its order: those of no case before those
// of the most telling cases.
func first[T any](t telling, list []T, n int, scope func(T) string) []T {
	if len(list) <= n {
		return list
	}
	places := make([]int, len(list))
	for i, x := range list {
		places[i] = -1
		if key := t.caseOf(scope(x)); key != "" {
			places[i] = t.place[key]
		}
	}
	chosen := make([]int, len(list))
	for i := range chosen {
		chosen[i] = i
	}
	slices.SortStableFunc(chosen, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	chosen = chosen[:n]
	slices.Sort(chosen)
	kept := make([]T, n)
	for i, j := range chosen {
		kept[i] = list[j]
	}
	return kept
}

// room deals out rows to the components case by case, the most telling of each
// first, and gives those that are shown in the plan's order.
func (t telling) room(stats verdict.Stats, rows int) (shown [][]int, hidden int) {
	shown = make([][]int, len(stats.Components))
	next := make([]int, len(stats.Components))
	for more := true; more; {
		more = false
		for i, c := range stats.Components {
			if next[i] == len(c.Cases) {
				continue
			}
			j := t.order[i][next[i]]
			if need := len(c.Cases[j].Rows); rows >= need {
				rows -= need
				shown[i] = append(shown[i], j)
				next[i]++
				more = true
			}
		}
	}
	for i, c := range stats.Components {
		hidden += len(c.Cases) - len(shown[i])
		slices.Sort(shown[i])
	}
	return shown, hidden
}
