package advice

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// Explain puts the advice into words and tables: of the model, the settings and what was predicted
// for them, Impossible and Unmet, of which all but the model and the settings may be missing.
func (a *Advice) Explain(kind defaults.Flavour) {
	a.Summary, a.Bottleneck, a.Unstable = a.summary(), a.bottleneck(), a.unstable()
	a.changes()
	if text := a.vague(); text != "" {
		a.Unidentified = append(a.Unidentified, text)
	}
	if a.Model.Observations > 0 {
		a.Unidentified = append(a.Unidentified, "resync period, informer batch, priorities and a split by resource: no counter tells which adds come by lists and resyncs, or of which resource; benchrun tune --trace does")
	}
	if a.Now != nil && (a.Then == nil || a.Then.Stable) {
		a.paste(kind)
	}
}

// KeepCurrent is the advice to change nothing, of a queue whose workers hardly work.
func (a *Advice) KeepCurrent(kind defaults.Flavour) {
	a.Summary = fmt.Sprintf("Nothing to change: the workers are busy %s of the time, and 99%% of the keys wait less than %s.", percent(a.Model.Utilisation), durations.Seconds(floor))
	a.Bottleneck = "Nothing binds."
	a.changes()
	a.paste(kind)
}

// unstable says by how much the current settings are overloaded, and what would
// carry the load; nothing if they do.
func (a *Advice) unstable() string {
	f, s := a.Now, a.Current.Settings
	if f == nil || f.Stable && f.Load < 1 {
		return ""
	}
	end := "without end"
	if f.Stable {
		end = "until the last event"
	}
	text := fmt.Sprintf("the load is %.0f%% of what the current settings can carry (%s): waits grow %s", 100*f.Load, f.Bottleneck, end)
	if a.Then == nil || !a.Then.Stable {
		return text
	}
	enough := func(limit float64) string { return predict.Number(math.Floor(f.Load*limit) + 1) }
	switch f.Bottleneck {
	case "workers":
		text += fmt.Sprintf("; stable from %s workers on", enough(float64(s.Workers)))
	case "client QPS":
		text += fmt.Sprintf("; stable from a QPS of %s on", enough(s.QPS))
	case "retry bucket":
		text += fmt.Sprintf("; stable from a retry bucket of %s/s on", enough(s.BucketRate))
	}
	return text
}

func (a *Advice) summary() string {
	text := a.recommendation()
	if len(a.Impossible) > 0 && (a.Then == nil || a.Then.Stable) {
		text += " Out of reach: " + strings.Join(a.Impossible, "; ") + "."
	}
	if len(a.Unmet) > 0 {
		text += " Not reached: " + strings.Join(a.Unmet, "; ") + "."
	}
	return text
}

func (a *Advice) recommendation() string {
	same := a.Recommended == a.Current.Settings
	switch {
	case a.Now == nil:
		return "The search ended before anything was predicted."
	case a.Then == nil && !same:
		return "Not confirmed, as the search ended early: " + a.change() + "."
	case a.Then != nil && !a.Then.Stable:
		return "No settings within the limits carry this load: " + strings.Join(a.Impossible, "; ") + "."
	case a.Then != nil && (!same || len(a.Impossible) > 0):
		today := "without end today"
		if a.Now.Stable {
			today = durations.Seconds(a.Now.Wait.P99.Mean) + " today"
		}
		return fmt.Sprintf("%s: 99%% of the keys then wait less than %s (%s).", a.change(), a.wait99(a.Then), today)
	case !a.Now.Stable:
		return "No stable settings were found before the search ended."
	case len(a.Unmet)+len(a.Impossible) > 0:
		return fmt.Sprintf("No better settings than %s were found in the time given, with which 99%% of the keys wait less than %s.", a.brief(), a.wait99(a.Now))
	}
	why := "and nothing else that was tried is better by a tenth at the same cost"
	if a.Quiet {
		why = "so no wait is for want of them; an --objective says if it has to be less"
	}
	return fmt.Sprintf("Nothing to change: 99%% of the keys wait less than %s, and the workers are busy %s of the time, %s.", a.wait99(a.Now), percent(a.Now.Utilisation.Mean), why)
}

