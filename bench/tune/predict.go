package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// An Interval is a predicted figure with the interval that holds it with 95%
// confidence, given what the data tell of rate and service time, and of their
// forms. Without the latter (of a curve's points) it is of the simulation alone.
type Interval = sim.Interval

// Quantiles are of a predicted duration, in seconds.
type Quantiles struct {
	Mean Interval `json:"mean"`
	P50  Interval `json:"p50"`
	P90  Interval `json:"p90"`
	P99  Interval `json:"p99"`
	P999 Interval `json:"p999"`

	all   func(p float64) float64
	pools []durations.Histogram // one for all models with the same arrivals
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

	adds, retries float64  // a second
	open          openness // of the 99th percentile of the wait
}

// cost puts settings on one scale: workers, of which each holds a connection and
// memory, and what the client may ask of the API server. Ten calls a second
// cost as much as a worker.
func cost(s Settings) float64 { return float64(s.Workers) + s.QPS/10 }

// simulate runs the model with other settings. Replicas with the same seed see
// the same arrivals and service times whatever the settings are.
func (m *Model) simulate(ctx context.Context, s Settings, e effort, seed uint64) ([]sim.Result, error) {
	if len(m.samples) > 0 {
		return m.simulateAll(ctx, s, e, seed)
	}
	c := m.config(s, e)
	c.Seed = seed
	var r sim.Replicas
	var err error
	switch {
	case m.flow.own():
		r, err = sim.ReplicateFunc(ctx, c, e.replicas, m.flow.arrivals(&c.Spec.Resources[0]))
	case m.arrivals != nil:
		r, err = sim.ReplicateFunc(ctx, c, min(e.replicas, rough.replicas), m.arrivals)
	default:
		r, err = sim.Replicate(ctx, c, e.replicas)
	}
	return r.Results, err
}

func (m *Model) config(s Settings, e effort) sim.Config {
	spec := *m.Spec
	spec.Reconcile = s.apply(spec.Reconcile)
	if m.Observations > 0 {
		spec.Reconcile.Resync = 0 // what it adds is among the adds that were measured
	}
	c := sim.Config{Spec: &spec, Background: m.Background, Priority: s.Priority, Occupied: m.occupied(s), MaxEvents: 200_000_000}
	if m.load > 0 {
		spec.Resources = slices.Clone(spec.Resources)
		spec.Resources[0].Events.Arrivals.Rate *= m.load
	}
	if s.Split {
		c.Queues = m.split(s.Workers)
	}
	if m.length > 0 {
		c.Warmup = m.length / warmup
		c.Until = c.Warmup + m.length
		return c
	}
	if m.ArrivalRate > 0 && m.arrivals == nil {
		length := time.Duration(min(float64(e.events)/m.ArrivalRate*1e9, float64(farthest)))
		// Long enough for bursts to come often, as far as that can be paid for.
		length = min(max(length, min(20*m.cycle(), 5*length)), farthest)
		c.Warmup = max(length/10, m.filling(s))
		c.Until = length - length/10 + c.Warmup
		spec.Duration = c.Until
	}
	return c
}

// cycle is the mean time from one burst or sweep to the next; 0: there are none.
func (m *Model) cycle() time.Duration {
	arrivals := m.Spec.Resources[0].Events.Arrivals
	if m.flow.size > 0 {
		return time.Duration(m.flow.period(arrivals.Rate) * 1e9)
	}
	if m.flow.rates != nil {
		return time.Duration(m.flow.rates.length() * 1e9)
	}
	if m.flow.levels.events > 0 {
		return time.Duration(m.flow.levels.period(arrivals.Rate) * 1e9)
	}
	return cycleOf(arrivals)
}

// cycleOf is the mean time from one burst to the next.
func cycleOf(a loadgen.Arrivals) time.Duration {
	if a.Kind != "onoff" {
		return 0
	}
	return time.Duration((a.On.Mean() + a.Off.Mean()) * 1e9)
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
	results, err := m.simulate(ctx, s, e, seed)
	if more := e.more(results); err == nil && more > 1 && m.ArrivalRate > 0 && m.arrivals == nil && len(m.groups(results)) == 1 {
		e.events = int(float64(e.events) * more)
		results, err = m.simulate(ctx, s, e, seed)
	}
	if err != nil {
		return f, err
	}
	f.Stable = true
	worst := slices.MaxFunc(results, func(a, b sim.Result) int {
		if a.Demand.Load < b.Demand.Load {
			return -1
		}
		return 1
	})
	if m.Offered == 0 {
		f.Load, f.Bottleneck = worst.Demand.Load, worst.Demand.Bottleneck
		if !worst.Demand.Stable() && worst.Drain > worst.Load {
			f.Stable = false
		}
	}
	cost := m.queue(s.Queue)
	f.take(m.groups(results), cost)
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

func (f *Figures) take(groups [][]sim.Result, queue QueueCost) {
	results := slices.Concat(groups...)
	all := sim.Replicas{Results: results}
	figure := all.Interval
	work := 1e-9 + 0.01*figure(func(r sim.Result) float64 { return r.Work.Mean().Seconds() }).Mean
	quantiles := func(of func(sim.Result) durations.Histogram) Quantiles {
		pools := make([]durations.Histogram, len(groups))
		for i, g := range groups {
			var list []durations.Histogram
			for _, r := range g {
				list = append(list, of(r))
			}
			pools[i] = durations.Pooled(list)
		}
		// Candidates may be far apart, and between two of them nothing is true: what the
		// median of them predicts is expected.
		expected := func(p float64) float64 {
			order := make([]int, len(pools))
			values := make([]float64, len(pools))
			for i, d := range pools {
				order[i], values[i] = i, quantile(d, p)
			}
			slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
			below := 0
			for _, i := range order {
				if below += len(groups[i]); 2*below > len(results) {
					return values[i]
				}
			}
			return 0
		}
		at := func(p float64) Interval {
			// Where waits are rare, simulations differ by ratios.
			i := figure(func(r sim.Result) float64 { return math.Log(work + quantile(of(r), p)) })
			x, by := expected(p), math.Exp((i.High-i.Low)/2)
			low, high := max(0, (work+x)/by-work), (work+x)*by-work
			// Where some see no wait, ratios tell no upper end.
			if slices.ContainsFunc(results, func(r sim.Result) bool { return quantile(of(r), p) < work }) {
				j := figure(func(r sim.Result) float64 { return quantile(of(r), p) })
				high = min(high, x+(j.High-j.Low)/2)
			}
			return Interval{Mean: x, Low: low, High: high}
		}
		return Quantiles{Mean: at(-1), P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), all: expected, pools: pools}
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
