package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// Describe puts the load that is most probable into words, which it leaves in the model (Bursts,
// Dispersion, and of few keys RawRate and Coalesced), and says how far it is open, and what is
// doubtful.
func Describe(m *predict.Model) (unidentified, doubts []string) {
	likely := m.Likely()
	s := &likely.System
	full, odd := overloaded(m), m.Posterior.Odd < unexplained
	m.Bursts, m.Dispersion = "at random (Poisson), which explains the waits", 1
	switch {
	case full:
		m.Bursts = "taken to be at random (Poisson): an overloaded queue's waits don't tell"
		unidentified = append(unidentified, "bursts: the queue was overloaded, so its waits tell of the overload")
	case odd:
		m.Bursts = "taken to be at random (Poisson), which doesn't explain the waits"
	}
	switch {
	case s.Keys > 0 && m.Measured.Keys == 0 || s.Popular != nil:
		doubts = append(doubts, describeKeys(m, s))
	case s.Arrivals.Kind != model.Random:
		m.Bursts, m.Dispersion = arrivals(s), s.Arrivals.Dispersion(s.Rate)
		if m.Dispersion > 1 {
			unidentified = append(unidentified, otherBursts(m))
		}
	}
	if odd && !full {
		doubts = append(doubts, fmt.Sprintf("no load that was tried explains all that was measured: one in %.0f measurements of the likeliest would be as far from what is expected", min(1000, math.Ceil(1/max(m.Posterior.Odd, 1e-3)))))
	}
	return unidentified, doubts
}

// overloaded tells that the workers had more to do than they can, unless there are so few keys
// that all of them waiting explains what was measured.
func overloaded(m *predict.Model) bool {
	return m.Measured.Overloaded && !(m.Bounded() && m.Posterior.Odd >= unexplained)
}

// arrivals says how keys arrive.
func arrivals(s *model.System) string {
	a := &s.Arrivals
	every := "every " + durations.Seconds(a.Period(s.Rate))
	if !a.Even {
		every += " on average"
	}
	switch {
	case a.Kind == model.Batches:
		return fmt.Sprintf("in bursts of %.3g at once %s, %.0f%% of all, and else at random", a.Size, every, 100*a.Share)
	case a.Kind == model.Phases && a.Depth < 1:
		return fmt.Sprintf("in turn at %.3g a second for %.0f%% of the time and else at %.3g", s.Rate*a.High(), 100*a.Duty, s.Rate*a.Low())
	case a.Kind == model.Phases:
		return fmt.Sprintf("in bursts of %s %s, with %.3g arrivals a second in them", durations.Seconds(a.Duty*a.Cycle), every, s.Rate*a.High())
	case a.Kind == model.Measured:
		batches := "arrivals at random in between"
		if a.Size >= 1.5 {
			batches = fmt.Sprintf("%.2g at once", a.Size)
		}
		return fmt.Sprintf("at rates that vary as measured, from %.3g to %.3g a second, with %s", s.Rate*slices.Min(a.Rates), s.Rate*slices.Max(a.Rates), batches)
	case a.CV > 1:
		return fmt.Sprintf("in bursts of a few, the gaps between arrivals with a coefficient of variation of %.2g", a.CV)
	case a.CV < 0.2:
		return "evenly spaced"
	}
	return fmt.Sprintf("more evenly spaced than at random (the gaps' coefficient of variation is %.2g)", a.CV)
}

// otherBursts says which others are as probable.
func otherBursts(m *predict.Model) string {
	list := m.Members(func(x infer.Member) bool { return x.System.Arrivals.Kind != model.Random })
	beyond := len(list) / 20
	text, last := arrivals(&list[beyond].System), arrivals(&list[len(list)-1-beyond].System)
	if last != text {
		text = fmt.Sprintf("anything from keys %s to keys %s", text, last)
	} else {
		text = "keys " + text
	}
	more := ""
	if every := finer(m); every > 0 {
		more = fmt.Sprintf("; scrapes every %v (--step) tell more", every)
	} else if !series(m) {
		more = "; a series of scrapes (--prometheus, or a URL over --interval) tells more"
	}
	return fmt.Sprintf("how long bursts are from how dense they are: %s explains what was measured, and the intervals hold what is predicted of all of that%s", text, more)
}

// describeKeys puts keys that change often into words, and says what is doubtful of them.
func describeKeys(m *predict.Model, s *model.System) (doubt string) {
	m.RawRate, m.Coalesced = s.Rate, max(0, 1-m.ArrivalRate/s.Rate)
	if s.Popular != nil {
		m.Bursts = "at random (Poisson) on keys of which some change more often than others, which wait while they are worked on"
		return fmt.Sprintf("%d keys that change as often as each other would not wait like this; it is explained best if some change more often than others, but not how often the others do", s.Keys)
	}
	keyed := m.Members(func(x infer.Member) bool { return x.System.Keys > 0 })
	byKeys := func(a, b infer.Member) int { return cmp.Compare(a.System.Keys, b.System.Keys) }
	m.Bursts = fmt.Sprintf("at random (Poisson) on few keys, about %d, which wait while they are worked on", s.Keys)
	return fmt.Sprintf("many keys would not wait like this; %d to %d that often change while they wait or are worked on explain it best; --keys says how many there are",
		slices.MinFunc(keyed, byKeys).System.Keys, slices.MaxFunc(keyed, byKeys).System.Keys)
}
