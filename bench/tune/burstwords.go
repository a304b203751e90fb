package tune

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// describeBursts puts the bursts that are believed in into words.
func (f *fit) describeBursts(was candidate, rate float64) {
	duty := func(c candidate) float64 { return c.arrivals.On.Mean() / cycleOf(c.arrivals).Seconds() }
	list := slices.DeleteFunc(slices.Concat(f.samples, f.rivals), func(c candidate) bool { return c.hot(was) })
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.flow.size, b.flow.size), cmp.Compare(a.flow.levels.share, b.flow.levels.share), cmp.Compare(a.flow.gap.cv, b.flow.gap.cv), cmp.Compare(duty(a), duty(b)))
	})
	text := func(c candidate) string {
		switch {
		case c.flow.size > 0:
			return fmt.Sprintf("%.3g at once every %s", c.flow.size, durations.Seconds(c.flow.period(rate)))
		case c.flow.levels.events > 0:
			return c.flow.levels.told(rate)
		case c.flow.rates != nil:
			return "the measured rates with " + c.flow.rates.batches()
		case c.flow.own():
			return fmt.Sprintf("gaps with a coefficient of variation of %.2g", c.flow.gap.cv)
		}
		return fmt.Sprintf("%s every %s", durations.Seconds(c.arrivals.On.Mean()), durations.Seconds(cycleOf(c.arrivals).Seconds()))
	}
	found := "only " + text(list[0]) + " was found to explain the waits, but others may; far from the current settings predictions"
	if last := text(list[len(list)-1]); last != text(list[0]) {
		found = "anything from " + text(list[0]) + " to " + last + " explains the waits, and predictions are the middle of these; far from the current settings they"
	}
	longer := ""
	if f.keptUp(list) && !f.series.known() {
		longer = "; the workers kept up with them, so that longer ones that are less dense explain the waits too, up to minutes or hours of more load, of which the intervals for fewer workers hold the longest"
	}
	f.unknown("how long bursts are from how dense they are: %s may be off by a factor of three%s; a series of scrapes (--prometheus, or a URL over --interval) tells", found, longer)
	middle := f.now()
	if x := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return c.form() != middle.form() }); len(x) > 0 {
		middle = x[len(x)/2]
	}
	f.Model.take(middle)
	switch y := middle.flow; {
	case y.size > 0:
		f.Dispersion = 1 + y.share*y.size
		when := "every " + durations.Seconds(y.period(rate))
		if y.loose {
			when += " on average"
		}
		f.Bursts = fmt.Sprintf("in bursts of %.3g at once %s, %.0f%% of all, and else at random", y.size, when, 100*y.share)
		if workers := f.current.Workers; y.loose && y.size > 10*float64(workers) {
			// No more than how long the keys of both wait is counted.
			f.doubt("somewhat more than %s can do, for %s or longer, makes as many keys wait as long as bursts of %.3g at once do, and then one or two workers more end it: try these before many more, or record a trace (--trace)", brief(Settings{Workers: workers}), durations.Seconds(y.size*f.Busy/float64(workers)), y.size)
		}
		return
	case y.levels.events > 0:
		f.Dispersion, f.Bursts = y.levels.dispersion(), "in turn at "+y.levels.told(rate)
		return
	case y.rates != nil:
		f.Dispersion, f.Bursts = f.series.longRun(), fmt.Sprintf("at rates that vary as measured, from %.3g to %.3g a second, with %s", rate*slices.Min(y.rates.rates), rate*slices.Max(y.rates.rates), y.rates.batches())
		return
	case y.own():
		f.Dispersion = y.gap.cv * y.gap.cv
		f.Bursts = fmt.Sprintf("in bursts of a few, the gaps between arrivals with a coefficient of variation of %.2g", y.gap.cv)
		return
	}
	cycle := cycleOf(middle.arrivals).Seconds()
	// Of the counts over long windows, for exponential phases.
	f.Dispersion = 1 + 2*rate*cycle*(1-duty(middle))*(1-duty(middle))
	if longer != "" {
		longer = ", or in longer ones that are less dense"
	}
	f.Bursts = fmt.Sprintf("in bursts of %s every %s on average, with %.3g arrivals a second in them%s", durations.Seconds(middle.arrivals.On.Mean()), durations.Seconds(cycle), middle.arrivals.Rate/duty(middle), longer)
}

// keptUp tells that the workers may have done all that came even in the bursts, about as
// soon as it came: then no wait tells how long these were.
func (f *fit) keptUp(list []candidate) bool {
	return slices.ContainsFunc(list, func(c candidate) bool {
		high := f.Busy * c.highest()
		return high > 0 && high < 1.1*float64(f.current.Workers)
	})
}
