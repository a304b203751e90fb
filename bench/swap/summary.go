package swap

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/swap/probe"
)

// SummaryFile holds the Summary in a result directory.
const SummaryFile = "swap.json"

// A Summary is what a swap tells beside the statistics of its rounds.
type Summary struct {
	Schema   int                 `json:"schema"`
	Program  string              `json:"program"`
	Load     string              `json:"load"`
	Layout   []string            `json:"layout"` // how it was built
	Versions map[string]string   `json:"versions"`
	Lifted   []string            `json:"lifted"` // versions of modules that the swap would change: none by design
	Share    Share               `json:"share"`
	Unnamed  []Unnamed           `json:"unnamed,omitempty"` // key types whose queues are adapted
	Coverage []Coverage          `json:"coverage"`
	Queues   []QueueWait         `json:"queues"`
	Ends     string              `json:"ends"` // whether all arms end alike
	Alike    bool                `json:"alike"`
	Panics   map[string]int      `json:"panics,omitempty"`  // by arm
	Metrics  map[string][]string `json:"metrics,omitempty"` // by arm, of those whose metrics were compared: "lacks workqueue_depth{name=…}", "adds …"
}

// An Unnamed key type can't be written down where the hooks are registered.
type Unnamed struct {
	Type string `json:"type"`
	Why  string `json:"why"`
}

// Coverage says what became of the calls of one constructor in an arm.
type Coverage struct {
	Arm         string  `json:"arm"`
	Constructor string  `json:"constructor"`
	Made        int     `json:"made"`
	Swapped     int     `json:"swapped"`
	Adapted     int     `json:"adapted"` // of those swapped
	Adds        int64   `json:"adds"`
	SwappedAdds int64   `json:"swappedAdds"`
	Traffic     float64 `json:"traffic"` // share of the adds of all queues
}

// A QueueWait is one queue's wait in one arm: medians of the rounds.
type QueueWait struct {
	Queue string        `json:"queue"`
	Arm   string        `json:"arm"`
	How   string        `json:"how"`
	Adds  int64         `json:"adds"`
	P50   time.Duration `json:"p50Nanoseconds"`
	P99   time.Duration `json:"p99Nanoseconds"`
	Work  time.Duration `json:"workP50Nanoseconds"`
}

// Summarise puts the rounds of a run together and writes them into its directory.
func (p *Program) Summarise(dir string, share Share) (Summary, error) {
	s := Summary{
		Schema: experiment.SchemaVersion, Program: p.target.pkg, Load: p.options.Load, Layout: p.layout.how, Versions: p.Versions(), Lifted: p.lifted, Share: share, Unnamed: p.left,
		Panics: map[string]int{}, Metrics: map[string][]string{},
	}
	byArm := map[string][]Round{}
	var arms []string
	for _, r := range p.done {
		if byArm[r.Arm] == nil {
			arms = append(arms, r.Arm)
		}
		byArm[r.Arm] = append(byArm[r.Arm], r)
		if r.Panics > 0 {
			s.Panics[r.Arm] += r.Panics
		}
	}
	slices.Sort(arms)
	for _, arm := range arms {
		if !strings.HasPrefix(arm, Baseline) {
			s.Coverage = append(s.Coverage, coverage(arm, byArm[arm])...)
			if p.options.Metrics != "" {
				s.Metrics[arm] = metricsDiffer(slices.Concat(byArm[Baseline], byArm[Baseline+experiment.ControlSuffix]), byArm[arm])
			}
		}
		s.Queues = append(s.Queues, waits(arm, byArm[arm])...)
	}
	slices.SortStableFunc(s.Queues, func(a, b QueueWait) int { return cmp.Compare(a.Queue, b.Queue) })
	s.Ends, s.Alike = ends(arms, byArm)
	return s, atomicfile.WriteJSON(filepath.Join(dir, SummaryFile), s)
}

// coverage counts the last round of an arm.
func coverage(arm string, rounds []Round) []Coverage {
	byName := map[string]*Coverage{}
	total := int64(0)
	for _, t := range rounds[len(rounds)-1].Used.Things {
		c := byName[t.Constructor]
		if c == nil {
			c = &Coverage{Arm: arm, Constructor: t.Constructor}
			byName[t.Constructor] = c
		}
		adds := int64(0)
		if t.Queue != nil {
			adds = t.Queue.Adds
		}
		c.Made++
		c.Adds += adds
		total += adds
		if t.How != probe.Kept {
			c.Swapped++
			c.SwappedAdds += adds
		}
		if t.How == probe.Adapted {
			c.Adapted++
		}
	}
	var list []Coverage
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c := *byName[name]
		if total > 0 {
			c.Traffic = float64(c.Adds) / float64(total)
		}
		list = append(list, c)
	}
	return list
}

