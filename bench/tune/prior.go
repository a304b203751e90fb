package tune

import (
	"cmp"
	"math"
	"slices"
)

// priors are how probable families are before anything is measured. Without them
// a family's probability would go with how finely it is tried, and one with
// shapes for every histogram would stand beside the exponential distribution
// where buckets tell little: that is beside the calls' latencies and their waits
// for a client's limit, so only there they count.
var priors = map[string]float64{
	"exponential": 0.25, "constant": 0.1, "gamma": 0.15, "lognormal": 0.25,
	"pareto": 0.05, "hyperexponential": 0.05, "pair": 0.1, "humps": 0.05,
}

// A likely shape comes with the logarithm of its likelihood.
type likely struct {
	shape
	callers callers // whose calls leave it so
	log     float64
	kind    string  // of the priors
	at      float64 // logarithm of what is left open in its family
	penalty float64 // which log holds, for a second figure that is
	prior   float64 // logarithm of the probability of the part of the family that it stands for
}

// weighted gives every member of a family its part of the family's prior: of the
// range from low to high what is nearer to it than to others.
func weighted(list []likely, kind string, low, high float64) []likely {
	slices.SortFunc(list, func(a, b likely) int { return cmp.Compare(a.at, b.at) })
	list = slices.CompactFunc(list, func(a, b likely) bool { return a.at == b.at })
	for i := range list {
		from, to := low, high
		if i > 0 {
			from = (list[i-1].at + list[i].at) / 2
		}
		if i < len(list)-1 {
			to = (list[i].at + list[i+1].at) / 2
		}
		part := 1.0
		if high > low {
			part = max(1e-9, (to-from)/(high-low))
		}
		list[i].kind, list[i].prior = kind, math.Log(priors[kind]*part)
	}
	return list
}

// divided are the most shapes that can be tried, for those that each stands for:
// families get one after the other, and within one they are of parts that are
// equally probable. Their logarithms become those of the parts' probabilities; if
// trials are to compare the same durations once more, without the likelihood.
func divided(shapes []likely, most int, again bool) []likely {
	families := map[string][]likely{}
	var kinds []string
	for _, s := range shapes {
		if families[s.kind] == nil {
			kinds = append(kinds, s.kind)
		}
		families[s.kind] = append(families[s.kind], s)
	}
	seats := map[string]int{}
	for taken := 0; taken < min(most, len(shapes)); {
		for _, k := range kinds {
			if taken < most && seats[k] < len(families[k]) {
				seats[k]++
				taken++
			}
		}
	}
	var list []likely
	for _, k := range kinds {
		list = append(list, parts(families[k], seats[k], again)...)
	}
	return list
}

// parts are n members of a family.
func parts(family []likely, n int, again bool) []likely {
	slices.SortFunc(family, func(a, b likely) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cv, b.cv)) })
	top := slices.MaxFunc(family, func(a, b likely) int { return cmp.Compare(a.log, b.log) }).log
	mass := func(s likely) float64 { return math.Exp(s.prior + s.log - top) }
	all := 0.0
	for _, s := range family {
		all += mass(s)
	}
	var list []likely
	below, next := 0.0, 0
	for _, s := range family {
		below += mass(s)
		taken := 0
		for ; next < n && (float64(next)+0.5)/float64(n)*all <= below; next++ {
			taken++
		}
		if taken == 0 {
			continue
		}
		part := math.Log(float64(taken)/float64(n)*all) + top
		if again {
			part -= s.log + s.penalty
		}
		s.log = part
		list = append(list, s)
	}
	return list
}
