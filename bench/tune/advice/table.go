package advice

import (
	"fmt"
	"math"
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

func (a *Advice) why(setting string, changed bool) string {
	m := a.Model
	if m == nil || a.Now == nil {
		return ""
	}
	switch setting {
	case "workers":
		if a.Then != nil && a.Then.Stable {
			return fmt.Sprintf("the load keeps %s busy; then they are busy %s of the time", predict.Number(a.Then.Utilisation.Mean*float64(a.Recommended.Workers)), percent(a.Then.Utilisation.Mean))
		}
	case "qps":
		if m.Calling() {
			return fmt.Sprintf("%s calls a second are made", predict.Number(m.AddRate*m.Calls+m.Background))
		}
		return noCalls
	case "baseDelay", "maxDelay", "bucketRate", "bucketBurst":
		if !m.Fails() {
			return "no retries, so it has no effect"
		}
		if a.Recommended.BucketRate == 0 && strings.HasPrefix(setting, "bucket") {
			return "retries wait for the back-off of their key alone"
		}
		if !changed {
			return "no other value settles a tenth sooner"
		}
		return fmt.Sprintf("%s retries a second", predict.Number(m.AddRate*m.Failure))
	case "batch":
		return "not a setting of client-go's informers, which take 1,000 deltas at a time; of ours, fifo.Config's Batch"
	case "queue":
		return a.aboutQueue(changed)
	case "resync", "priority", "split":
		if text := untold(m, setting); text != "" {
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
func untold(m *predict.Model, setting string) string {
	switch {
	case m.Observations > 0:
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

// untouched are the settings that the data say nothing about.
func (a *Advice) untouched() []string {
	if a.Model == nil || a.Model.Observations == 0 {
		return nil
	}
	return []string{"resync period, informer batch, priorities and a split by resource: no counter tells which adds come by lists and resyncs, or of which resource; benchrun tune --trace does"}
}

// ChooseQueue recommends a cheaper queue where it is worth a change and can be had.
func (a *Advice) ChooseQueue() {
	if !a.queueStays() {
		a.Recommended.Queue = a.Model.CheaperQueue(a.Recommended)
	}
}

// queueStays tells that no flag chooses another queue.
func (a *Advice) queueStays() bool {
	return a.Current.Told["queue"] == "default of "+string(defaults.ControllerManager)
}

// aboutQueue says what the choice of the queue comes to.
func (a *Advice) aboutQueue(changed bool) string {
	m, s := a.Model, a.Recommended
	adds, now := m.AddRate, m.QueueCores(a.Current.Queue)
	if changed {
		return fmt.Sprintf("%s of a processor instead of %s, at %s adds a second", percent(m.QueueCores(s.Queue)), percent(now), predict.Number(adds))
	}
	if a.queueStays() {
		return fmt.Sprintf("%s adds a second take %s of a processor, and no flag chooses another", predict.Number(adds), percent(now))
	}
	best := s.Queue
	for _, c := range m.QueuesLike(s.Priority) {
		if m.QueueCores(c.Variant) < m.QueueCores(best) {
			best = c.Variant
		}
	}
	text := fmt.Sprintf("%s adds a second take %s of a processor", predict.Number(adds), percent(now))
	if saved := now - m.QueueCores(best); saved > 0 {
		from := search.Tidy(adds*worthwhile/saved, math.Inf(1))
		return text + fmt.Sprintf(": no measurable difference below %s, from where on %s saves %s", predict.Number(from), best, percent(worthwhile))
	}
	return text + ", and no other takes less"
}
