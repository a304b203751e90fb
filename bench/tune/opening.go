package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/loadgen/durations"
)

// doubted widens the intervals of a prediction by what the data leave open of
// the rate, the service time and the size of sweeps, and of the form of both: by
// how far the models are apart that explain the measurement. These are independent,
// so their squares add up: downwards of logarithms, and upwards, where some models see no
// wait and others a long one, of seconds.
func (m *Model) doubted(ctx context.Context, f Figures, seed uint64) (Figures, error) {
	if !f.Stable || m.Observations == 0 {
		return f, nil
	}
	o, err := m.openTo(ctx, f.Settings, seed)
	if err != nil {
		return f, err
	}
	for _, q := range []struct {
		to *Quantiles
		of func(Figures) Quantiles
	}{
		{&f.Wait, func(g Figures) Quantiles { return g.Wait }},
		{&f.Settle, func(g Figures) Quantiles { return g.Settle }},
		{&f.Work, func(g Figures) Quantiles { return g.Work }},
	} {
		open := o.quantiles(q.to, 1e-9+0.01*m.Busy, q.of)
		if q.to == &f.Wait {
			f.open = open
		}
	}
	o.mean(&f.Depth, 1e-3, func(g Figures) Interval { return g.Depth })
	o.mean(&f.Utilisation, 1e-9, func(g Figures) Interval { return g.Utilisation })
	f.Utilisation.High = min(1, f.Utilisation.High)
	o.mean(&f.CallRate, 1e-9, func(g Figures) Interval { return g.CallRate })
	if qps := f.Settings.QPS; qps > 0 {
		f.CallRate.High = min(f.CallRate.High, max(qps, f.CallRate.Mean))
	}
	o.mean(&f.QueueCores, 1e-15, func(g Figures) Interval { return g.QueueCores })
	return f, nil
}

// An opening is what the data leave open of a prediction.
type opening struct {
	forms    bool          // there are several models
	ends     [drawn][]ends // of each model
	others   []Figures     // of models that explain the measurement as well
	longest  *Figures      // the most that waits may come to; nil: no such thing
	lasting  bool
	unstable bool // the load may exceed what there is
}

func (m *Model) openTo(ctx context.Context, s Settings, seed uint64) (o opening, err error) {
	o.forms = len(m.samples) > 0
	var errs [drawn]error
	var wg sync.WaitGroup
	for k := range drawn {
		wg.Go(func() { o.ends[k], errs[k] = m.alone(k).ends(ctx, s, seed+uint64(k)<<32) })
	}
	wg.Wait()
	if err := cmp.Or(errs[:]...); err != nil {
		return o, err
	}
	if o.others, err = m.others(ctx, s, seed); err != nil {
		return o, err
	}
	longest, bounded, err := m.longest(ctx, s, seed)
	if bounded {
		o.longest = &longest
	}
	o.lasting = m.lasting(s)
	o.unstable = m.full(s) || o.lasting && !bounded
	return o, err
}

// widen widens the interval of a figure, of which logarithms count from least on.
func (o *opening) widen(x *Interval, least float64, of func(...Figures) float64) openness {
	log := func(f Figures) float64 { return math.Log(least + of(f)) }
	from := least + x.Mean
	forms, higher, unstable := o.apart(from, least, of)
	below, rise := 0.0, 0.0
	for _, e := range effects(o.ends) {
		// Near a limit most simulations see no wait and some a long one: what all of
		// them together say differs, not each from its like.
		down := max(0, of(e.middle...)-of(e.low...))
		below = math.Hypot(below, math.Log(from/(least+max(0, x.Mean-down))))
		rise = math.Hypot(rise, max(0, of(e.high...)-of(e.middle...)))
	}
	own := math.Log(from / (least + max(0, x.Low)))
	x.Low = max(0, from/math.Exp(math.Hypot(own, math.Hypot(forms, below)))-least)
	x.High = x.Mean + math.Hypot(x.High-x.Mean, math.Hypot(higher, rise))
	for _, g := range o.others {
		if unstable = unstable || !g.Stable; g.Stable {
			x.Low, x.High = min(x.Low, of(g)), max(x.High, of(g))
			forms = max(forms, math.Abs(log(g)-math.Log(from)))
		}
	}
	if o.longest != nil {
		x.Low, x.High = min(x.Low, of(*o.longest)), max(x.High, of(*o.longest))
	}
	if x.High < 1e-9 {
		x.High = 0 // not the rounding's
	}
	if unstable {
		x.High = unbounded
	}
	amounts := max(below, math.Log1p(rise/from))
	return openness{amounts: amounts * amounts, forms: forms * forms, lasting: o.lasting}
}

// apart is how far the models are apart: downwards as a logarithm, and upwards; and whether
// one of them may not be stable.
func (o *opening) apart(from, least float64, of func(...Figures) float64) (forms, higher float64, unstable bool) {
	levels, ratios := make([][]float64, drawn), make([][]float64, drawn)
	unstable = o.unstable
	for k, list := range o.ends {
		for _, e := range list {
			unstable = unstable || !e.high.Stable
			if e.middle.Stable {
				levels[k], ratios[k] = append(levels[k], of(e.middle)), append(ratios[k], math.Log(least+of(e.middle)))
			}
		}
	}
	if !o.forms {
		return 0, 0, unstable
	}
	forms = student7 * math.Sqrt(apart(ratios))
	higher = from * math.Expm1(forms)
	if slices.ContainsFunc(slices.Concat(levels...), func(x float64) bool { return x < least }) {
		// Where some see no wait, ratios tell no upper end.
		higher = min(higher, student7*math.Sqrt(apart(levels)))
	}
	return forms, higher, unstable
}

// quantiles widens those of a duration and tells what the 99th percentile's interval is due to.
func (o *opening) quantiles(to *Quantiles, least float64, of func(Figures) Quantiles) openness {
	at := func(p float64) func(...Figures) float64 {
		return func(list ...Figures) float64 {
			if len(list) == 1 {
				return of(list[0]).at(p)
			}
			var pools []durations.Histogram
			for _, g := range list {
				pools = append(pools, of(g).pools...)
			}
			return quantile(durations.Pooled(pools), p)
		}
	}
	o.widen(&to.Mean, least, at(-1))
	o.widen(&to.P50, least, at(0.5))
	o.widen(&to.P90, least, at(0.9))
	o.widen(&to.P999, least, at(0.999))
	return o.widen(&to.P99, least, at(0.99))
}

// mean widens a figure that is no quantile.
func (o *opening) mean(x *Interval, least float64, of func(Figures) Interval) {
	o.widen(x, least, func(list ...Figures) (sum float64) {
		for _, g := range list {
			sum += of(g).Mean / float64(len(list))
		}
		return sum
	})
}
