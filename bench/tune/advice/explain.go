package advice

import (
	"fmt"
	"math"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// Explain puts the advice into words and tables: of the model, the settings and what was predicted
// for them, Impossible and Unmet, of which any may be missing.
func (a *Advice) Explain(kind defaults.Flavour) {
	a.Bottleneck = a.bottleneck()
	a.changes()
	if text := a.vague(); text != "" {
		a.Unidentified = append(a.Unidentified, text)
	}
	a.Unidentified = append(a.Unidentified, a.untouched()...)
	a.Unstable = a.unstable()
	a.Summary = a.summary()
	if a.Now != nil && (a.Then == nil || a.Then.Stable) {
		a.Paste = paste(*a, kind)
	}
}

// KeepCurrent is the advice to change nothing, of a queue whose workers hardly work.
func (a *Advice) KeepCurrent(kind defaults.Flavour) {
	a.Summary = fmt.Sprintf("Nothing to change: the workers are busy %s of the time, and 99%% of the keys wait less than %s.", percent(a.Model.Utilisation), durations.Seconds(floor))
	a.Bottleneck = "Nothing binds."
	a.changes()
	a.Paste = paste(*a, kind)
}

// unstable says by how much the current settings are overloaded, and what would
// carry the load; nothing if they do.
func (a *Advice) unstable() string {
	f := a.Now
	if f == nil || f.Stable && f.Load < 1 {
		return ""
	}
	text := fmt.Sprintf("the load is %.0f%% of what the current settings can carry (%s): waits grow ", 100*f.Load, f.Bottleneck)
	if f.Stable {
		text += "until the last event"
	} else {
		text += "without end"
	}
	if a.Then == nil || !a.Then.Stable {
		return text
	}
	s := a.Current.Settings
	switch f.Bottleneck {
	case "workers":
		return text + fmt.Sprintf("; stable from %d workers on", int(f.Load*float64(s.Workers))+1)
	case "client QPS":
		return text + fmt.Sprintf("; stable from a QPS of %s on", predict.Number(math.Floor(f.Load*s.QPS)+1))
	case "retry bucket":
		return text + fmt.Sprintf("; stable from a retry bucket of %s/s on", predict.Number(math.Floor(f.Load*s.BucketRate)+1))
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
	switch {
	case a.Now == nil:
		return "The search ended before anything was predicted."
	case a.Then == nil || a.Recommended == a.Current.Settings && len(a.Impossible) == 0 && a.Then.Stable:
		if a.Then == nil && a.Recommended != a.Current.Settings {
			return "Not confirmed, as the search ended early: " + a.change() + "."
		}
		if !a.Now.Stable {
			return "No stable settings were found before the search ended."
		}
		if len(a.Unmet)+len(a.Impossible) > 0 {
			return fmt.Sprintf("No better settings than %s were found in the time given, with which 99%% of the keys wait less than %s.", a.brief(a.Current.Settings), a.wait99(a.Now))
		}
		return "Nothing to change: " + a.contentment() + "."
	case !a.Then.Stable:
		return "No settings within the limits carry this load: " + strings.Join(a.Impossible, "; ") + "."
	}
	today := "without end today"
	if a.Now.Stable {
		today = durations.Seconds(a.Now.Wait.At(0.99)) + " today"
	}
	return fmt.Sprintf("%s: 99%% of the keys then wait less than %s (%s).", a.change(), a.wait99(a.Then), today)
}

// change says what to do: raise the workers from 5 to 9.
func (a *Advice) change() string {
	var parts []string
	for _, f := range predict.Fields {
		from, to := f.Text(a.Current.Settings), f.Text(a.Recommended)
		if from == to || (f.Name == "qps" || f.Name == "burst") && a.Model != nil && !a.Model.Calling() {
			continue
		}
		verb := "set"
		if f.Amount != nil {
			switch now, then := f.Amount(a.Current.Settings), f.Amount(a.Recommended); {
			case then > now:
				verb = "raise"
			case then < now:
				verb = "lower"
			}
		}
		parts = append(parts, fmt.Sprintf("%s the %s from %s to %s", verb, f.Title, from, to))
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		return "Keep " + a.brief(a.Current.Settings)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// contentment is why nothing is to change.
func (a *Advice) contentment() string {
	text := fmt.Sprintf("99%% of the keys wait less than %s, and the workers are busy %s of the time", a.wait99(a.Now), percent(a.Now.Utilisation.Mean))
	if a.Quiet {
		return text + ", so no wait is for want of them; an --objective says if it has to be less"
	}
	return text + ", and nothing else that was tried is better by a tenth at the same cost"
}

// percent prints a share with two digits.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*share) // 99.6% has three digits
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}

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

// noCalls is why nothing is said of the client's limit.
const noCalls = "the model holds no API calls of the reconciles"

// brief names settings by what matters most: the client's limit only where calls are
// known.
func (a *Advice) brief(s predict.Settings) string {
	if a.Model != nil && !a.Model.Calling() {
		s.QPS = 0
	}
	return s.Brief()
}

// bottleneck says what binds under the current settings.
func (a *Advice) bottleneck() string {
	m, f := a.Model, a.Now
	if m == nil || f == nil {
		return ""
	}
	s := a.Current.Settings
	waiting := 0.0
	if f.Stable && m.Busy > 0 && m.Calling() {
		waiting = 1 - m.Busy/f.Work.Mean.Mean
	}
	switch {
	case f.Bottleneck == "retry bucket" && f.Load > binding:
		return fmt.Sprintf("The retry bucket binds: %s failures a second against %s, so retries wait for tokens and not for their back-off.", predict.Number(m.AddRate*m.Failure), predict.Number(s.BucketRate))
	case f.Bottleneck == "client QPS" && f.Load >= 1 || waiting > heldUp:
		text := fmt.Sprintf("The client's limit binds: %s API calls a second against a QPS of %s", predict.Number(m.AddRate*m.Calls+m.Background), predict.Number(s.QPS))
		if waiting > 0 {
			text += fmt.Sprintf(", and workers spend %.0f%% of their time waiting for tokens", 100*waiting)
		}
		return text + "; more workers would only wait with them."
	case f.Load >= 1 && m.Offered > 0:
		return fmt.Sprintf("Workers bind: the load would keep %s of them busy, more than the %d of now.", predict.Number(m.Offered), s.Workers)
	case f.Utilisation.Mean > bindingWork || f.Stable && f.Wait.P99.Mean > 2*f.Work.Mean.Mean && m.Dispersion <= inBursts:
		who := fmt.Sprintf("%d of them are", s.Workers)
		if s.Workers == 1 {
			who = "the only one is"
		}
		return fmt.Sprintf("Workers bind: %s busy %s of the time.", who, percent(f.Utilisation.Mean))
	case m.Dispersion > inBursts && f.Wait.P99.Mean > m.Busy:
		return fmt.Sprintf("Bursts bind: keys arrive %s%s; on average the workers are busy only %s of the time.", m.Bursts, workOff(m, s), percent(f.Utilisation.Mean))
	}
	return fmt.Sprintf("Nothing binds: workers are busy %s of the time.", percent(f.Utilisation.Mean))
}

// workOff says what a burst does to the workers.
func workOff(m *predict.Model, s predict.Settings) string {
	if m.Posterior == nil {
		return ""
	}
	size := m.Likely().System.Arrivals.Size
	if size < 2 {
		return ""
	}
	who := fmt.Sprintf("%d workers need", s.Workers)
	if s.Workers == 1 {
		who = "one worker needs"
	}
	return fmt.Sprintf(", and %s %s to work one off", who, durations.Seconds(size*m.Busy/float64(s.Workers)))
}
