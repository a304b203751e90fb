package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/model"
)

// A Member of a posterior.
type Member struct {
	System model.System
	Family string
}

// A Posterior is what may have been measured.
type Posterior struct {
	Members  []Member           // equally likely ones
	Families map[string]float64 // probabilities
	Odd      float64            // how probable it is that a measurement is as far from what is expected
	Calls    Calls              // the most probable ones
	Likely   []Calls            // those of all members
	Works    []float64          // coefficients of variation of the members' work
	Whole    bool               // they are of the calls' latencies, too

	most *explored // the most probable
}

// weighed are the draws of all families.
func weighed(all []*explored, seed uint64) []draw {
	draws := make([][]draw, len(all))
	_ = parallel(context.Background(), len(all), func(i int) { // which doesn't end
		draws[i] = all[i].weigh(rand.New(rand.NewPCG(seed, uint64(i)+5)))
	})
	return slices.Concat(draws...)
}

// sample takes n draws by their probability.
func sample(list []draw, n int) (chosen []draw) {
	w, sum, _ := weights(list, func(d draw) float64 { return d.log })
	below := 0.0
	for i, d := range list {
		for below += w[i] / sum * float64(n); float64(len(chosen))+0.5 < below; {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// posterior refines what is likely, and draws from it. If the context ends it is of what was
// simulated by then, with the context's error.
func posterior(all []*explored, seed uint64, rounds int) (p *Posterior, err error) {
	for round := 0; round < rounds && err == nil; round++ {
		err = refine(all, seed+uint64(round))
	}
	p = &Posterior{Families: map[string]float64{}, Odd: 1} // until somebody looks
	chosen := sample(weighed(all, seed+2), kept)
	count := map[*explored]int{}
	r := rand.New(rand.NewPCG(seed, 7))
	for _, d := range chosen {
		e, s := d.of, d.system()
		if s.Arrivals.Kind == model.Measured {
			s.Rate *= math.Exp(r.NormFloat64() * e.x.drift())
		}
		p.Members = append(p.Members, Member{*s, e.name})
		p.Families[e.name] += 1 / float64(len(chosen))
		p.Works = append(p.Works, e.x.works[d.work].CV)
		p.Whole = p.Whole || e.x.works[d.work].Whole
		if count[e]++; count[e] == 1 {
			p.Likely = append(p.Likely, e.x.calls)
		}
		if p.most == nil || count[e] > count[p.most] {
			p.most = e
		}
	}
	p.Calls = p.most.x.calls
	if err == nil {
		p.Odd, err = odd(chosen)
	}
	return p, err
}

// refine simulates more members where they are probable, and around.
func refine(all []*explored, seed uint64) error {
	byFamily := map[*explored][]draw{}
	r := rand.New(rand.NewPCG(seed, 6))
	for _, like := range sample(weighed(all, seed), refined) {
		e := like.of
		d := e.draw(r, like.at, e.around(like.at, 1))
		d.work = like.work
		for i := range d.off {
			d.off[i] = (d.off[i] + like.off[i]) / math.Sqrt2
		}
		e.put(&d)
		byFamily[e] = append(byFamily[e], d)
	}
	for _, e := range all {
		if err := e.train(byFamily[e]); err != nil {
			return err
		}
	}
	return nil
}

// odd simulates members once more: how many of the simulations are as far from what is
// expected of their member as the measurement is, or lie outside of all others in as many figures,
// whichever is less. Around work of a heavy tail nearly nothing is far.
func odd(chosen []draw) (float64, error) {
	further, outside := make([]float64, len(chosen)), make([]float64, len(chosen))
	list := make([][]float64, len(chosen))
	first := chosen[0].of.x
	err := parallel(first.ctx, len(chosen), func(i int) {
		d, x := chosen[i], chosen[i].of.x
		list[i], _ = x.simulate(d.system(), x.seed+uint64(i)*104729+9)
		if d.surface.distance(list[i], d.offsets())*first.y.part >= d.surface.distance(x.y.want, d.offsets()) {
			further[i] = 1
		}
	})
	if err != nil {
		return 1, err
	}
	measured := extremes(first.y.want, list)
	for i, y := range list {
		if extremes(y, slices.Concat(list[:i], list[i+1:])) >= measured {
			outside[i] = 1
		}
	}
	p, _ := moments(further)
	q, _ := moments(outside)
	return min(p, q), nil
}

// extremes is in how many figures one lies outside of all others. With other calls a simulation may
// be too short for the last of the figures.
func extremes(y []float64, others [][]float64) (n int) {
	for f := range y {
		low, high := math.Inf(1), math.Inf(-1)
		for _, other := range others {
			if f < len(other) {
				low, high = min(low, other[f]), max(high, other[f])
			}
		}
		if low <= high && (y[f] < low || y[f] > high) {
			n++
		}
	}
	return n
}
