package predict

import (
	"context"
	"fmt"
	"math"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// simulate runs the spec, or the recording, with other settings. Replicas with the same seed see
// the same arrivals and service times whatever the settings are.
func (m *Model) simulate(ctx context.Context, s Settings, e Effort, seed uint64) ([]sim.Result, error) {
	spec := *m.Spec
	spec.Reconcile = s.apply(spec.Reconcile)
	c := sim.Config{Spec: &spec, Seed: seed, Priority: s.Priority, MaxEvents: 200_000_000}
	if s.Split {
		c.Queues = m.Split(s.Workers)
	}
	if m.arrivals == nil {
		r, err := sim.Replicate(ctx, c, e.replicas)
		return r.Results, err
	}
	r, err := sim.ReplicateFunc(ctx, c, min(e.replicas, Rough.replicas), m.arrivals)
	return r.Results, err
}

// Split shares the workers out by how much the resources add: each gets one,
// then whoever has least for its share.
func (m *Model) Split(workers int) []sim.Queue {
	var queues []sim.Queue
	for _, r := range m.Spec.Resources {
		queues = append(queues, sim.Queue{Name: r.Name, Resources: []string{r.Name}, Workers: 1})
	}
	for range workers - len(queues) {
		poorest := 0
		for i := range queues {
			if m.shares[i]*float64(queues[poorest].Workers) > m.shares[poorest]*float64(queues[i].Workers) {
				poorest = i
			}
		}
		queues[poorest].Workers++
	}
	return queues
}

// OfSpec is a model of a complete spec, or of recorded arrivals, which take the place of its
// events. [Model.Measure] fills in its rates.
func OfSpec(spec *loadgen.Spec, arrivals func(seed uint64) sim.Arrivals, queues []QueueCost) *Model {
	return &Model{Spec: spec, arrivals: arrivals, Queues: queues}
}

// Measure takes a spec's rates from a simulation of it under some settings. It fails if that
// takes no time or causes no reconcile, and when the context ends.
func (m *Model) Measure(ctx context.Context, s Settings, seed uint64) error {
	results, err := m.simulate(ctx, s, Effort{replicas: 1}, seed)
	if err != nil {
		return err
	}
	x := results[0]
	span := x.Load.Seconds()
	if !(span > 0) || x.Reconciles == 0 {
		return fmt.Errorf("%s: its events take no time or cause no reconcile, so there is nothing to tune; expected a rate", m.Spec.Name)
	}
	m.Interval, m.Told = span, "simulation"
	m.RawRate, m.AddRate = float64(x.Arrivals)/span, float64(x.Adds)/span
	m.Coalesced = float64(x.Coalesced) / float64(max(1, x.Arrivals+x.Listed+x.Retries))
	m.Work, m.Utilisation, m.CallRate, m.Depth = x.Work.Mean().Seconds(), x.Utilisation, x.CallRate, x.Depth
	m.Throttle, m.Failure = x.Throttle.Mean().Seconds(), m.Spec.Reconcile.Failure
	m.Service, m.CallLatency = m.Spec.Reconcile.Service.Mean(), m.Spec.Reconcile.CallLatency.Mean()
	m.Calls = m.Spec.Reconcile.Calls.Mean()
	m.Busy = m.Service + m.Calls*m.CallLatency
	m.Bursts = "as the workload says"
	if !m.Several() {
		return nil
	}
	// How much each resource adds shows when each has a queue.
	m.shares = make([]float64, len(m.Spec.Resources))
	s.Split, s.Workers = true, max(s.Workers, len(m.shares))
	if results, err = m.simulate(ctx, s, Effort{replicas: 1}, seed); err != nil {
		return err
	}
	for i, q := range results[0].Queues {
		m.shares[i] = float64(q.Adds) / float64(max(1, results[0].Adds))
	}
	return nil
}

// take makes figures of simulations of one model.
func (f *Figures) take(results []sim.Result) {
	figure := sim.Replicas{Results: results}.Interval
	work := 1e-9 + 0.01*figure(func(r sim.Result) float64 { return r.Work.Mean().Seconds() }).Mean
	over := func(of func(sim.Result) durations.Histogram) Quantiles {
		var list []durations.Histogram
		for _, r := range results {
			list = append(list, of(r))
		}
		pool := durations.Pooled(list)
		at := func(p float64) float64 { return quantile(pool, p).Seconds() }
		return quantiles(func(p float64) Interval {
			// Where waits are rare, simulations differ by ratios.
			i := figure(func(r sim.Result) float64 { return math.Log(work + quantile(of(r), p).Seconds()) })
			x, by := at(p), math.Exp((i.High-i.Low)/2)
			return Interval{Mean: x, Low: max(0, (work+x)/by-work), High: (work+x)*by - work}
		}, at)
	}
	f.Wait = over(func(r sim.Result) durations.Histogram { return r.QueueWait })
	f.Settle = over(func(r sim.Result) durations.Histogram { return r.Settle })
	f.Work = over(func(r sim.Result) durations.Histogram { return r.Work })
	f.Depth = figure(func(r sim.Result) float64 { return r.Depth })
	f.Utilisation = figure(func(r sim.Result) float64 { return r.Utilisation })
	f.CallRate = figure(func(r sim.Result) float64 { return r.CallRate })
}
