package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// reproduction lays simulations of the posterior's members, under the settings under which it was
// measured, beside the measurement.
func (f *fit) reproduction(ctx context.Context, seed uint64) (*Reproduction, error) {
	c := f.measured.Controller
	arrivals := int(min(f.ArrivalRate*f.Interval, float64(finest.events)))
	list, err := f.found.Predict(ctx, c, surer.every, arrivals, 1, seed)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(x *model.Result) bool { return x == nil })
	r := &Reproduction{WaitMean: [2]float64{f.wait.Mean()}, WorkMean: [2]float64{f.work.Mean()}}
	buckets := func(h scrape.Histogram, of func(*model.Result) *model.Sketch) (all []Bucket, distance float64) {
		h = coarsened(h)
		below := make([][]float64, len(list))
		for k, x := range list {
			below[k] = append(of(x).Below(h.Bounds), 1)
		}
		for i, n := range h.Counts {
			b := Bucket{Measured: n / h.Count(), From: 1}
			if i > 0 {
				b.Low = h.Bounds[i-1]
			}
			if i < len(h.Bounds) {
				b.High = h.Bounds[i]
			}
			for _, shares := range below {
				share := shares[i]
				if i > 0 {
					share -= shares[i-1]
				}
				b.Model += share / float64(len(list))
				b.From, b.To = min(b.From, share), max(b.To, share)
			}
			distance += math.Abs(b.Measured-b.Model) / 2
			if b.Measured > 0 || b.To > 0 {
				all = append(all, b)
			}
		}
		return all, distance
	}
	var wait, work float64
	r.Wait, wait = buckets(f.wait, func(x *model.Result) *model.Sketch { return &x.Wait })
	r.Work, work = buckets(f.work, func(x *model.Result) *model.Sketch { return &x.Work })
	r.Distance = max(wait, work)
	for _, x := range list {
		r.WaitMean[1] += x.Wait.Mean() / float64(len(list))
		r.WorkMean[1] += x.Work.Mean() / float64(len(list))
	}
	r.Verdict = r.verdict(f.found.Odd >= unexplained, f.overloaded)
	if strings.HasPrefix(r.Verdict, "poor") {
		f.doubt("the model reproduces the measurement poorly: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	}
	return r, nil
}

// verdict puts it into words, so that it agrees with the tables.
func (r *Reproduction) verdict(explained, overloaded bool) string {
	differs := r.differs()
	switch {
	case overloaded:
		return "not comparable: the queue was overloaded while it was measured"
	case explained && differs == "":
		return "good: the measurement is one that the model could have given"
	case explained:
		return "fair: " + differs
	case r.Distance < fairShare:
		return fmt.Sprintf("fair: %.0f%% of the reconciles lie in another bucket", 100*r.Distance)
	}
	return fmt.Sprintf("poor: %.0f%% of the reconciles lie in another bucket, so take the advice as a direction", 100*r.Distance)
}

// differs says what anybody sees in the tables that the model doesn't repeat, whatever
// the score: nothing where it does, or where what differs is small beside the work.
func (r *Reproduction) differs() string {
	least := 0.1 * r.WorkMean[0]
	if x, y := r.WaitMean[1]+least, r.WaitMean[0]+least; max(x/y, y/x) > unlikeMean {
		return fmt.Sprintf("the mean wait is %s, and %s as measured", durations.Seconds(r.WaitMean[1]), durations.Seconds(r.WaitMean[0]))
	}
	outside := 0
	for _, b := range r.Wait {
		// Some of what is measured lies outside of the simulations by chance.
		if by := max(b.From-b.Measured, b.Measured-b.To); by > max(0.005, (b.To-b.From)/2) {
			outside++
		}
	}
	if outside > 1 {
		return fmt.Sprintf("of the %d buckets of waits, %d lie outside of what was simulated", len(r.Wait), outside)
	}
	return ""
}

// explain puts the advice into words and tables.
func (a *Advice) explain(kind flavour) {
	a.Bottleneck = a.bottleneck()
	a.changes()
	if text := a.vague(); text != "" {
		a.Unidentified = append(a.Unidentified, text)
	}
	a.Unidentified = append(a.Unidentified, a.untouched()...)
	a.Unstable = a.unstable()
	a.Summary = a.summary()
	if a.Then == nil || a.Then.Stable {
		a.Paste = paste(*a, kind)
	}
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
		return text + fmt.Sprintf("; stable from a QPS of %s on", number(math.Floor(f.Load*s.QPS)+1))
	case "retry bucket":
		return text + fmt.Sprintf("; stable from a retry bucket of %s/s on", number(math.Floor(f.Load*s.BucketRate)+1))
	}
	return text + "; stable with a cheaper queue"
}

