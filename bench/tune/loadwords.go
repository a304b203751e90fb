package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// describe puts the load that is most probable into words, and how far it is open.
func (f *fit) describe() {
	f.Bursts, f.Dispersion = "at random (Poisson), which explains the waits", 1
	if f.overloaded {
		f.Bursts = "taken to be at random (Poisson): an overloaded queue's waits don't tell"
		f.unknown("bursts: the queue was overloaded, so its waits tell of the overload")
	}
	likely := f.middle()
	s := &likely.System
	switch keys := s.Keys > 0 && f.measured.Keys == 0; {
	case keys || s.Popular != nil:
		f.aboutKeys(s)
	case s.Arrivals.Kind != model.Random:
		f.Bursts, f.Dispersion, f.size = f.arrivals(s), s.Arrivals.Dispersion(s.Rate), s.Arrivals.Size
		if f.Dispersion > 1 {
			f.aboutBursts()
		}
	}
	if f.found.Odd < unexplained && !f.overloaded {
		f.doubt("no load that was tried explains all that was measured: one in %.0f measurements of the likeliest would be as far from what is expected", min(1000, math.Ceil(1/max(f.found.Odd, 1e-3))))
	}
}

// middle is the middle one of the most probable family's members.
func (f *fit) middle() infer.Member {
	name := ""
	for x, p := range f.found.Families {
		if p > f.found.Families[name] || p == f.found.Families[name] && x < name {
			name = x
		}
	}
	list := slices.DeleteFunc(slices.Clone(f.found.Members), func(m infer.Member) bool { return m.Family != name })
	slices.SortFunc(list, byGrain)
	return list[len(list)/2]
}

// byGrain sorts the members of a family by what they differ in.
func byGrain(a, b infer.Member) int {
	x, y := a.System.Arrivals, b.System.Arrivals
	return cmp.Or(cmp.Compare(a.System.Keys, b.System.Keys), cmp.Compare(x.Size, y.Size), cmp.Compare(x.Duty, y.Duty), cmp.Compare(x.CV, y.CV))
}

// arrivals says how keys arrive.
func (f *fit) arrivals(s *model.System) string {
	a := &s.Arrivals
	switch a.Kind {
	case model.Batches:
		when := "every " + durations.Seconds(a.Period(s.Rate))
		if !a.Even {
			when += " on average"
		}
		return fmt.Sprintf("in bursts of %.3g at once %s, %.0f%% of all, and else at random", a.Size, when, 100*a.Share)
	case model.Phases:
		if a.Depth < 1 {
			return fmt.Sprintf("in turn at %.3g a second for %.0f%% of the time and else at %.3g", s.Rate*a.High(), 100*a.Duty, s.Rate*a.Low())
		}
		when := "every " + durations.Seconds(a.Cycle)
		if a.Lengths != model.Regular {
			when += " on average"
		}
		return fmt.Sprintf("in bursts of %s %s, with %.3g arrivals a second in them", durations.Seconds(a.Duty*a.Cycle), when, s.Rate*a.High())
	case model.Measured:
		batches := "arrivals at random in between"
		if a.Size >= 1.5 {
			batches = fmt.Sprintf("%.2g at once", a.Size)
		}
		return fmt.Sprintf("at rates that vary as measured, from %.3g to %.3g a second, with %s", s.Rate*slices.Min(a.Rates), s.Rate*slices.Max(a.Rates), batches)
	}
	switch {
	case a.CV > 1:
		return fmt.Sprintf("in bursts of a few, the gaps between arrivals with a coefficient of variation of %.2g", a.CV)
	case a.CV < 0.2:
		return "evenly spaced"
	}
	return fmt.Sprintf("more evenly spaced than at random (the gaps' coefficient of variation is %.2g)", a.CV)
}

// aboutBursts says which others are as probable.
func (f *fit) aboutBursts() {
	list := slices.DeleteFunc(slices.Clone(f.found.Members), func(m infer.Member) bool { return m.System.Arrivals.Kind == model.Random })
	slices.SortFunc(list, func(a, b infer.Member) int { return cmp.Or(cmp.Compare(a.Family, b.Family), byGrain(a, b)) })
	text := f.arrivals(&list[len(list)/20].System)
	if last := f.arrivals(&list[len(list)-1-len(list)/20].System); last != text {
		text = fmt.Sprintf("anything from keys %s to keys %s", text, last)
	} else {
		text = "keys " + text
	}
	more := ""
	if !f.series {
		more = "; a series of scrapes (--prometheus, or a URL over --interval) tells more"
	}
	f.unknown("how long bursts are from how dense they are: %s explains what was measured, and the intervals hold what is predicted of all of that%s", text, more)
}

// aboutKeys puts keys that change often into words.
func (f *fit) aboutKeys(s *model.System) {
	f.RawRate, f.Coalesced = s.Rate, max(0, 1-f.ArrivalRate/s.Rate)
	if s.Popular != nil {
		f.Bursts = "at random (Poisson) on keys of which some change more often than others, which wait while they are worked on"
		f.doubt("%d keys that change as often as each other would not wait like this; it is explained best if some change more often than others, but not how often the others do", s.Keys)
		return
	}
	low, high := s.Keys, s.Keys
	for _, m := range f.found.Members {
		if m.System.Keys > 0 {
			low, high = min(low, m.System.Keys), max(high, m.System.Keys)
		}
	}
	f.guessed = true
	f.Bursts = fmt.Sprintf("at random (Poisson) on few keys, about %d, which wait while they are worked on", s.Keys)
	f.doubt("many keys would not wait like this; %d to %d that often change while they wait or are worked on explain it best; --keys says how many there are", low, high)
}
