package experiment

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// progress is what the schedule knows of one case while it is sampled.
type progress struct {
	plan    PlannedCase
	rounds  int           // begun
	took    time.Duration // in all rounds
	dropped map[string]string
	width   float64 // of the widest ratio interval, as halfWidth
}

// over reports that nothing more can be learned: without the baseline or its
// control there is no comparison, and without other arms none is left.
func (p *progress) over() bool {
	for _, a := range p.plan.Arms {
		if _, dropped := p.dropped[a.Name]; dropped && (a.Control || a.Name == p.plan.Baseline) {
			return true
		}
	}
	return len(p.dropped) > 0 && len(p.dropped) == len(p.plan.Arms)-2
}

// perRound estimates the next round from the ones before.
func (p *progress) perRound() time.Duration {
	if p.rounds == 0 {
		return 0
	}
	return p.took / time.Duration(p.rounds)
}

// next picks the case that gets the next round: first all cases in turn until
// each has the rounds that an interval needs, then the one whose widest
// interval is widest. It answers why sampling ends if there is none.
func next(plan Plan, cases []*progress, left time.Duration) (*progress, string) {
	if left <= 0 {
		return nil, "budget"
	}
	late := deferred(plan, cases, left)
	var pick *progress
	reason := "precision"
	for _, c := range cases {
		switch {
		case c.over():
		case c.rounds >= plan.MaxRounds:
			if reason == "precision" && c.width > plan.Precision {
				reason = "rounds"
			}
		case c.rounds >= plan.MinRounds && c.width <= plan.Precision:
		case c.perRound() > left:
			reason = "budget"
		case pick == nil || before(plan, c, pick, late):
			pick = c
		}
	}
	return pick, reason
}

// before orders two cases that both want a round: those that lack rounds
// first, fewest rounds first, deferred ones last of them; then by width.
func before(plan Plan, a, b *progress, late map[*progress]bool) bool {
	class := func(c *progress) int {
		switch {
		case c.rounds < plan.MinRounds && !late[c]:
			return 0
		case c.rounds < plan.MinRounds:
			return 1
		}
		return 2
	}
	if x, y := class(a), class(b); x != y {
		return x < y
	}
	if class(a) < 2 {
		return a.rounds < b.rounds
	}
	return a.width > b.width
}

// deferred are the most expensive cases as long as the rounds that all cases
// need don't fit into what is left: a verdict on most cases is worth more than
// too few samples of all. Every case gets its first round nevertheless.
func deferred(plan Plan, cases []*progress, left time.Duration) map[*progress]bool {
	needs := func(c *progress) time.Duration {
		if c.over() {
			return 0
		}
		return c.perRound() * time.Duration(max(plan.MinRounds-c.rounds, 0))
	}
	var sum time.Duration
	for _, c := range cases {
		if c.rounds == 0 {
			return nil
		}
		sum += needs(c)
	}
	if sum <= left {
		return nil
	}
	late := map[*progress]bool{}
	expensive := slices.Clone(cases)
	slices.SortStableFunc(expensive, func(a, b *progress) int { return cmp.Compare(needs(b), needs(a)) })
	for _, c := range expensive {
		if sum <= left {
			break
		}
		late[c] = true
		sum -= needs(c)
	}
	return late
}

// shuffled is the order in which a round samples the arms of a case, fixed by
// the seed alone.
func shuffled(seed uint64, round int, c PlannedCase) []Arm {
	h := fnv.New64a()
	h.Write([]byte(c.Key()))
	arms := append([]Arm(nil), c.Arms...)
	r := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(round)))
	r.Shuffle(len(arms), func(i, j int) { arms[i], arms[j] = arms[j], arms[i] })
	return arms
}

// widest is the half width of the widest ratio interval of a case.
func widest(plan Plan, p *progress, samples []Measurement) float64 {
	byRound := groupByArm(samples, p.plan.Key())
	width := 0.0
	for _, a := range p.plan.Arms {
		if _, dropped := p.dropped[a.Name]; dropped || a.Name == p.plan.Baseline {
			continue
		}
		logs := logRatios(byRound[p.plan.Baseline], byRound[a.Name], p.plan.Unit)
		if len(logs) == 0 {
			continue // a value of 0 has no ratio and never will
		}
		_, low, high := pairedRatio(logs, plan.Confidence)
		width = math.Max(width, halfWidth(low, high))
	}
	return width
}

// groupByArm sorts a case's samples by arm and round.
func groupByArm(samples []Measurement, key string) map[string]map[int]Measurement {
	arms := map[string]map[int]Measurement{}
	for _, m := range samples {
		if m.Case != key {
			continue
		}
		if arms[m.Arm] == nil {
			arms[m.Arm] = map[int]Measurement{}
		}
		arms[m.Arm][m.Round] = m
	}
	return arms
}

// logRatios are the logs of baseline / arm of the rounds that have both.
func logRatios(baseline, arm map[int]Measurement, unit string) []float64 {
	var logs []float64
	for round, b := range baseline {
		a, ok := arm[round]
		x, y := b.Values[unit], a.Values[unit]
		if ok && x > 0 && y > 0 {
			logs = append(logs, math.Log(x/y))
		}
	}
	return logs
}
