package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// A doubt is a figure that another measurement of the same length would have given
// otherwise.
type doubt struct {
	deviation func(m *Model) float64 // standard deviation, as a share of the figure
	scale     func(m *Model, by float64)
}

var doubts = [...]doubt{
	{
		func(m *Model) float64 {
			dispersion := m.Dispersion
			if m.flow.levels.events > 0 {
				dispersion = m.flow.levels.dispersion()
			}
			if m.series.known() {
				// A few windows tell it to a third, so the model's counts where it is more.
				dispersion = max(dispersion, m.series.longRun())
			}
			return math.Sqrt(max(0.05, dispersion) / m.Observations)
		},
		func(m *Model, by float64) { m.scale(by, 1) },
	},
	{
		func(m *Model) float64 { return m.ServiceCV / math.Sqrt(m.Observations) },
		func(m *Model, by float64) { m.scale(1, by) },
	},
	{
		// Half a sweep more or less may lie in what was measured.
		func(m *Model) float64 {
			if m.flow.size == 0 {
				return 0
			}
			return 0.4 * m.flow.period(m.Spec.Resources[0].Events.Arrivals.Rate) / m.Interval
		},
		func(m *Model, by float64) { m.flow.size *= by },
	},
}

// doubted widens the intervals of a prediction by what the data leave open of
// the rate, the service time and the size of sweeps, and of the form of both: by
// how far the models are apart that explain the measurement. These are independent,
// so their squares add up: downwards of logarithms, and upwards, where some models see no
// wait and others a long one, of seconds.
func (m *Model) doubted(ctx context.Context, f Figures, seed uint64) (Figures, error) {
	if !f.Stable || m.Observations == 0 {
		return f, nil
	}
	var all [drawn][]ends
	var errs [drawn]error
	var wg sync.WaitGroup
	for k := range drawn {
		wg.Go(func() { all[k], errs[k] = m.alone(k).ends(ctx, f.Settings, seed+uint64(k)<<32) })
	}
	wg.Wait()
	if err := cmp.Or(errs[:]...); err != nil {
		return f, err
	}
	others, err := m.others(ctx, f.Settings, seed)
	if err != nil {
		return f, err
	}
	lasting := m.lasting(f.Settings)
	longest, bounded, err := m.longest(ctx, f.Settings, seed)
	if err != nil {
		return f, err
	}
	full := m.full(f.Settings) || lasting && !bounded
	widen := func(x *Interval, least float64, of func(...Figures) float64) openness {
		log := func(f Figures) float64 { return math.Log(least + of(f)) }
		levels, ratios := make([][]float64, drawn), make([][]float64, drawn)
		unstable := full
		for k, list := range all {
			for _, e := range list {
				unstable = unstable || !e.high.Stable
				if e.middle.Stable {
					levels[k], ratios[k] = append(levels[k], of(e.middle)), append(ratios[k], log(e.middle))
				}
			}
		}
		from := least + x.Mean
		forms, higher := 0.0, 0.0
		if len(m.samples) > 0 {
			forms = student7 * math.Sqrt(apart(ratios))
			higher = from * math.Expm1(forms)
			if slices.ContainsFunc(slices.Concat(levels...), func(x float64) bool { return x < least }) {
				// Where some see no wait, ratios tell no upper end.
				higher = min(higher, student7*math.Sqrt(apart(levels)))
			}
		}
		below, rise := 0.0, 0.0
		for _, e := range effects(all) {
			// Near a limit most simulations see no wait and some a long one: what all of
			// them together say differs, not each from its like.
			down := max(0, of(e.middle...)-of(e.low...))
			below = math.Hypot(below, math.Log(from/(least+max(0, x.Mean-down))))
			rise = math.Hypot(rise, max(0, of(e.high...)-of(e.middle...)))
		}
		own := math.Log(from / (least + max(0, x.Low)))
		x.Low = max(0, from/math.Exp(math.Hypot(own, math.Hypot(forms, below)))-least)
		x.High = x.Mean + math.Hypot(x.High-x.Mean, math.Hypot(higher, rise))
		for _, g := range others {
			if unstable = unstable || !g.Stable; g.Stable {
				x.Low, x.High = min(x.Low, of(g)), max(x.High, of(g))
				forms = max(forms, math.Abs(log(g)-math.Log(from)))
			}
		}
		if bounded {
			x.Low, x.High = min(x.Low, of(longest)), max(x.High, of(longest))
		}
		if x.High < 1e-9 {
			x.High = 0 // not the rounding's
		}
		if unstable {
			x.High = unbounded
		}
		amounts := max(below, math.Log1p(rise/from))
		return openness{amounts: amounts * amounts, forms: forms * forms, lasting: lasting}
	}
	for _, q := range []struct {
		to *Quantiles
		of func(Figures) Quantiles
	}{
		{&f.Wait, func(g Figures) Quantiles { return g.Wait }},
		{&f.Settle, func(g Figures) Quantiles { return g.Settle }},
		{&f.Work, func(g Figures) Quantiles { return g.Work }},
	} {
		least := 1e-9 + 0.01*m.Busy
		at := func(p float64) func(...Figures) float64 {
			return func(list ...Figures) float64 {
				if len(list) == 1 {
					return q.of(list[0]).at(p)
				}
				var pools []durations.Histogram
				for _, g := range list {
					pools = append(pools, q.of(g).pools...)
				}
				return quantile(durations.Pooled(pools), p)
			}
		}
		widen(&q.to.Mean, least, at(-1))
		widen(&q.to.P50, least, at(0.5))
		widen(&q.to.P90, least, at(0.9))
		open := widen(&q.to.P99, least, at(0.99))
		if q.to == &f.Wait {
			f.open = open
		}
		widen(&q.to.P999, least, at(0.999))
	}
	mean := func(of func(Figures) Interval) func(...Figures) float64 {
		return func(list ...Figures) (sum float64) {
			for _, g := range list {
				sum += of(g).Mean / float64(len(list))
			}
			return sum
		}
	}
	widen(&f.Depth, 1e-3, mean(func(g Figures) Interval { return g.Depth }))
	widen(&f.Utilisation, 1e-9, mean(func(g Figures) Interval { return g.Utilisation }))
	f.Utilisation.High = min(1, f.Utilisation.High)
	widen(&f.CallRate, 1e-9, mean(func(g Figures) Interval { return g.CallRate }))
	if qps := f.Settings.QPS; qps > 0 {
		f.CallRate.High = min(f.CallRate.High, max(qps, f.CallRate.Mean))
	}
	widen(&f.QueueCores, 1e-15, mean(func(g Figures) Interval { return g.QueueCores }))
	return f, nil
}

