package predict

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
)

// Full tells whether the load may well exceed what there is: for more of the members than an
// interval leaves out at one end.
func (m *Model) Full(s Settings) bool {
	if m.Posterior == nil {
		return false
	}
	c, n := s.Controller(), 0
	for _, x := range m.Posterior.Members {
		if x.System.Load(c) >= 1 {
			n++
		}
	}
	return float64(n) > outside*float64(len(m.Posterior.Members))
}

// Bounded tells that there are so few keys that no more than all of them wait,
// however few the workers are: what comes on top is coalesced.
func (m *Model) Bounded() bool {
	return m.Posterior != nil && !slices.ContainsFunc(m.Posterior.Members, func(x infer.Member) bool { return x.System.Keys == 0 || x.System.Keys > 100_000 })
}

// overMembers predicts by the posterior.
func (m *Model) overMembers(ctx context.Context, f Figures, e Effort, seed uint64) (Figures, error) {
	list, err := m.Posterior.Predict(ctx, f.Settings.Controller(), e.every, e.events, cmp.Or(m.load, 1), seed)
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
	over := func(sketch func(r *model.Result) *model.Sketch) Quantiles {
		interval := func(p float64) Interval {
			return of(Unbounded, func(r *model.Result) float64 { return quantile(sketch(r), p) })
		}
		return quantiles(interval, func(p float64) float64 { return interval(p).Mean })
	}
	f.Wait = over(func(r *model.Result) *model.Sketch { return &r.Wait })
	f.Settle = over(func(r *model.Result) *model.Sketch { return &r.Settle })
	f.Work = over(func(r *model.Result) *model.Sketch { return &r.Work })
	f.Depth = of(Unbounded, func(r *model.Result) float64 { return r.Waiting / r.Length })
	f.Utilisation = of(1, func(r *model.Result) float64 { return r.Busy / r.Length / float64(f.Settings.Workers) })
	// What is overloaded makes the calls that its limit lets through, or its load's.
	f.CallRate = of(m.AddRate*m.Calls, func(r *model.Result) float64 { return float64(r.Calls) / r.Length })
	f.Stable = f.Wait.Mean.Mean < Unbounded
	return f, nil
}

// Repeat simulates members under the settings under which the model was measured, as many arrivals
// as were, but for those that these overload. It fails when the context ends.
func (m *Model) Repeat(ctx context.Context, seed uint64) ([]*model.Result, error) {
	arrivals := int(min(m.ArrivalRate*m.Interval, float64(Finest.events)))
	list, err := m.Posterior.Predict(ctx, m.Measured.Controller, Surer.every, arrivals, 1, seed)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(x *model.Result) bool { return x == nil }), nil
}

// Likely is the middle one of the most probable family's members.
func (m *Model) Likely() infer.Member {
	name := ""
	for _, x := range slices.Sorted(maps.Keys(m.Posterior.Families)) {
		if m.Posterior.Families[x] > m.Posterior.Families[name] {
			name = x
		}
	}
	list := m.Members(func(m infer.Member) bool { return m.Family == name })
	return list[len(list)/2]
}

// Members are some of the posterior's, by their family and what they differ in.
func (m *Model) Members(some func(infer.Member) bool) []infer.Member {
	list := slices.DeleteFunc(slices.Clone(m.Posterior.Members), func(m infer.Member) bool { return !some(m) })
	slices.SortFunc(list, func(a, b infer.Member) int {
		x, y := a.System.Arrivals, b.System.Arrivals
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.System.Keys, b.System.Keys), cmp.Compare(x.Size, y.Size), cmp.Compare(x.Duty, y.Duty), cmp.Compare(x.CV, y.CV))
	})
	return list
}

// GuessedKeys tells that there are few keys, as only the waits tell.
func (m *Model) GuessedKeys() bool {
	if m.Posterior == nil || m.Measured != nil && m.Measured.Keys > 0 {
		return false
	}
	likely := m.Likely().System
	return likely.Keys > 0 && likely.Popular == nil
}
