package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// An Interval is a predicted figure with the interval that holds it with 95%
// probability: of the posterior of the loads that explain a measurement, or of the simulation
// alone where the load is known.
type Interval = sim.Interval

// Quantiles are of a predicted duration, in seconds.
type Quantiles struct {
	Mean Interval `json:"mean"`
	P50  Interval `json:"p50"`
	P90  Interval `json:"p90"`
	P99  Interval `json:"p99"`
	P999 Interval `json:"p999"`

	all func(p float64) float64
}

// at is a quantile, or the mean for a p below 0.
func (q Quantiles) at(p float64) float64 { return q.all(p) }

// unbounded stands for what grows without end, in an interval's High.
const unbounded = 1e10

// Figures are predicted for some settings. In JSON those that nothing predicts, from Wait
// to QueueCores, are null if these are not stable.
type Figures struct {
	Settings    Settings  `json:"settings"`
	Stable      bool      `json:"stable"`
	Load        float64   `json:"load"`       // the largest ratio of a demand to what there is; from 1 on it is not stable
	Bottleneck  string    `json:"bottleneck"` // what Load is of
	Wait        Quantiles `json:"wait"`       // from add to get
	Settle      Quantiles `json:"settle"`     // from an event to the end of the first successful reconcile that saw it
	Work        Quantiles `json:"work"`       // from get to done
	Depth       Interval  `json:"depth"`
	Utilisation Interval  `json:"utilisation"`
	CallRate    Interval  `json:"callRate"`
	QueueCores  Interval  `json:"queueCores"` // processors that the queue keeps busy
	Cost        float64   `json:"cost"`       // in workers; ten calls a second count as one

	adds, retries float64 // a second
}

// cost puts settings on one scale: workers, of which each holds a connection and
// memory, and what the client may ask of the API server. Ten calls a second
// cost as much as a worker.
func cost(s Settings) float64 { return float64(s.Workers) + s.QPS/10 }

// simulate runs the spec, or the recording, with other settings. Replicas with the same seed see
// the same arrivals and service times whatever the settings are.
func (m *Model) simulate(ctx context.Context, s Settings, e effort, seed uint64) ([]sim.Result, error) {
	spec := *m.Spec
	spec.Reconcile = s.apply(spec.Reconcile)
	c := sim.Config{Spec: &spec, Seed: seed, Priority: s.Priority, Occupied: m.occupied(s), MaxEvents: 200_000_000}
	if s.Split {
		c.Queues = m.split(s.Workers)
	}
	var r sim.Replicas
	var err error
	if m.arrivals != nil {
		r, err = sim.ReplicateFunc(ctx, c, min(e.replicas, rough.replicas), m.arrivals)
	} else {
		r, err = sim.Replicate(ctx, c, e.replicas)
	}
	return r.Results, err
}

// split shares the workers out by how much the resources add: each gets one,
// then whoever has least for its share.
func (m *Model) split(workers int) []sim.Queue {
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

// demand is what the load takes of each resource, as a share of what there is.
func (m *Model) demand(s Settings) (load float64, bottleneck string) {
	if m.Offered == 0 {
		return 0, ""
	}
	q := m.queue(s.Queue)
	occupied := m.AddRate * q.Item
	load, bottleneck = (m.Offered+occupied)/float64(s.Workers), "workers"
	if m.bounded() {
		load = min(load, saturated)
	}
	if occupied > load {
		load, bottleneck = occupied, "queue"
	}
	if s.QPS > 0 {
		if share := (m.AddRate*m.Calls + m.Background) / s.QPS; share > load {
			load, bottleneck = share, "client QPS"
		}
	}
	if s.BucketRate > 0 {
		if share := m.AddRate * m.Failure / s.BucketRate; share > load {
			load, bottleneck = share, "retry bucket"
		}
	}
	return load, bottleneck
}

// predict gives the figures of some settings. An unstable system has no
// figures but its load.
func (m *Model) predict(ctx context.Context, s Settings, e effort, seed uint64) (Figures, error) {
	f := Figures{Settings: s, Cost: cost(s)}
	f.Load, f.Bottleneck = m.demand(s)
	if f.Load >= 1 {
		return f.unbounded(), nil
	}
	e = e.near(f.Load)
	if m.found != nil {
		return m.members(ctx, f, e, seed)
	}
	results, err := m.simulate(ctx, s, e, seed)
	if err != nil {
		return f, err
	}
	worst := slices.MaxFunc(results, func(a, b sim.Result) int { return cmp.Compare(a.Demand.Load, b.Demand.Load) })
	f.Load, f.Bottleneck = worst.Demand.Load, worst.Demand.Bottleneck
	f.Stable = worst.Demand.Stable() || worst.Drain <= worst.Load
	f.take(results, m.queue(s.Queue))
	return f, nil
}

// quantile is in seconds, the mean for a p below 0.
func quantile(d durations.Histogram, p float64) float64 {
	if p < 0 {
		return d.Mean().Seconds()
	}
	return d.Quantile(p).Seconds()
}

// unbounded fills in what an unstable system comes to.
func (f Figures) unbounded() Figures {
	q := Quantiles{all: func(float64) float64 { return unbounded }}
	f.Wait, f.Settle, f.Work = q, q, q
	f.Depth.Mean, f.Utilisation.Mean = unbounded, 1
	return f
}

// take makes figures of simulations of one model.
func (f *Figures) take(results []sim.Result, queue QueueCost) {
	figure := sim.Replicas{Results: results}.Interval
	work := 1e-9 + 0.01*figure(func(r sim.Result) float64 { return r.Work.Mean().Seconds() }).Mean
	quantiles := func(of func(sim.Result) durations.Histogram) Quantiles {
		var list []durations.Histogram
		for _, r := range results {
			list = append(list, of(r))
		}
		pool := durations.Pooled(list)
		expected := func(p float64) float64 { return quantile(pool, p) }
		at := func(p float64) Interval {
			// Where waits are rare, simulations differ by ratios.
			i := figure(func(r sim.Result) float64 { return math.Log(work + quantile(of(r), p)) })
			x, by := expected(p), math.Exp((i.High-i.Low)/2)
			return Interval{Mean: x, Low: max(0, (work+x)/by-work), High: (work+x)*by - work}
		}
		return Quantiles{Mean: at(-1), P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), all: expected}
	}
	f.Wait = quantiles(func(r sim.Result) durations.Histogram { return r.QueueWait })
	f.Settle = quantiles(func(r sim.Result) durations.Histogram { return r.Settle })
	f.Work = quantiles(func(r sim.Result) durations.Histogram { return r.Work })
	f.Depth = figure(func(r sim.Result) float64 { return r.Depth })
	f.Utilisation = figure(func(r sim.Result) float64 { return r.Utilisation })
	f.CallRate = figure(func(r sim.Result) float64 { return r.CallRate })
	rates := func(r sim.Result) (adds, retries float64) {
		span := (r.Load + r.Drain).Seconds()
		return float64(r.Adds) / span, float64(r.Retries) / span
	}
	f.adds = figure(func(r sim.Result) float64 { adds, _ := rates(r); return adds }).Mean
	f.retries = figure(func(r sim.Result) float64 { _, retries := rates(r); return retries }).Mean
	f.QueueCores = figure(func(r sim.Result) float64 { return queue.cores(rates(r)) })
}
