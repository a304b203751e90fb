package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
)

// A QueueCost is what a work queue takes of a processor, in seconds.
type QueueCost struct {
	Variant  string  `json:"variant"`
	Priority bool    `json:"priority"` // it is a priority queue
	Item     float64 `json:"item"`     // of one item: Add, Get, Forget, Done
	Retry    float64 `json:"retry"`    // of one failure more: AddRateLimited, then Get and Done again
}

// measuredQueues are medians of nine interleaved runs of 50 ms, on two
// processors of an AMD EPYC that other work shared, of the cases that
// QueueCosts reads. client-go's queue took 183 to 223 ns an item in them,
// controller-runtime's 2.3 to 3.7 µs.
var measuredQueues = []QueueCost{
	{Variant: "client-go", Item: 195e-9, Retry: 1357e-9},
	{Variant: "heap4", Item: 50e-9, Retry: 551e-9},
	{Variant: "fused", Item: 55e-9, Retry: 304e-9},
	{Variant: "controller-runtime", Priority: true, Item: 2962e-9, Retry: 2962e-9},
	{Variant: "levels", Priority: true, Item: 425e-9, Retry: 425e-9},
}

// The cases that tell what queues cost.
const (
	successCase  = "rate-limiting-queue/op=success/n=10k"
	retryCase    = "rate-limiting-queue/op=retry/n=500"
	priorityCase = "priority-queue/op=concurrent/producers=1/workers=1/window=4096"
)

// QueueCosts takes the costs from a run of the benchmarks, for each variant the
// median of its samples. A priority queue has no case of retries: one costs as
// much as an item.
func QueueCosts(samples []experiment.Measurement) ([]QueueCost, error) {
	values := map[[2]string][]float64{}
	for _, s := range samples {
		if x, _ := s.Values.Get("cpu-sec/op"); x > 0 && !strings.HasSuffix(s.Arm, experiment.ControlSuffix) {
			values[[2]string{s.Case, s.Arm}] = append(values[[2]string{s.Case, s.Arm}], x)
		}
	}
	median := func(name, arm string) float64 {
		return verdict.Summarise(values[[2]string{name, arm}], 0.95).Center // NaN of none
	}
	var costs []QueueCost
	for key := range values {
		x := median(key[0], key[1])
		switch retry := median(retryCase, key[1]); {
		case key[0] == priorityCase:
			costs = append(costs, QueueCost{key[1], true, x, x})
		case key[0] == successCase && retry > 0 && key[1] != "controller-runtime":
			costs = append(costs, QueueCost{key[1], false, x, max(0, retry-x)})
		}
	}
	slices.SortFunc(costs, func(a, b QueueCost) int { return strings.Compare(a.Variant, b.Variant) })
	if len(costs) == 0 {
		return nil, errors.New("found no queue's cost, expected samples of " + successCase + " with " + retryCase + ", or of " + priorityCase)
	}
	return costs, nil
}

// queue is the cost of a variant, zero if it isn't known.
func (m *Model) queue(variant string) QueueCost {
	for _, c := range m.queues {
		if c.Variant == variant {
			return c
		}
	}
	return QueueCost{}
}

// queuesLike are the variants that can stand for each other: with priorities or
// without.
func (m *Model) queuesLike(priority bool) []QueueCost {
	var list []QueueCost
	for _, c := range m.queues {
		if c.Priority == priority {
			list = append(list, c)
		}
	}
	return list
}

// alike are settings that are predicted to do the same but for the queue's own
// cost, since neither queue takes long enough to be simulated.
func (m *Model) alike(x Settings) (Settings, bool) {
	y := x
	y.Queue = queueVariant(x.Priority)
	return y, y != x && m.occupied(x) == 0 && m.occupied(y) == 0
}

// exchanged gives figures the cost of another queue.
func (m *Model) exchanged(f Figures, x Settings) Figures {
	was := m.queue(f.Settings.Queue)
	is := m.queue(x.Queue)
	f.Settings = x
	if cost := was.cores(f.adds, f.retries); cost > 0 {
		by := is.cores(f.adds, f.retries) / cost
		f.QueueCores = Interval{Mean: by * f.QueueCores.Mean, Low: by * f.QueueCores.Low, High: by * f.QueueCores.High}
	}
	return f
}

// occupied is for how long an item occupies a queue in the simulation. What is a
// thousandth of the work can't be seen in any figure but would take time to
// simulate.
func (m *Model) occupied(x Settings) time.Duration {
	if q := m.queue(x.Queue); q.Item > m.Busy/1000 {
		return time.Duration(q.Item * 1e9)
	}
	return 0
}

// queueNames are the variants whose cost is known.
func queueNames(costs []QueueCost) string {
	var names []string
	for _, c := range costs {
		names = append(names, c.Variant)
	}
	return strings.Join(names, ", ")
}

// checkQueue finds a variant that is not known, or that does not go with the
// priorities.
func checkQueue(s Settings, costs []QueueCost) error {
	for _, c := range costs {
		if c.Variant == s.Queue {
			if c.Priority != s.Priority {
				return fmt.Errorf("queue: found %s with priority %s, expected one of %s", s.Queue, onOff(s.Priority), queueNames((&Model{queues: costs}).queuesLike(s.Priority)))
			}
			return nil
		}
	}
	return fmt.Errorf("queue: found %q, expected one of %s", s.Queue, queueNames(costs))
}

// cores is how many processors a queue keeps busy with so many items and
// retries a second.
func (c QueueCost) cores(adds, retries float64) float64 {
	return max(0, adds-retries)*c.Item + retries*c.Retry
}

// aboutQueue says what the choice of the queue comes to.
func (a *Advice) aboutQueue(changed bool) string {
	m, s := a.Model, a.Recommended
	adds, retries := m.AddRate, m.AddRate*m.Failure
	of := func(variant string) float64 {
		c := m.queue(variant)
		return c.cores(adds, retries)
	}
	now := of(a.Current.Queue)
	if changed {
		return fmt.Sprintf("%s of a processor instead of %s, at %s adds a second", percent(of(s.Queue)), percent(now), number(adds))
	}
	if a.Current.Told["queue"] == "default of "+string(controllerManager) {
		return fmt.Sprintf("%s adds a second take %s of a processor, and no flag chooses another", number(adds), percent(now))
	}
	best := s.Queue
	for _, c := range m.queuesLike(s.Priority) {
		if of(c.Variant) < of(best) {
			best = c.Variant
		}
	}
	text := fmt.Sprintf("%s adds a second take %s of a processor", number(adds), percent(now))
	if saved := now - of(best); saved > 0 {
		from := tidy(adds*worthwhile/saved, math.Inf(1))
		return text + fmt.Sprintf(": no measurable difference below %s, from where on %s saves %s", number(from), best, percent(worthwhile))
	}
	return text + ", and no other takes less"
}

// percent prints a share with two digits.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*share) // 99.6% has three digits
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}
