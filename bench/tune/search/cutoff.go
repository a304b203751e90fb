package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// CutOff says which objectives nothing keeps that was found until the search ended early. If
// settings were tried that keep all of them, durations among them, the cheapest of
// these are recommended. Once the search had found out what is possible, there is
// nothing to add to its own recommendation. Of the current settings now is what was
// predicted; nil: nothing.
func (s *Search) CutOff(recommended predict.Settings, now *predict.Figures) (x predict.Settings, unmet []string) {
	if len(s.threshold)+len(s.impossible) > 0 {
		return recommended, nil
	}
	if now != nil {
		s.Refined(*now)
	}
	objectives, tried := s.config.Objectives, s.stable()
	slices.SortStableFunc(tried, func(x, y predict.Figures) int { return cmp.Compare(s.excess(x), s.excess(y)) })
	if len(tried) > 0 && keep(objectives, tried[0]) {
		if slices.ContainsFunc(objectives, Objective.ofTime) || !keep(objectives, predict.Figures{Settings: recommended}) {
			recommended = tried[0].Settings
		}
		return recommended, nil
	}
	for _, o := range objectives {
		switch {
		case len(tried) > 0 && !o.met(tried[0]):
			unmet = append(unmet, fmt.Sprintf("%s: not reached in the time given; the nearest found is %s, with %s", o.Text, o.text(o.of(tried[0])), tried[0].Settings.Brief()))
		case len(tried) == 0 && !(o.Figure == "workers" && o.met(predict.Figures{Settings: recommended})):
			unmet = append(unmet, o.Text+": not reached in the time given; nothing that carries the load was found yet")
		}
	}
	return recommended, unmet
}

// stable are the predictions so far, the cheapest and then the fastest first.
func (s *Search) stable() []predict.Figures {
	list := slices.DeleteFunc(slices.Clone(s.tried), func(f predict.Figures) bool { return !f.Stable })
	slices.SortStableFunc(list, func(x, y predict.Figures) int {
		return cmp.Or(cmp.Compare(x.Cost, y.Cost), cmp.Compare(x.Settle.P99.Mean, y.Settle.P99.Mean),
			cmp.Compare(x.Settings.Workers, y.Settings.Workers), cmp.Compare(x.Settings.Burst, y.Settings.Burst))
	})
	return list
}

// keep tells whether a prediction keeps every objective.
func keep(objectives []Objective, f predict.Figures) bool {
	return !slices.ContainsFunc(objectives, func(o Objective) bool { return !o.met(f) })
}
