package advice

import (
	"fmt"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// Certainty is how far the main prediction may be off, in one sentence.
func (a Advice) Certainty() string {
	f, when := a.Then, "With these settings"
	if f == nil || a.Recommended == a.Current.Settings {
		f, when = a.Now, "As it is"
	}
	if f == nil || !f.Stable {
		return ""
	}
	wait := f.Wait.P99
	text := fmt.Sprintf("%s that wait lies between %s and %s with 95%% confidence", when, durations.Seconds(wait.Low), durations.Seconds(wait.High))
	if wait.High >= predict.Unbounded {
		text = fmt.Sprintf("%s that wait is at least %s with 95%% confidence, and the data leave open how long it may get", when, durations.Seconds(wait.Low))
	}
	if a.Reproduction != nil {
		text += "; the model's fit is " + a.Reproduction.Verdict
	}
	return text + "."
}

// An Effect is a figure that is predicted for the current, the recommended and other
// settings that were asked for, as text with its interval.
type Effect struct {
	Figure, Now, Then, Meaning string
	WhatIf                     []string
	First                      bool // it is one of those that people look at first
}

// figures are what is predicted.
var figures = []struct {
	name, meaning string
	first         bool
	endless       bool // it grows without end if the settings are not stable
	of            func(*predict.Figures) predict.Interval
	print         func(float64) string
}{
	{"queue wait, p50", "from add to get", false, true, func(f *predict.Figures) predict.Interval { return f.Wait.P50 }, durations.Seconds},
	{"queue wait, p99", "", true, true, func(f *predict.Figures) predict.Interval { return f.Wait.P99 }, durations.Seconds},
	{"work, mean", "from get to done", false, false, func(f *predict.Figures) predict.Interval { return f.Work.Mean }, durations.Seconds},
	{"settled, p99", "from an event to the end of the first successful reconcile that saw it", true, true, func(f *predict.Figures) predict.Interval { return f.Settle.P99 }, durations.Seconds},
	{"queue depth, mean", "", false, true, func(f *predict.Figures) predict.Interval { return f.Depth }, predict.Number},
	{"workers busy", "", true, false, func(f *predict.Figures) predict.Interval { return f.Utilisation }, func(x float64) string { return percent(min(x, 1)) }},
	{"API calls", "a second", true, false, func(f *predict.Figures) predict.Interval { return f.CallRate }, predict.Number},
	{"queue's processor time", "share of a processor", false, false, func(f *predict.Figures) predict.Interval { return f.QueueCores }, percent},
}

// Effects lists what is predicted.
func Effects(a Advice) (rows []Effect) {
	for _, x := range figures {
		text := func(f *predict.Figures) string {
			switch {
			case f == nil || !f.Stable && !x.endless:
				return "not predicted"
			case !f.Stable:
				return "unbounded"
			case x.name == "API calls" && a.Model != nil && a.Model.Observations > 0 && !a.Model.Calling():
				return "not known" // which is not 0
			}
			i := x.of(f)
			mean, low, high := x.print(i.Mean), x.print(max(0, i.Low)), x.print(i.High)
			if low == high {
				return mean
			}
			if i.High >= predict.Unbounded {
				high = "unbounded"
			}
			return fmt.Sprintf("%s [%s, %s]", mean, low, high)
		}
		e := Effect{Figure: x.name, Now: text(a.Now), Then: text(a.Then), Meaning: x.meaning, First: x.first}
		for _, w := range a.WhatIf {
			e.WhatIf = append(e.WhatIf, text(w.Figures))
		}
		rows = append(rows, e)
	}
	return rows
}
