package predict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// MeasuredQueues are medians of nine interleaved runs of 50 ms, on two
// processors of an AMD EPYC that other work shared, of the cases that
// QueueCosts reads. client-go's queue took 183 to 223 ns an item in them,
// controller-runtime's 2.3 to 3.7 µs.
var MeasuredQueues = []QueueCost{
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
// much as an item. It fails if the run has none of these cases.
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

// CheapestQueue is the variant, of those that can stand for these settings', that takes least of a
// processor.
func (m *Model) CheapestQueue(s Settings) string {
	best := s.Queue
	for _, c := range m.Queues {
		if c.Priority == s.Priority && m.QueueCores(c.Variant) < m.QueueCores(best) {
			best = c.Variant
		}
	}
	return best
}

// QueueCores is how many processors a variant would keep busy with this load; 0 if its cost isn't
// known.
func (m *Model) QueueCores(variant string) float64 {
	retries := m.AddRate * m.Failure
	for _, c := range m.Queues {
		if c.Variant == variant {
			return max(0, m.AddRate-retries)*c.Item + retries*c.Retry
		}
	}
	return 0
}

// checkQueue finds a variant that is not known, or that does not go with the
// priorities.
func checkQueue(s Settings, costs []QueueCost) error {
	var all, like []string
	for _, c := range costs {
		if all = append(all, c.Variant); c.Priority == s.Priority {
			like = append(like, c.Variant)
		}
	}
	switch {
	case !slices.Contains(all, s.Queue):
		return fmt.Errorf("queue: found %q, expected one of %s", s.Queue, strings.Join(all, ", "))
	case !slices.Contains(like, s.Queue):
		return fmt.Errorf("queue: found %s with priority %s, expected one of %s", s.Queue, onOff(s.Priority), strings.Join(like, ", "))
	}
	return nil
}
