package tune

import (
	"cmp"
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// A candidate is one of several explanations of what was measured.
type candidate struct {
	arrivals loadgen.Arrivals
	flow     flow // of arrivals; zero: as these say
	keys     int
	skew     loadgen.Skew // of the keys
	shape    shape
	callers  callers
	log      float64 // of its probability, but for a constant
}

// hot tells whether some keys change more often than in another.
func (c candidate) hot(than candidate) bool { return c.keys < than.keys || c.skew != than.skew }

// form is a kind of arrivals.
func (c candidate) form() string {
	switch y := c.flow; {
	case c.keys < keysUnknown || c.skew.S > 0:
		return "keys"
	case y.levels.events > 0:
		return "levels"
	case y.size > 0:
		return "sweeps"
	case y.rates != nil:
		return "profile"
	case y.own():
		return "clusters"
	}
	return c.arrivals.Kind
}

// highest is the rate of arrivals in its bursts, if these last.
func (c candidate) highest() float64 {
	switch l := c.flow.levels; {
	case c.flow.rates != nil:
		return 0 // how long they last is known
	case l.events > 0:
		high, _ := l.rates(c.arrivals.Rate)
		return high
	case c.arrivals.Kind == "onoff":
		return c.arrivals.Rate * cycleOf(c.arrivals).Seconds() / c.arrivals.On.Mean()
	}
	return 0
}

// rivals are the likeliest of each form of which none is among the samples, though it
// explains what was measured too. Which grid of forms comes nearest to the truth by
// chance decides between these: intervals hold what each of them predicts.
func rivals(all []candidate, tried []outcome, samples []candidate) (list []candidate) {
	likeliest := map[string]candidate{}
	for i, c := range all {
		if first, ok := likeliest[c.form()]; tried[i].score <= surely && (!ok || c.log > first.log) {
			likeliest[c.form()] = c
		}
	}
	for _, form := range slices.Sorted(maps.Keys(likeliest)) {
		if !slices.ContainsFunc(samples, func(c candidate) bool { return c.form() == form }) {
			list = append(list, likeliest[form])
		}
	}
	return list
}

// drawn is how many candidates, equally likely ones, stand for all.
const drawn = 8

// posterior keeps candidates by their probability, of which they hold what was
// thought before they were tried: predictions are over all of them. The likeliest
// becomes the model. All were tried at the measured rate of arrivals; what might
// as well have come about at others is the likelier for it.
func (f *fit) posterior(all []candidate, tried []outcome) outcome {
	for i, log := range logLikelihoods(tried) {
		all[i].log += log + math.Log(tried[i].drift)
	}
	first := 0
	for i, c := range all {
		if c.log > all[first].log {
			first = i
		}
	}
	best := all[first]
	sum := 0.0
	for _, c := range all {
		sum += math.Exp(c.log - best.log)
	}
	m := f.Model
	m.samples = nil
	below, next := 0.0, 0
	for _, c := range all {
		below += math.Exp(c.log-best.log) / sum
		for ; next < drawn && (float64(next)+0.5)/drawn < below; next++ {
			m.samples = append(m.samples, c)
		}
	}
	m.take(best)
	return tried[first]
}

// take makes a candidate the model.
func (m *Model) take(c candidate) {
	r := &m.Spec.Resources[0]
	r.Events.Arrivals, r.Count, r.Skew, m.flow = c.arrivals, c.keys, c.skew, c.flow
	if m.Calls > 0 {
		m.calledBy(c.callers)
	}
	m.setService(c.shape, 1)
}

// now is the model as a candidate.
func (m *Model) now() candidate {
	r := m.Spec.Resources[0]
	return candidate{arrivals: r.Events.Arrivals, keys: r.Count, skew: r.Skew, flow: m.flow, shape: m.shape, callers: m.callers}
}

// alone is a copy of the model that one candidate, if there are any, stands for.
func (m *Model) alone(sample int) *Model {
	p := *m
	spec := *m.Spec
	spec.Resources = slices.Clone(spec.Resources)
	p.Spec, p.samples, p.rivals, p.divided = &spec, nil, nil, nil
	if len(m.samples) > 0 {
		p.take(m.samples[sample%len(m.samples)])
	}
	return &p
}

// scale makes it the model of another load.
func (m *Model) scale(rate, service float64) {
	m.Spec.Resources[0].Events.Arrivals.Rate *= rate
	m.setService(m.shape, service)
	m.ArrivalRate *= rate
	m.AddRate *= rate
	m.Offered *= rate * service
}

// simulateAll divides the effort among the candidates.
func (m *Model) simulateAll(ctx context.Context, s Settings, e effort, seed uint64) ([]sim.Result, error) {
	results, errs := make([][]sim.Result, len(m.samples)), make([]error, len(m.samples))
	each := effort{replicas: max(1, e.replicas/len(m.samples)), events: e.events}
	each.events = e.replicas * e.events / len(m.samples) / each.replicas
	var wg sync.WaitGroup
	for i := range m.samples {
		wg.Go(func() { results[i], errs[i] = m.alone(i).simulate(ctx, s, each, seed+uint64(i)<<32) })
	}
	wg.Wait()
	return slices.Concat(results...), cmp.Or(errs...)
}

// groups are the results of the candidates with the same arrivals.
func (m *Model) groups(results []sim.Result) [][]sim.Result {
	if len(m.samples) == 0 {
		return [][]sim.Result{results}
	}
	var list [][]sim.Result
	each := len(results) / len(m.samples)
	for i, c := range m.samples {
		if r := results[i*each : (i+1)*each]; i > 0 && c.keys == m.samples[i-1].keys && c.skew == m.samples[i-1].skew && reflect.DeepEqual(c.arrivals, m.samples[i-1].arrivals) && reflect.DeepEqual(c.flow, m.samples[i-1].flow) {
			list[len(list)-1] = append(list[len(list)-1], r...)
		} else {
			list = append(list, slices.Clone(r))
		}
	}
	return list
}
