package advice

import (
	"fmt"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A description collects what is said of a load.
type description struct {
	*predict.Model
	unidentified, doubts []string
}

func (d *description) unknown(format string, args ...any) {
	d.unidentified = append(d.unidentified, fmt.Sprintf(format, args...))
}

func (d *description) doubt(format string, args ...any) {
	d.doubts = append(d.doubts, fmt.Sprintf(format, args...))
}

// Describe puts the load that is most probable into words, which it leaves in the model (Bursts,
// Dispersion, and of few keys RawRate and Coalesced), and says how far it is open, and what is
// doubtful.
func Describe(m *predict.Model) (unidentified, doubts []string) {
	d := &description{Model: m}
	d.Bursts, d.Dispersion = "at random (Poisson), which explains the waits", 1
	full := overloaded(m)
	if full {
		d.Bursts = "taken to be at random (Poisson): an overloaded queue's waits don't tell"
		d.unknown("bursts: the queue was overloaded, so its waits tell of the overload")
	}
	likely := d.Likely()
	s := &likely.System
	keys := s.Keys > 0 && d.Measured.Keys == 0 || s.Popular != nil
	switch {
	case keys:
		d.aboutKeys(s)
	case s.Arrivals.Kind != model.Random:
		d.Bursts, d.Dispersion = d.arrivals(s), s.Arrivals.Dispersion(s.Rate)
		if d.Dispersion > 1 {
			d.aboutBursts()
		}
	}
	if d.Posterior.Odd < unexplained && !full {
		if s.Arrivals.Kind == model.Random && !keys {
			d.Bursts = "taken to be at random (Poisson), which doesn't explain the waits"
		}
		d.doubt("no load that was tried explains all that was measured: one in %.0f measurements of the likeliest would be as far from what is expected", min(1000, math.Ceil(1/max(d.Posterior.Odd, 1e-3))))
	}
	return d.unidentified, d.doubts
}

// overloaded tells that the workers had more to do than they can, unless there are so few keys
// that all of them waiting explains what was measured.
func overloaded(m *predict.Model) bool {
	return m.Measured.Overloaded && !(m.Bounded() && m.Posterior.Odd >= unexplained)
}

// arrivals says how keys arrive.
func (d *description) arrivals(s *model.System) string {
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
func (d *description) aboutBursts() {
	list := d.Members(func(m infer.Member) bool { return m.System.Arrivals.Kind != model.Random })
	text := d.arrivals(&list[len(list)/20].System)
	if last := d.arrivals(&list[len(list)-1-len(list)/20].System); last != text {
		text = fmt.Sprintf("anything from keys %s to keys %s", text, last)
	} else {
		text = "keys " + text
	}
	more := ""
	if every := finer(d.Model); every > 0 {
		more = fmt.Sprintf("; scrapes every %v (--step) tell more", every)
	} else if !series(d.Model) {
		more = "; a series of scrapes (--prometheus, or a URL over --interval) tells more"
	}
	d.unknown("how long bursts are from how dense they are: %s explains what was measured, and the intervals hold what is predicted of all of that%s", text, more)
}

// aboutKeys puts keys that change often into words.
func (d *description) aboutKeys(s *model.System) {
	d.RawRate, d.Coalesced = s.Rate, max(0, 1-d.ArrivalRate/s.Rate)
	if s.Popular != nil {
		d.Bursts = "at random (Poisson) on keys of which some change more often than others, which wait while they are worked on"
		d.doubt("%d keys that change as often as each other would not wait like this; it is explained best if some change more often than others, but not how often the others do", s.Keys)
		return
	}
	low, high := s.Keys, s.Keys
	for _, m := range d.Posterior.Members {
		if m.System.Keys > 0 {
			low, high = min(low, m.System.Keys), max(high, m.System.Keys)
		}
	}
	d.Bursts = fmt.Sprintf("at random (Poisson) on few keys, about %d, which wait while they are worked on", s.Keys)
	d.doubt("many keys would not wait like this; %d to %d that often change while they wait or are worked on explain it best; --keys says how many there are", low, high)
}
