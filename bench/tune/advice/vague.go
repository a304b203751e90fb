package advice

import (
	"fmt"
	"math"
	"time"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// vague99 tells that the interval of the 99th percentile of the wait reaches further
// than telling, and by more than a tenth of what events take to be settled, beside
// which nobody notices it.
func vague99(f *predict.Figures) bool {
	x, least := f.Wait.P99, 0.1*f.Settle.P99.Mean
	return x.High > max(telling*x.Mean, x.Mean+least) || x.Low < min(x.Mean/telling, x.Mean-least)
}

// wait99 is the 99th percentile of the queue wait as text, with its interval if that is
// so wide that the figure alone would mislead.
func (a *Advice) wait99(f *predict.Figures) string {
	x := f.Wait.P99
	if x.Mean < 1e-9 { // nobody waits less than nothing
		return durations.Seconds(max(x.High, 1e-6))
	}
	if a.Model == nil || a.Model.Observations == 0 || !vague99(f) {
		return durations.Seconds(x.Mean)
	}
	return fmt.Sprintf("%s (%s to %s)", durations.Seconds(x.Mean), durations.Seconds(x.Low), durations.Seconds(x.High))
}

// vague says that the data carry the recommendation's prediction no further than its
// interval, and what to record instead; nothing where they do.
func (a *Advice) vague() string {
	m, f := a.Model, a.Then
	if f == nil {
		f = a.Now
	}
	if m == nil || m.Observations == 0 || f == nil || !f.Stable || !vague99(f) {
		return ""
	}
	x := f.Wait.P99
	text := fmt.Sprintf("where between %s and %s the 99th percentile of the queue wait under %s lies", durations.Seconds(x.Low), durations.Seconds(x.High), f.Settings.Brief())
	if x.High >= predict.Unbounded {
		return text + fmt.Sprintf(": these may carry less than the load, and %s reconciles can't tell; record a longer interval", predict.Number(m.Observations))
	}
	if bursts := m.Dispersion > inBursts; bursts && !series(m) {
		return text + ": arrivals of several forms explain what two scrapes hold, so record a series (--prometheus, or a URL over --interval) or a trace"
	}
	if every := finer(m); every > 0 {
		return text + fmt.Sprintf(": a burst comes and goes from one scrape to the next, so that long thin ones look like short dense ones; scrape every %v (--step)", every)
	}
	// Intervals get narrower as the square root of what is measured.
	longer := math.Pow(math.Log(x.High/max(x.Low, 1e-9))/2/math.Log(tellable), 2)
	if longer > 100 {
		return text + fmt.Sprintf(": %s reconciles are far too few to tell; record a much longer interval, or a trace", predict.Number(m.Observations))
	}
	return text + fmt.Sprintf(": %s reconciles leave rate, work and arrivals open; an interval of about %v would tell them", predict.Number(m.Observations), RoundUp(time.Duration(m.Interval*max(2, longer)*1e9)))
}

// series tells whether it was measured by one of scrapes.
func series(m *predict.Model) bool { return m.Measured != nil && len(m.Measured.Steps) >= minSteps }

// finer is how often to scrape so that a series shows the bursts that explain it; 0 where it does,
// or where there are none.
func finer(m *predict.Model) time.Duration {
	if !series(m) || m.Posterior == nil {
		return 0
	}
	s := m.Likely().System
	every := s.Arrivals.Period(s.Rate) / finely
	if s.Arrivals.Kind == model.Measured || every == 0 || m.Interval/float64(len(m.Measured.Steps)) <= max(every, 1) {
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