// waits are the medians of each queue that something was added to.
func waits(arm string, rounds []Round) []QueueWait {
	byName := map[string][]probe.Thing{}
	for _, r := range rounds {
		for _, t := range r.Used.Things {
			if t.Queue != nil && t.Queue.Adds > 0 {
				name := cmp.Or(t.Name, "unnamed") + " (" + t.Key + ")"
				byName[name] = append(byName[name], t)
			}
		}
	}
	var list []QueueWait
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		of := byName[name]
		list = append(list, QueueWait{
			Queue: name, Arm: arm, How: of[0].How,
			Adds: middle(of, func(t probe.Thing) int64 { return t.Queue.Adds }),
			P50:  time.Duration(middle(of, func(t probe.Thing) int64 { return int64(t.Queue.P50) })),
			P99:  time.Duration(middle(of, func(t probe.Thing) int64 { return int64(t.Queue.P99) })),
			Work: time.Duration(middle(of, func(t probe.Thing) int64 { return int64(t.Queue.Work) })),
		})
	}
	return list
}

func middle(things []probe.Thing, of func(probe.Thing) int64) int64 {
	var values []float64
	for _, t := range things {
		values = append(values, float64(of(t)))
	}
	return int64(verdict.Summarise(values, 0.95).Center)
}

// ends compares what caches hold at the end, and what --state printed. What differs
// among the baseline's own rounds, as the names of pods do, can't be compared.
func ends(arms []string, byArm map[string][]Round) (string, bool) {
	own, varies := map[string]string{}, map[string]bool{}
	for _, arm := range arms {
		for _, r := range byArm[arm] {
			if !strings.HasPrefix(arm, Baseline) {
				continue
			}
			for name, text := range r.ending() {
				if seen, ok := own[name]; ok && seen != text {
					varies[name] = true
				}
				own[name] = text
			}
		}
	}
	if varies[printedState] || len(varies) == len(own) {
		return fmt.Sprintf("not comparable: the rounds of %s end in different states", Baseline), true
	}
	for _, arm := range arms {
		for _, r := range byArm[arm] {
			parts := r.ending()
			for _, name := range slices.Sorted(maps.Keys(own)) {
				if !varies[name] && own[name] != parts[name] {
					return fmt.Sprintf("%s, round %d ends with another %s than %s", arm, r.Round, name, Baseline), false
				}
			}
		}
	}
	const same = "all rounds of all arms end in the same state"
	if len(varies) == 0 {
		return same, true
	}
	return fmt.Sprintf("%s (not compared, since %s's own rounds differ in them: %s)", same, Baseline, strings.Join(slices.Sorted(maps.Keys(varies)), ", ")), true
}

// printedState names what --state printed among the parts of an ending.
const printedState = "state"

// ending is what a round leaves, by part: how many objects each cache holds, which
// ones, and what --state printed.
func (r Round) ending() map[string]string {
	parts := map[string]string{printedState: r.State}
	things := slices.Clone(r.Used.Things) // caches of one name in the order of what they hold
	slices.SortFunc(things, func(a, b probe.Thing) int { return cmp.Compare(fmt.Sprint(a.Cache), fmt.Sprint(b.Cache)) })
	for _, t := range things {
		if t.Cache != nil {
			parts["number of "+t.Name] += fmt.Sprintf(" %d", t.Cache.Objects)
			parts["set of "+t.Name] += fmt.Sprintf(" %s", t.Cache.Keys)
		}
	}
	return parts
}

// Doubts are the warnings of a summary.
func (s Summary) Doubts() []experiment.Warning {
	var list []experiment.Warning
	if !s.Alike {
		list = append(list, experiment.Warn(Component, "%s", s.Ends))
	}
	for _, arm := range slices.Sorted(maps.Keys(s.Panics)) {
		list = append(list, experiment.Warn(Component+"/"+arm, "handlers panicked %s", wording.Count(s.Panics[arm], "time")))
	}
	for _, u := range s.Unnamed {
		list = append(list, experiment.Warn(Component, "queues with keys of type %s are swapped with their keys as any, which costs an allocation a key: %s", u.Type, u.Why))
	}
	return list
}
