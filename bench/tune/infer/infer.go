// Package infer finds out which loads explain what was measured of a queue. Its steps, in order:
//
//  1. A measurement and a simulation are made comparable: means, shares of the waits up to the
//     buckets' bounds, and of a series of scrapes how much the counts vary over windows
//     of several lengths (figures.go).
//  2. The work's shape follows from its histogram (package service), beside what the API calls
//     take (calls.go).
//  3. The table of families says which loads may be (families.go). One explorer tries each: for
//     shares over its range it solves for the value with which keys wait as long as was
//     measured, and simulates members around (explorer.go, explore.go).
//  4. Regressions on these simulations say which figures to expect of any member and how they
//     scatter (regress.go), so how probable each is: [Posterior].
//  5. Arrivals at random are tried first. If they explain what was measured, no bursts are; and if
//     these do, the measured rates are not.
package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/model"
)

// Explain finds the posterior of a load. Which calls its reconciles make may be open: each of the
// list is tried with arrivals at random, and the most probable one with others. If the context
// ends before all was tried, it is of what was, with the context's error.
func Explain(ctx context.Context, m *Measured, calls []Calls, seed uint64, progress func(string)) (*Posterior, error) {
	all, err := atRandom(ctx, m, calls, seed, progress)
	if err != nil {
		return nil, err
	}
	p, err := posterior(all, seed, 1)
	if err != nil {
		return nil, err
	}
	x := p.most.x
	more, err := x.others(p)
	if len(more) == 0 {
		return p, err
	}
	q, err := posterior(append(all, more...), seed, 2)
	if err != nil || q.Odd >= explains {
		return q, err
	}
	if x.calls.throttled(m) && q.Families[random.name] < 0.5 {
		// The calls of bursts wait otherwise than those of arrivals at random, which were
		// taken from the work.
		again, bursts := *x, x.base
		bursts.Arrivals, bursts.Rate = q.Members[0].System.Arrivals, q.Members[0].System.Rate
		again.takes(bursts)
		if more, err = again.others(p); err != nil {
			return q, err
		}
		return posterior(append(all, more...), seed, 2)
	}
	if len(x.y.windows) == 0 || m.Overloaded {
		return q, nil
	}
	// Where nothing else explains a series, the measured rates are believed if they do so better.
	last, err := x.explore(&asMeasured)
	if err != nil {
		return q, err
	}
	r, err := posterior(slices.Concat(all, more, last), seed, 2)
	if err != nil || r.Odd <= q.Odd {
		return q, err
	}
	return r, nil
}

// atRandom explores arrivals at random with all calls that are possible.
func atRandom(ctx context.Context, m *Measured, calls []Calls, seed uint64, progress func(string)) (all []*explored, err error) {
	for _, c := range calls {
		list := []Calls{c}
		if c.Untimed {
			list = newExplorer(ctx, m, c, seed, progress).untimed()
		}
		for _, c := range list {
			x := newExplorer(ctx, m, c, seed, progress)
			x.own()
			x.takes(x.base)
			e, err := x.explore(&random)
			if err != nil {
				return nil, err
			}
			all = append(all, e...)
		}
	}
	return all, nil
}

// others explores what else may explain a measurement: bursts only where arrivals at random
// don't.
func (x *explorer) others(p *Posterior) ([]*explored, error) {
	var more []*family
	if x.m.Keys == 0 && !x.m.Grown && !x.calls.throttled(x.m) {
		more = append(more, &fewKeys)
	}
	if p.Odd < explains && x.m.Keys > 0 && !x.m.Grown {
		more = append(more, &popular)
	}
	if p.Odd < explains && !x.m.Overloaded {
		waits := 0.0 // mean of their logarithms
		for _, y := range p.most.points {
			waits += y.y[0] / float64(len(p.most.points))
		}
		if waits > x.y.want[0] {
			more = append(more, &evener)
		} else {
			more = append(more, bursts...)
		}
	}
	return x.explore(more...)
}

// profile are the measured rates. A part of the variance of the counts is the rates': what
// random arrivals and batches alone do is in the rest.
func (x *explorer) profile(part, size float64) model.Arrivals {
	a := model.Arrivals{Kind: model.Measured, Size: size, Spans: x.y.spans}
	adds, seconds := 0.0, 0.0
	for _, s := range x.m.Steps {
		adds, seconds = adds+s.Adds, seconds+s.Span
	}
	excess := dispersion(x.y.adds, x.y.spans, x.y.windows[0])
	shrunk := math.Sqrt(part * max(0, 1-1/excess))
	sum := 0.0
	for _, s := range x.m.Steps {
		rate := max(0, 1+shrunk*(s.Adds/s.Span/(adds/seconds)-1))
		a.Rates = append(a.Rates, rate)
		sum += rate * s.Span
	}
	for i := range a.Rates {
		a.Rates[i] *= seconds / sum
	}
	return a
}

// drift is the standard deviation of the logarithm of the rate in the long run, of which measured
// rates tell nothing else.
func (x *explorer) drift() float64 {
	all := 0.0
	for _, n := range x.y.adds {
		all += n
	}
	return math.Sqrt(dispersion(x.y.adds, x.y.spans, x.y.windows[len(x.y.windows)-1]) / all)
}

// rateOfPopular is the rate of arrivals with which as many are added as measured. A key is added
// again when it has been taken and has changed, and then waits as any does and for what is left
// of its own work: the last is taken to be exponential.
func (x *explorer) rateOfPopular(upTo []float64) float64 {
	work, wait := x.m.Work.Mean(), x.m.Wait.Mean()
	adds := func(rate float64) float64 {
		sum, before := 0.0, 0.0
		for _, end := range upTo {
			own := rate * (end - before)
			sum += own / (1 + own*(wait+work*own*work/(1+own*work)))
			before = end
		}
		return sum
	}
	low, high := x.rate, 100*x.rate
	for range 40 {
		if middle := (low + high) / 2; adds(middle) < x.rate {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Predict simulates every so many-th member under a controller, of so many arrivals each or, where
// bursts are rare, of up to ten times as many; the load is so many times as much. What a
// controller can't carry has no result.
func (p *Posterior) Predict(ctx context.Context, c model.Controller, every, arrivals int, load float64, seed uint64) ([]*model.Result, error) {
	list := make([]*model.Result, (len(p.Members)+every-1)/every)
	return list, parallel(ctx, len(list), func(i int) {
		s := p.Members[i*every].System
		if s.Rate *= load; s.Load(c) >= 1 {
			return
		}
		length := float64(arrivals) / s.Rate
		length = min(max(length, 60*s.Arrivals.Period(s.Rate)), 10*length)
		warmup := length / 10
		if s.Keys > 0 {
			warmup = min(max(warmup, 5*float64(s.Keys)/s.Rate), 5*length)
		}
		list[i], _ = s.Run(ctx, c, model.Plan{Warmup: warmup, Length: length, Seed: rand.New(rand.NewPCG(seed, uint64(i*every))).Uint64()})
	})
}
