package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
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
