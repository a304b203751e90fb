// Package predict says what some settings of a controller would bring. Its steps, in order:
//
//  1. [Settings] are what can be set in production, [Fields] what each is called, and a
//     [QueueCost] what a work queue takes of a processor.
//  2. A [Model] is a controller and its load: of a measurement, with the posterior of package
//     infer attached, or of a workload or recording, of which everything is known ([OfSpec]).
//  3. [Model.Predict] first compares what the load demands with what there is
//     ([Model.Demand]): more is not stable, and has no figures.
//  4. It then simulates: of a measurement the members of the posterior, of which an interval
//     holds 95% (members.go); of a workload the whole controller, by package sim
//     (simulate.go). How much of both is an [Effort].
//  5. The [Figures] are waits, work, calls and costs, each with its interval.
//
// The same seed gives the same arrivals and service times whatever the settings are.
package predict

import (
	"cmp"
	"context"
	"slices"

	"github.com/informerbench/informerbench/loadgen/sim"
)

// Demand is what the load takes of each resource, as a share of what there is.
func (m *Model) Demand(s Settings) (load float64, bottleneck string) {
	if m.Offered == 0 {
		return 0, ""
	}
	load, bottleneck = m.Offered/float64(s.Workers), "workers"
	if m.Bounded() {
		load = min(load, saturated)
	}
	more := func(demand, limit float64, name string) {
		if limit > 0 && demand/limit > load {
			load, bottleneck = demand/limit, name
		}
	}
	more(m.AllCalls(), s.QPS, "client QPS")
	more(m.AddRate*m.Failure, s.BucketRate, "retry bucket")
	return load, bottleneck
}

// Predict gives the figures of some settings. An unstable system has no
// figures but its load. It fails when the context ends, and where the model can't be
// simulated.
func (m *Model) Predict(ctx context.Context, s Settings, e Effort, seed uint64) (Figures, error) {
	f := Figures{Settings: s, Cost: s.Cost()}
	f.Load, f.Bottleneck = m.Demand(s)
	if f.Load >= 1 {
		return f, nil
	}
	cores := m.QueueCores(s.Queue)
	f.QueueCores = Interval{Mean: cores, Low: cores, High: cores}
	e = e.near(f.Load)
	if m.Posterior != nil {
		return m.overMembers(ctx, f, e, seed)
	}
	results, err := m.simulate(ctx, s, e, seed)
	if err != nil {
		return f, err
	}
	worst := slices.MaxFunc(results, func(a, b sim.Result) int { return cmp.Compare(a.Demand.Load, b.Demand.Load) })
	f.Load, f.Bottleneck = worst.Demand.Load, worst.Demand.Bottleneck
	f.Stable = worst.Demand.Stable() || worst.Drain <= worst.Load
	f.take(results)
	return f, nil
}