// change says what to do: raise the workers from 5 to 9.
func (a *Advice) change() string {
	var parts []string
	for _, f := range predict.Fields {
		from, to := f.Text(a.Current.Settings), f.Text(a.Recommended)
		if from == to || (f.Name == "qps" || f.Name == "burst") && !a.Model.Calling() {
			continue
		}
		verb := []string{"lower", "set", "raise"}[1+cmp.Compare(f.Amount(a.Recommended), f.Amount(a.Current.Settings))]
		parts = append(parts, fmt.Sprintf("%s the %s from %s to %s", verb, f.Title, from, to))
	}
	if len(parts) == 0 {
		return "Keep " + a.brief()
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// brief names the current settings by what matters most: the client's limit only where calls are
// known.
func (a *Advice) brief() string {
	s := a.Current.Settings
	if !a.Model.Calling() {
		s.QPS = 0
	}
	return s.Brief()
}

// percent prints a share with two digits.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*share) // 99.6% has three digits
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}

// noCalls is why nothing is said of the client's limit.
const noCalls = "the model holds no API calls of the reconciles"

// ObjectiveDoubts says which objectives the model tells too little of.
func ObjectiveDoubts(m *predict.Model, objectives []search.Objective) (doubts []string) {
	for _, x := range objectives {
		if x.Figure == "api qps" && !m.Calling() {
			doubts = append(doubts, fmt.Sprintf("whether %q is kept can't be told: %s", x.Text, noCalls))
		} else if x.Figure == "wait" && x.Bound < floor {
			doubts = append(doubts, fmt.Sprintf("whether %q is kept can't be told: waits below %s are the Go scheduler's and the timers', which are not simulated", x.Text, durations.Seconds(floor)))
		}
	}
	return doubts
}

// bottleneck says what binds under the current settings.
func (a *Advice) bottleneck() string {
	m, f, s := a.Model, a.Now, a.Current.Settings
	if f == nil {
		return ""
	}
	waiting := 0.0
	if f.Stable && m.Busy > 0 && m.Calling() {
		waiting = 1 - m.Busy/f.Work.Mean.Mean
	}
	busy := percent(f.Utilisation.Mean)
	switch {
	case f.Bottleneck == "retry bucket" && f.Load > binding:
		return fmt.Sprintf("The retry bucket binds: %s failures a second against %s, so retries wait for tokens and not for their back-off.", predict.Number(m.AddRate*m.Failure), predict.Number(s.BucketRate))
	case f.Bottleneck == "client QPS" && f.Load >= 1 || waiting > heldUp:
		text := fmt.Sprintf("The client's limit binds: %s API calls a second against a QPS of %s", predict.Number(m.AllCalls()), predict.Number(s.QPS))
		if waiting > 0 {
			text += fmt.Sprintf(", and workers spend %.0f%% of their time waiting for tokens", 100*waiting)
		}
		return text + "; more workers would only wait with them."
	case f.Load >= 1 && m.Offered > 0:
		return fmt.Sprintf("Workers bind: the load would keep %s of them busy, more than the %d of now.", predict.Number(m.Offered), s.Workers)
	case f.Utilisation.Mean > bindingWork || f.Stable && f.Wait.P99.Mean > 2*f.Work.Mean.Mean && m.Dispersion <= inBursts:
		return fmt.Sprintf("Workers bind: %s busy %s of the time.", workers(s, "the only one is", "of them are"), busy)
	case m.Dispersion > inBursts && f.Wait.P99.Mean > m.Busy:
		return fmt.Sprintf("Bursts bind: keys arrive %s%s; on average the workers are busy only %s of the time.", m.Bursts, workOff(m, s), busy)
	}
	return fmt.Sprintf("Nothing binds: workers are busy %s of the time.", busy)
}

// workOff says what a burst does to the workers.
func workOff(m *predict.Model, s predict.Settings) string {
	if m.Posterior == nil || m.Likely().System.Arrivals.Size < 2 {
		return ""
	}
	size := m.Likely().System.Arrivals.Size
	return fmt.Sprintf(", and %s %s to work one off", workers(s, "one worker needs", "workers need"), durations.Seconds(size*m.Busy/float64(s.Workers)))
}

// workers are those of the settings as the subject of a sentence.
func workers(s predict.Settings, one, more string) string {
	if s.Workers == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", s.Workers, more)
}
