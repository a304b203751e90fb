package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
)

// changes lists every setting with what becomes of it.
func (a *Advice) changes() {
	a.Changes = nil
	for _, f := range predict.Fields {
		c := SettingAdvice{Setting: f.Name, Title: f.Title, Current: f.Text(a.Current.Settings), Told: a.Current.Told[f.Name], Recommended: f.Text(a.Recommended)}
		c.Changed = c.Current != c.Recommended
		c.Why = a.why(f.Name, c.Changed)
		a.Changes = append(a.Changes, c)
	}
}

// why a setting becomes what it does, or stays.
func (a *Advice) why(setting string, changed bool) string {
	m := a.Model
	if a.Now == nil {
		return ""
	}
	text := untold(m, setting)
	retries := slices.Contains([]string{"baseDelay", "maxDelay", "bucketRate", "bucketBurst"}, setting)
	switch {
	case setting == "batch":
		return "not a setting of client-go's informers, which take 1,000 deltas at a time; of ours, fifo.Config's Batch"
	case setting == "burst":
		return "" // the QPS's says it
	case text != "":
		return text
	case setting == "qps":
		return fmt.Sprintf("%s calls a second are made", predict.Number(m.AllCalls()))
	case setting == "queue":
		return a.aboutQueue(changed)
	case setting == "workers" && a.Then != nil && a.Then.Stable:
		return fmt.Sprintf("the load keeps %s busy; then they are busy %s of the time", predict.Number(a.Then.Utilisation.Mean*float64(a.Recommended.Workers)), percent(a.Then.Utilisation.Mean))
	case retries && !m.Fails():
		return "no retries, so it has no effect"
	case strings.HasPrefix(setting, "bucket") && a.Recommended.BucketRate == 0:
		return "retries wait for the back-off of their key alone"
	case !changed:
		return "no other value settles a tenth sooner"
	case setting == "resync":
		return fmt.Sprintf("objects come again less often; what the watch missed is then repaired within %v", a.Recommended.Resync)
	case retries:
		return fmt.Sprintf("%s retries a second", predict.Number(m.AddRate*m.Failure))
	}
	return ""
}

// untold says why the model tells nothing about a setting; nothing if it does.
func untold(m *predict.Model, setting string) string {
	switch {
	case (setting == "qps" || setting == "burst") && !m.Calling():
		return noCalls
	case m.Observations > 0 && slices.Contains([]string{"resync", "batch", "priority", "split"}, setting):
		return "the metrics don't tell lists, resyncs and resources apart"
	case setting == "resync" && m.Spec.Reconcile.Resync == 0:
		return "there are no resyncs"
	case setting == "priority" && !m.Lists():
		return "nothing comes by lists or resyncs, which priorities are for"
	case setting == "split" && !m.Several():
		return "there is one resource"
	}
	return ""
}

// ChooseQueue recommends a cheaper queue where it is worth a change and can be had.
func (a *Advice) ChooseQueue() {
	best := a.Model.CheapestQueue(a.Recommended)
	if saved := a.Model.QueueCores(a.Recommended.Queue) - a.Model.QueueCores(best); saved > worthwhile && !a.queueStays() {
		a.Recommended.Queue = best
	}
}

// queueStays tells that no flag chooses another queue.
func (a *Advice) queueStays() bool {
	return a.Current.Told["queue"] == "default of "+string(defaults.ControllerManager)
}

// aboutQueue says what the choice of the queue comes to.
func (a *Advice) aboutQueue(changed bool) string {
	m := a.Model
	adds, now := predict.Number(m.AddRate), m.QueueCores(a.Current.Queue)
	text := fmt.Sprintf("%s adds a second take %s of a processor", adds, percent(now))
	switch {
	case changed:
		return fmt.Sprintf("%s of a processor instead of %s, at %s adds a second", percent(m.QueueCores(a.Recommended.Queue)), percent(now), adds)
	case a.queueStays():
		return text + ", and no flag chooses another"
	}
	best := m.CheapestQueue(a.Recommended)
	saved := now - m.QueueCores(best)
	if saved <= 0 {
		return text + ", and no other takes less"
	}
	from := search.Tidy(m.AddRate*worthwhile/saved, math.Inf(1))
	return text + fmt.Sprintf(": no measurable difference below %s, from where on %s saves %s", predict.Number(from), best, percent(worthwhile))
}