// others are what the forms predict, and the parts of the calls, that explain the
// measurement as well.
func (m *Model) others(ctx context.Context, s Settings, seed uint64) ([]Figures, error) {
	models := slices.Clone(m.divided)
	for _, c := range m.rivals {
		p := m.alone(0)
		p.take(c)
		models = append(models, p)
	}
	if s.QPS > 0 && m.Calls > 0 && m.Calls*m.Throttle < throttledBy*m.Work && m.Observations > 0 {
		// Where no call waited, nothing tells whether all reconciles make as many.
		p := m.alone(0)
		p.calledBy(callers{chance: true})
		models = append(models, p)
	}
	list, errs := make([]Figures, len(models)), make([]error, len(models))
	var wg sync.WaitGroup
	for i, p := range models {
		wg.Go(func() { list[i], errs[i] = p.predict(ctx, s, surer, seed+uint64(i)<<40) })
	}
	wg.Wait()
	return list, cmp.Or(errs...)
}

// ends are predictions for the middle and both ends of the interval of a doubt, made
// with the same random numbers, so that what differs is its effect.
type ends struct {
	doubt             int
	low, middle, high Figures
}

// An effect is what a doubt does to all models together, those that are stable then.
type effect struct{ low, middle, high []Figures }

func effects(models [drawn][]ends) (list [len(doubts)]effect) {
	for _, ends := range models {
		for _, e := range ends {
			x := &list[e.doubt]
			if e.middle.Stable {
				x.low, x.middle = append(x.low, e.low), append(x.middle, e.middle)
			}
			if e.high.Stable {
				x.high = append(x.high, e.high)
			}
		}
	}
	return list
}

// ends are those of all that the model leaves open.
func (m *Model) ends(ctx context.Context, s Settings, seed uint64) (list []ends, err error) {
	load, _ := m.demand(s)
	e := effort{replicas: 1, events: rough.events, patience: surer.patience}.near(load)
	e.patience = 1 // as many events at both ends
	for i, d := range doubts {
		deviation := d.deviation(m)
		if deviation == 0 {
			continue
		}
		var at [3]Figures
		for k, times := range []float64{-z975, 0, z975} {
			p := m.alone(0)
			d.scale(p, max(0.5, 1+times*deviation))
			if at[k], err = p.predict(ctx, s, e, seed+uint64(i)); err != nil {
				return nil, err
			}
		}
		list = append(list, ends{i, at[0], at[1], at[2]})
	}
	return list, nil
}

// full tells whether the load may well exceed what there is, as rate and service time
// may be so high: together, as doubtful as either may be at its end.
func (m *Model) full(s Settings) bool {
	for k := range drawn {
		p := m.alone(k)
		rate, service := doubts[0].deviation(p), doubts[1].deviation(p)
		both := math.Hypot(rate, service) // never 0, since no rate is certain
		p.scale(1+z975*rate*rate/both, 1+z975*service*service/both)
		if load, _ := p.demand(s); load >= 1 {
			return true
		}
	}
	return false
}

// apart is the variance of models, of each of which several simulations with
// different random numbers tell the level, without what the simulations scatter.
func apart(levels [][]float64) float64 {
	var means []float64
	scatter, n := 0.0, 0.0
	for _, list := range levels {
		if len(list) == 0 {
			continue
		}
		mean := 0.0
		for _, y := range list {
			mean += y / float64(len(list))
		}
		means = append(means, mean)
		if len(list) > 1 {
			_, deviation := moments(list)
			scatter += deviation * deviation / float64(len(list))
			n++
		}
	}
	if len(means) < 2 || n == 0 {
		return 0
	}
	_, deviation := moments(means)
	return max(0, deviation*deviation-scatter/n)
}

// z975 is the 97.5th percentile of the standard normal distribution.
const z975 = 1.959963984540054

// student7 is that of Student's t with 7 degrees of freedom: how far apart models
// are is known from eight that are drawn.
const student7 = 2.364624251592785
