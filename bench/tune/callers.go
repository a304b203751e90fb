package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// callers says which reconciles make the API calls of which the counters hold the sum.
// The zero callers make all as many, but for those to which a part of a call falls.
type callers struct {
	each   float64 // so many make some of them and none the others
	spread bool    // one at least, and another with the same probability after each
	chance bool    // each makes any number, as chance has it (Poisson)
}

// shares are the probabilities of 0, 1, 2 and more calls, of that mean.
func (c callers) shares(mean float64) []float64 {
	switch {
	case c.each > mean:
		list := make([]float64, int(c.each)+1)
		list[0], list[len(list)-1] = 1-mean/c.each, mean/c.each
		return list
	case c.chance:
		list := []float64{math.Exp(-mean)}
		for left := 1 - list[0]; left > 1e-3; left -= list[len(list)-1] {
			list = append(list, list[len(list)-1]*mean/float64(len(list)))
		}
		return normalised(list)
	case c.spread && mean > 1:
		list := []float64{0}
		left, again := 1.0, 1-1/mean
		for ; left > 1e-3; left *= again {
			list = append(list, left*(1-again))
		}
		list[len(list)-1] += left
		return list
	}
	below, part := math.Modf(mean)
	if part < 0.005 {
		part = 0
	} else if part > 0.995 {
		below, part = below+1, 0
	}
	list := make([]float64, int(below)+2)
	list[int(below)], list[int(below)+1] = 1-part, part
	return list
}

// normalised makes probabilities of what is in proportion to them.
func normalised(list []float64) []float64 {
	sum := 0.0
	for _, p := range list {
		sum += p
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// of is the distribution of that mean.
func (c callers) of(mean float64) randvar.Dist {
	if mean == 0 {
		return randvar.Dist{}
	}
	const jump = 1e-6
	var at, calls []float64
	point := func(p float64, n int) { at, calls = append(at, p), append(calls, float64(n)) }
	below, last := 0.0, 0
	for n, p := range c.shares(mean) {
		if p < 2*jump {
			continue
		}
		if below > 0 {
			point(below+jump, n)
		} else {
			point(0, n)
		}
		if below, last = below+p, n; below < 1-2*jump {
			point(below, n)
		}
	}
	point(1, last)
	d, err := randvar.Quantiles(at, calls)
	if err != nil {
		return randvar.Constant(mean).Numbers() // which all of them make
	}
	return d.Numbers()
}

// whoCalls are the callers that may be, the plain ones first. Where the calls are a whole
// number to a reconcile, but for those under way, each made as many.
func (f *fit) whoCalls() []callers {
	list := []callers{{}}
	under := 2 * float64(f.current.Workers) * math.Ceil(f.Calls)
	if f.Background > 0 || math.Abs(f.Calls-math.Round(f.Calls))*f.Observations <= max(under, 10) {
		return list
	}
	for _, n := range []float64{2, 3, 5, 8, 12, 20, 30, 50} {
		if n > 1.05*f.Calls {
			list = append(list, callers{each: n})
		}
		if len(list) == 5 {
			break
		}
	}
	list = append(list, callers{chance: true})
	if f.Calls > 1.1 {
		list = append(list, callers{spread: true})
	}
	return list
}

// behindLimit are the shapes of service that are likely when the waits for the client's
// limit are taken from the work. Who makes the calls decides how far these wait
// together and for which work, so that several callers that explain the
// measurement come with their shapes each.
func (f *fit) behindLimit(ctx context.Context, t trial, progress func(string)) ([]likely, error) {
	const most = 14
	who := f.whoCalls()
	if len(who) == 1 {
		shapes, err := f.unthrottled(ctx, t, progress)
		return divided(shapes, most, true), err
	}
	type form struct {
		callers
		service serviceFit
		log     float64
	}
	var forms []form
	var tried []outcome
	for i, c := range who {
		f.calledBy(c)
		if _, err := f.unthrottled(ctx, t, progress); err != nil {
			return nil, err
		}
		x, err := t.run(ctx)
		if err != nil {
			return nil, err
		}
		log := math.Log(0.5)
		if i > 0 {
			log -= math.Log(float64(len(who) - 1))
		}
		forms, tried = append(forms, form{c, f.service, log}), append(tried, x)
	}
	for i, log := range logLikelihoods(tried) {
		forms[i].log += log
	}
	slices.SortStableFunc(forms, func(a, b form) int { return cmp.Compare(b.log, a.log) })
	forms = slices.DeleteFunc(forms, func(x form) bool { return x.log < forms[0].log-5 })
	forms = forms[:min(3, len(forms))]
	var list []likely
	for _, x := range forms {
		for _, s := range divided(x.service.plausible, most/len(forms), true) {
			s.callers = x.callers
			list = append(list, s)
		}
	}
	f.calledBy(forms[0].callers)
	f.service = forms[0].service
	f.setService(f.service.shape, 1)
	return list, nil
}

// whoseWork is who makes the calls as far as the work tells, where hardly any waits for a
// limit: work with the calls of all would have a form that it has not.
func (f *fit) whoseWork() {
	who := f.whoCalls()
	if len(who) == 1 || f.CallLatency == 0 {
		return
	}
	was := f.service
	top := math.Inf(-1)
	var found []serviceFit
	for _, c := range who {
		f.calledBy(c)
		s := fitService(f.work, f.Model, f.latencies(), false)
		if s.whole || len(s.plausible) == 0 {
			continue // nothing but the histogram itself explains it
		}
		for i := range s.plausible {
			s.plausible[i].callers = c
			top = max(top, s.plausible[i].log)
		}
		for i := range s.rather {
			s.rather[i].callers = c
		}
		found = append(found, s)
	}
	f.calledBy(callers{})
	f.service = was
	for i, s := range found {
		best := slices.MaxFunc(s.plausible, func(a, b likely) int { return cmp.Compare(a.log, b.log) })
		if best.log == top {
			s.plausible = nil
			for _, other := range found {
				s.plausible = append(s.plausible, slices.DeleteFunc(other.plausible, func(x likely) bool { return x.log < top-4 })...)
			}
			f.service = found[i]
			f.service.plausible = s.plausible
			f.become(best)
			return
		}
	}
}

// calledBy changes who makes the calls.
func (m *Model) calledBy(c callers) {
	m.callers = c
	m.Spec.Reconcile.Calls = c.of(m.Calls)
}

// become gives the work a likely shape, and its callers.
func (f *fit) become(s likely) {
	if f.Calls > 0 {
		f.calledBy(s.callers)
	}
	f.setService(s.shape, 1)
}