func (a *Advice) summary() string {
	text := a.recommendation()
	if len(a.Impossible) > 0 && (a.Then == nil || a.Then.Stable) {
		text += " Out of reach: " + join(a.Impossible) + "."
	}
	if len(a.Unmet) > 0 {
		text += " Not reached: " + join(a.Unmet) + "."
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
		return "No settings within the limits carry this load: " + join(a.Impossible) + "."
	}
	today := "without end today"
	if a.Now.Stable {
		today = durations.Seconds(a.Now.Wait.at(0.99)) + " today"
	}
	return fmt.Sprintf("%s: 99%% of the keys then wait less than %s (%s).", a.change(), a.wait99(a.Then), today)
}

// change says what to do: raise the workers from 5 to 9.
func (a *Advice) change() string {
	var parts []string
	for _, f := range fields {
		from, to := f.text(a.Current.Settings), f.text(a.Recommended)
		if from == to || (f.name == "qps" || f.name == "burst") && a.Model != nil && !a.Model.calling() {
			continue
		}
		verb := "set"
		if f.amount != nil {
			switch now, then := f.amount(a.Current.Settings), f.amount(a.Recommended); {
			case then > now:
				verb = "raise"
			case then < now:
				verb = "lower"
			}
		}
		parts = append(parts, fmt.Sprintf("%s the %s from %s to %s", verb, f.title, from, to))
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

// quiet reports whether there is no reason to look for other settings: nobody asked for
// anything, and workers and client are far from full.
func (m *Model) quiet(now Figures, o Options) bool {
	return len(o.Objectives) == 0 && m.Observations > 0 && now.Stable && now.Load < quietLoad &&
		now.Wait.P99.Mean < feltWait && m.Calls*m.Throttle < heldUp*m.Work
}

// noCalls is why nothing is said of the client's limit.
const noCalls = "the model holds no API calls of the reconciles"

// brief names settings by what matters most: the client's limit only where calls are
// known.
func (a *Advice) brief(s Settings) string {
	if a.Model != nil && !a.Model.calling() {
		s.QPS = 0
	}
	return brief(s)
}

// bottleneck says what binds under the current settings.
func (a *Advice) bottleneck() string {
	m, f := a.Model, a.Now
	if m == nil || f == nil {
		return ""
	}
	s := a.Current.Settings
	waiting := 0.0
	if f.Stable && m.Busy > 0 {
		waiting = 1 - m.Busy/f.Work.Mean.Mean
	}
	switch {
	case f.Bottleneck == "retry bucket" && f.Load > binding:
		return fmt.Sprintf("The retry bucket binds: %s failures a second against %s, so retries wait for tokens and not for their back-off.", number(m.AddRate*m.Failure), number(s.BucketRate))
	case f.Bottleneck == "client QPS" && f.Load >= 1 || waiting > heldUp:
		text := fmt.Sprintf("The client's limit binds: %s API calls a second against a QPS of %s", number(m.AddRate*m.Calls+m.Background), number(s.QPS))
		if waiting > 0 {
			text += fmt.Sprintf(", and workers spend %.0f%% of their time waiting for tokens", 100*waiting)
		}
		return text + "; more workers would only wait with them."
	case f.Bottleneck == "queue" && f.Load > binding:
		return fmt.Sprintf("The queue binds: %s adds a second occupy %s for %.0f%% of the time.", number(m.AddRate), s.Queue, 100*f.Load)
	case f.Load >= 1 && m.Offered > 0:
		return fmt.Sprintf("Workers bind: the load would keep %s of them busy, more than the %d of now.", number(m.Offered), s.Workers)
	case f.Utilisation.Mean > bindingWork || f.Stable && f.Wait.P99.Mean > 2*f.Work.Mean.Mean && m.Dispersion <= inBursts:
		who := fmt.Sprintf("%d of them are", s.Workers)
		if s.Workers == 1 {
			who = "the only one is"
		}
		return fmt.Sprintf("Workers bind: %s busy %s of the time.", who, percent(f.Utilisation.Mean))
	case m.Dispersion > inBursts && f.Wait.P99.Mean > m.Busy:
		return fmt.Sprintf("Bursts bind: keys arrive %s%s; on average the workers are busy only %s of the time.", m.Bursts, m.workOff(s), percent(f.Utilisation.Mean))
	}
	return fmt.Sprintf("Nothing binds: workers are busy %s of the time.", percent(f.Utilisation.Mean))
}

// workOff says what a burst does to the workers.
func (m *Model) workOff(s Settings) string {
	size := m.size
	if size < 2 {
		return ""
	}
	who := fmt.Sprintf("%d workers need", s.Workers)
	if s.Workers == 1 {
		who = "one worker needs"
	}
	return fmt.Sprintf(", and %s %s to work one off", who, durations.Seconds(size*m.Busy/float64(s.Workers)))
}

// changes lists every setting with what becomes of it.
func (a *Advice) changes() {
	a.Changes = nil
	for _, f := range fields {
		c := SettingAdvice{Setting: f.name, Title: f.title, Current: f.text(a.Current.Settings), Told: a.Current.Told[f.name], Recommended: f.text(a.Recommended)}
		c.Changed = c.Current != c.Recommended
		c.Why = a.why(f.name, c.Changed)
		a.Changes = append(a.Changes, c)
	}
}

func (a *Advice) why(setting string, changed bool) string {
	m := a.Model
	if m == nil || a.Now == nil {
		return ""
	}
	switch setting {
	case "workers":
		if a.Then != nil && a.Then.Stable {
			return fmt.Sprintf("the load keeps %s busy; then they are busy %s of the time", number(a.Then.Utilisation.Mean*float64(a.Recommended.Workers)), percent(a.Then.Utilisation.Mean))
		}
	case "qps":
		if m.calling() {
			return fmt.Sprintf("%s calls a second are made", number(m.AddRate*m.Calls+m.Background))
		}
		return noCalls
	case "baseDelay", "maxDelay", "bucketRate", "bucketBurst":
		if !m.fails() {
			return "no retries, so it has no effect"
		}
		if a.Recommended.BucketRate == 0 && strings.HasPrefix(setting, "bucket") {
			return "retries wait for the back-off of their key alone"
		}
		if !changed {
			return "no other value settles a tenth sooner"
		}
		return fmt.Sprintf("%s retries a second", number(m.AddRate*m.Failure))
	case "batch":
		return "not a setting of client-go's informers, which take 1,000 deltas at a time; of ours, fifo.Config's Batch"
	case "queue":
		return a.aboutQueue(changed)
	case "resync", "priority", "split":
		if text := m.untold(setting); text != "" {
			return text
		}
		if setting == "resync" && changed {
			return fmt.Sprintf("objects come again less often; what the watch missed is then repaired within %v", a.Recommended.Resync)
		}
	}
	if !changed && setting != "burst" {
		return "no other value settles a tenth sooner"
	}
	return ""
}

// untold says why the model tells nothing about a setting; nothing if it does.
func (m *Model) untold(setting string) string {
	switch {
	case m.Observations > 0:
		return "the metrics don't tell lists, resyncs and resources apart"
	case setting == "resync" && m.Spec.Reconcile.Resync == 0:
		return "there are no resyncs"
	case setting == "priority" && !m.lists():
		return "nothing comes by lists or resyncs, which priorities are for"
	case setting == "split" && !m.several:
		return "there is one resource"
	}
	return ""
}

// untouched are the settings that the data say nothing about.
func (a *Advice) untouched() []string {
	if a.Model == nil || a.Model.Observations == 0 {
		return nil
	}
	return []string{"resync period, informer batch, priorities and a split by resource: no counter tells which adds come by lists and resyncs, or of which resource; benchrun tune --trace does"}
}
