package advice

import (
	"fmt"
	"slices"

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
	wait, most := f.Wait.P99, "without end"
	if wait.High < predict.Unbounded {
		most = durations.Seconds(wait.High)
	}
	text := fmt.Sprintf("%s that wait lies between %s and %s with 95%% confidence", when, durations.Seconds(wait.Low), most)
	if wait.High >= predict.Unbounded {
		text = fmt.Sprintf("%s that wait is at least %s with 95%% confidence, and the data leave open how long it may get", when, durations.Seconds(wait.Low))
	}
	if a.Reproduction != nil {
		return text + "; the model's fit is " + a.Reproduction.Verdict + "."
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

// Effects lists what is predicted.
func Effects(a Advice) []Effect {
	text := func(f *predict.Figures, grows bool, of func(predict.Figures) predict.Interval, print func(float64) string) string {
		switch {
		case f == nil || !f.Stable && !grows:
			return "not predicted"
		case !f.Stable:
			return "unbounded"
		}
		i := of(*f)
		if print(i.Low) == print(i.High) {
			return print(i.Mean)
		}
		high := "unbounded"
		if i.High < predict.Unbounded {
			high = print(i.High)
		}
		return fmt.Sprintf("%s [%s, %s]", print(i.Mean), print(max(0, i.Low)), high)
	}
	share := func(x float64) string { return percent(min(x, 1)) }
	var rows []Effect
	for _, r := range []struct {
		figure, meaning string
		grows           bool // without end if the settings are not stable
		of              func(predict.Figures) predict.Interval
		print           func(float64) string
	}{
		{"queue wait, p50", "from add to get", true, func(f predict.Figures) predict.Interval { return f.Wait.P50 }, durations.Seconds},
		{"queue wait, p99", "", true, func(f predict.Figures) predict.Interval { return f.Wait.P99 }, durations.Seconds},
		{"work, mean", "from get to done", false, func(f predict.Figures) predict.Interval { return f.Work.Mean }, durations.Seconds},
		{"settled, p99", "from an event to the end of the first successful reconcile that saw it", true, func(f predict.Figures) predict.Interval { return f.Settle.P99 }, durations.Seconds},
		{"queue depth, mean", "", true, func(f predict.Figures) predict.Interval { return f.Depth }, predict.Number},
		{"workers busy", "", false, func(f predict.Figures) predict.Interval { return f.Utilisation }, share},
		{"API calls", "a second", false, func(f predict.Figures) predict.Interval { return f.CallRate }, predict.Number},
		{"queue's processor time", "share of a processor", false, func(f predict.Figures) predict.Interval { return f.QueueCores }, percent},
	} {
		if r.figure == "API calls" && a.Model != nil && a.Model.Observations > 0 && !a.Model.Calling() {
			r.print = func(float64) string { return "not known" } // which is not 0
		}
		e := Effect{Figure: r.figure, Now: text(a.Now, r.grows, r.of, r.print), Then: text(a.Then, r.grows, r.of, r.print), Meaning: r.meaning, First: slices.Contains([]string{"queue wait, p99", "settled, p99", "workers busy", "API calls"}, r.figure)}
		for _, w := range a.WhatIf {
			e.WhatIf = append(e.WhatIf, text(w.Figures, r.grows, r.of, r.print))
		}
		rows = append(rows, e)
	}
	return rows
}
