package advice

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// vague99 tells that the interval of the 99th percentile of the wait, of what was measured, reaches
// further than telling, and by more than a tenth of what events take to be settled, beside
// which nobody notices it.
func (a *Advice) vague99(f *predict.Figures) bool {
	x, least := f.Wait.P99, 0.1*f.Settle.P99.Mean
	return a.Model.Observations > 0 && (x.High > max(telling*x.Mean, x.Mean+least) || x.Low < min(x.Mean/telling, x.Mean-least))
}

// wait99 is the 99th percentile of the queue wait as text, with its interval if that is
// so wide that the figure alone would mislead.
func (a *Advice) wait99(f *predict.Figures) string {
	x := f.Wait.P99
	switch {
	case x.Mean < 1e-9: // nobody waits less than nothing
		return durations.Seconds(max(x.High, 1e-6))
	case a.vague99(f):
		return fmt.Sprintf("%s (%s to %s)", durations.Seconds(x.Mean), durations.Seconds(x.Low), durations.Seconds(x.High))
	}
	return durations.Seconds(x.Mean)
}

// vague says that the data carry the recommendation's prediction no further than its
// interval, and what to record instead; nothing where they do.
func (a *Advice) vague() string {
	m, f := a.Model, cmp.Or(a.Then, a.Now)
	if f == nil || !f.Stable || !a.vague99(f) {
		return ""
	}
	x, reconciles := f.Wait.P99, predict.Number(m.Observations)
	// Intervals get narrower as the square root of what is measured.
	longer := math.Pow(math.Log(x.High/max(x.Low, 1e-9))/2/math.Log(tellable), 2)
	every, why := finer(m), ""
	switch {
	case x.High >= predict.Unbounded:
		why = fmt.Sprintf("these may carry less than the load, and %s reconciles can't tell; record a longer interval", reconciles)
	case m.Dispersion > inBursts && !series(m):
		why = "arrivals of several forms explain what two scrapes hold, so record a series (--prometheus, or a URL over --interval) or a trace"
	case every > 0:
		why = fmt.Sprintf("a burst comes and goes from one scrape to the next, so that long thin ones look like short dense ones; scrape every %v (--step)", every)
	case longer > 100:
		why = fmt.Sprintf("%s reconciles are far too few to tell; record a much longer interval, or a trace", reconciles)
	default:
		why = fmt.Sprintf("%s reconciles leave rate, work and arrivals open; an interval of about %v would tell them", reconciles, RoundUp(time.Duration(m.Interval*max(2, longer)*1e9)))
	}
	return fmt.Sprintf("where between %s and %s the 99th percentile of the queue wait under %s lies: %s", durations.Seconds(x.Low), durations.Seconds(x.High), f.Settings.Brief(), why)
}

// series tells whether it was measured by one of scrapes.
func series(m *predict.Model) bool { return len(m.Measured.Steps) >= minSteps }

// finer is how often to scrape so that a series shows the bursts that explain it; 0 where it does,
// or where there are none.
func finer(m *predict.Model) time.Duration {
	if !series(m) || m.Posterior == nil {
		return 0
	}
	s := m.Likely().System
	every := s.Arrivals.Period(s.Rate) / finely
	if s.Arrivals.Kind == model.Measured || m.Interval/float64(len(m.Measured.Steps)) <= max(every, 1) {
		return 0
	}
	return RoundUp(time.Duration(every * 1e9))
}

// RoundUp rounds an interval up to what people say.
func RoundUp(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute} {
		if d < 60*unit {
			return (d + unit - 1) / unit * unit
		}
	}
	return d.Round(time.Hour)
}
