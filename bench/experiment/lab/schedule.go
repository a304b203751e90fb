package lab

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/internal/statistic"
)

// progress is what the schedule knows of one case while it is sampled.
type progress struct {
	plan    experiment.PlannedCase
	rank    int           // headline, …
	rounds  int           // begun
	took    time.Duration // in all rounds
	dropped map[string]string
	stalls  map[string]int // samples of an arm that were forgiven
	samples []experiment.Measurement
	width   float64 // of the widest ratio interval, as statistic.HalfWidth has it
}

// Ranks of cases where not all can be decided: each component is to have one.
const (
	headline = iota
	firstOfComponent
	further
)

// rankOf is the rank of a case of the plan.
func rankOf(plan experiment.Plan, i int) int {
	c := plan.Cases[i]
	switch first := slices.IndexFunc(plan.Cases, func(o experiment.PlannedCase) bool { return o.Component == c.Component }); {
	case c.Headline != "":
		return headline
	case first == i:
		return firstOfComponent
	}
	return further
}

// over reports that nothing more can be learned: without the baseline or its
// control there is no comparison, and without other arms none is left.
func (p *progress) over() bool {
	others := 0
	for _, a := range p.plan.Arms {
		if _, dropped := p.dropped[a.Name]; !dropped {
			continue
		}
		if a.Control || a.Name == p.plan.Baseline {
			return true
		}
		others++
	}
	return others > 0 && others == len(p.plan.Arms)-2
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
func next(plan experiment.Plan, cases []*progress, left time.Duration) (*progress, string) {
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
		case c.perRound() > left || late[c] && plan.Profile == Quick && c.needs(plan) > left:
			reason = "budget" // a quick run does not show half of the rounds
		case pick == nil || before(plan, c, pick, late):
			pick = c
		}
	}
	return pick, reason
}

// before orders two cases that both want a round: those that lack rounds
// first, fewest rounds and first ranks first, deferred ones last of them; then by width.
// A quick run that can't have all rounds takes those of one case after the other, by
// rank and then what needs least first, so that its budget decides what it can and
// does not end with a few rounds of everything.
func before(plan experiment.Plan, a, b *progress, late map[*progress]bool) bool {
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
		if plan.Profile == Quick && len(late) > 0 && a.rounds > 0 && b.rounds > 0 {
			if a.rank != b.rank {
				return a.rank < b.rank
			}
			return a.needs(plan) < b.needs(plan)
		}
		if a.rounds == b.rounds {
			return a.rank < b.rank
		}
		return a.rounds < b.rounds
	}
	return a.width > b.width
}

// needs is what the rounds will take that the case lacks.
func (p *progress) needs(plan experiment.Plan) time.Duration {
	if p.over() {
		return 0
	}
	return p.perRound() * time.Duration(max(plan.MinRounds-p.rounds, 0))
}

// needed sums what all cases need; false while one has not been timed.
func needed(plan experiment.Plan, cases []*progress) (sum time.Duration, known bool) {
	for _, c := range cases {
		if c.rounds == 0 {
			return 0, false
		}
		sum += c.needs(plan)
	}
	return sum, true
}

// deferred are the most expensive cases of the last rank, then of the rank before it, as
// long as the rounds that all cases need don't fit into what is left: a verdict on most
// cases is worth more than too few samples of all. Every case gets its first round
// nevertheless.
func deferred(plan experiment.Plan, cases []*progress, left time.Duration) map[*progress]bool {
	sum, known := needed(plan, cases)
	if !known || sum <= left {
		return nil
	}
	late := map[*progress]bool{}
	expensive := slices.Clone(cases)
	slices.SortStableFunc(expensive, func(a, b *progress) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.needs(plan), a.needs(plan)))
	})
	for _, c := range expensive {
		if sum <= left {
			break
		}
		late[c] = true
		sum -= c.needs(plan)
	}
	return late
}

// shortest is how long a sample of a quick run takes at least.
const shortest = 10 * time.Millisecond

// fitted is the time of a sample, once all cases were timed, so that the rounds that
// are needed fit into what is left; the plan's if they do.
func fitted(plan experiment.Plan, cases []*progress, left time.Duration) time.Duration {
	sum, known := needed(plan, cases)
	if !known || sum <= left {
		return plan.SampleTime
	}
	share := float64(max(left, 0)) / float64(sum)
	return min(plan.SampleTime, max(shortest, time.Duration(share*float64(plan.SampleTime))))
}

// leaveOut marks the cases that a quick run could not decide within its budget,
// unless there are no others.
func leaveOut(plan *experiment.Plan, cases []*progress) {
	lacking := func(c *progress) bool { return !c.over() && c.rounds < plan.MinRounds }
	if !slices.ContainsFunc(cases, func(c *progress) bool { return !lacking(c) }) {
		return
	}
	for i, c := range cases {
		if lacking(c) {
			plan.Cases[i].LeftOut = fmt.Sprintf("%d of the %d rounds that a verdict takes fitted into the budget of %s; the others take %s more",
				c.rounds, plan.MinRounds, plan.Budget, c.needs(*plan).Round(time.Second))
		}
	}
}

// samplesLoad reports that the coming round samples the load too: the first does,
// later ones while all loads together keep to their part of the budget.
func (p *progress) samplesLoad(budget, took time.Duration) bool {
	return p.rounds < p.plan.LoadRounds && (p.rounds == 0 || took < time.Duration(loadShare*float64(budget)))
}

// withLoad puts the load at a place in the order that the seed picks.
func withLoad(seed uint64, round int, order []experiment.Arm) []experiment.Arm {
	r := rand.New(rand.NewPCG(seed, uint64(round)))
	return slices.Insert(order, r.IntN(len(order)+1), experiment.Arm{Name: bench.NullSink, Variant: bench.NullSink})
}

// shuffled is the order in which a round samples the arms of a case, fixed by
// the seed alone.
func shuffled(seed uint64, round int, c experiment.PlannedCase) []experiment.Arm {
	h := fnv.New64a()
	h.Write([]byte(c.Key()))
	arms := slices.Clone(c.Arms)
	r := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(round)))
	r.Shuffle(len(arms), func(i, j int) { arms[i], arms[j] = arms[j], arms[i] })
	return arms
}

// widest is the half width of the widest ratio interval of a case.
func widest(plan experiment.Plan, p *progress) float64 {
	byRound := statistic.ByArm(p.samples, statistic.ByCase(p.samples)[p.plan.Key()])
	width := 0.0
	for _, a := range p.plan.Arms {
		if _, dropped := p.dropped[a.Name]; dropped || a.Name == p.plan.Baseline {
			continue
		}
		logs := statistic.LogRatios(byRound[p.plan.Baseline], byRound[a.Name], p.plan.Unit)
		if len(logs) == 0 {
			continue // a value of 0 has no ratio and never will
		}
		_, low, high := statistic.PairedRatio(logs, plan.Confidence)
		width = math.Max(width, statistic.HalfWidth(low, high))
	}
	return width
}
