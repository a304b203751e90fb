package tune

import (
	"context"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
)

// An effort is how much is simulated for one prediction: every so many-th member of the posterior,
// or so many replicas, of so many arrivals each, and of up to so many times as many, the nearer the
// load is to what there is.
type effort struct {
	every, replicas int
	events          int
	patience        float64
}

var (
	rough  = effort{4, 4, 12_000, 1}
	surer  = effort{2, 8, 24_000, 2}
	finest = effort{1, 8, 40_000, 2} // of the figures that are reported
)

// near is the effort for a load, as a share of what there is. Waits at one time
// resemble those before for the longer the less room there is, so that the same
// number of arrivals tells less.
func (e effort) near(load float64) effort {
	e.events = int(float64(e.events) * min(e.patience, max(1, 0.4/(1-load))))
	return e
}

// controller are the settings as the simulation takes them, whose queue is occupied so long by an
// item.
func (s Settings) controller(occupied float64) model.Controller {
	return model.Controller{
		Workers: s.Workers, QPS: s.QPS, Burst: s.Burst, BaseDelay: s.BaseDelay.Seconds(), MaxDelay: s.MaxDelay.Seconds(),
		BucketRate: s.BucketRate, BucketBurst: s.BucketBurst, Occupied: occupied,
	}
}

// full tells whether the load may well exceed what there is: for more of the members than an
// interval leaves out at one end.
func (m *Model) full(s Settings) bool {
	if m.found == nil {
		return false
	}
	c, n := s.controller(m.occupied(s).Seconds()), 0
	for _, x := range m.found.Members {
		if x.System.Load(c) >= 1 {
			n++
		}
	}
	return float64(n) > outside*float64(len(m.found.Members))
}

// outside is the part of a posterior that lies beyond each end of an interval.
const outside = 0.025

// bounded tells that there are so few keys that no more than all of them wait,
// however few the workers are: what comes on top is coalesced.
func (m *Model) bounded() bool {
	return m.found != nil && !slices.ContainsFunc(m.found.Members, func(x infer.Member) bool { return x.System.Keys == 0 || x.System.Keys > 100_000 })
}

// members predicts by the posterior.
func (m *Model) members(ctx context.Context, f Figures, e effort, seed uint64) (Figures, error) {
	load := m.load
	if load == 0 {
		load = 1
	}
	list, err := m.found.Predict(ctx, f.Settings.controller(m.occupied(f.Settings).Seconds()), e.every, e.events, load, seed)
	if err != nil {
		return f, err
	}
	of := func(overloaded float64, figure func(r *model.Result) float64) Interval {
		values := make([]float64, len(list))
		for i, r := range list {
			if values[i] = overloaded; r != nil {
				values[i] = figure(r)
			}
		}
		slices.Sort(values)
		n := float64(len(values))
		return Interval{Mean: values[len(values)/2], Low: values[int(outside*n)], High: values[min(len(values)-1, int(math.Ceil((1-outside)*n))-1)]}
	}
	quantiles := func(sketch func(r *model.Result) *model.Sketch) Quantiles {
		at := func(p float64) Interval {
			return of(unbounded, func(r *model.Result) float64 {
				if p < 0 {
					return sketch(r).Mean()
				}
				return sketch(r).Quantile(p)
			})
		}
		return Quantiles{Mean: at(-1), P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), all: func(p float64) float64 { return at(p).Mean }}
	}
	f.Wait = quantiles(func(r *model.Result) *model.Sketch { return &r.Wait })
	f.Settle = quantiles(func(r *model.Result) *model.Sketch { return &r.Settle })
	f.Work = quantiles(func(r *model.Result) *model.Sketch { return &r.Work })
	f.Depth = of(unbounded, func(r *model.Result) float64 { return r.Waiting / r.Length })
	share := func(r *model.Result) float64 { return r.Busy / r.Length / float64(f.Settings.Workers) }
	f.Utilisation = of(1, share)
	// What is overloaded makes the calls that its limit lets through, or its load's.
	f.CallRate = of(m.AddRate*m.Calls, func(r *model.Result) float64 { return float64(r.Calls) / r.Length })
	adds := func(r *model.Result) float64 { return float64(r.Adds) / r.Length }
	retries := func(r *model.Result) float64 { return float64(r.Failures) / r.Length }
	f.adds, f.retries = of(m.AddRate, adds).Mean, of(m.AddRate*m.Failure, retries).Mean
	queue := m.queue(f.Settings.Queue)
	f.QueueCores = of(queue.cores(m.AddRate, m.AddRate*m.Failure), func(r *model.Result) float64 { return queue.cores(adds(r), retries(r)) })
	f.Stable = f.Wait.Mean.Mean < unbounded
	return f, nil
}
