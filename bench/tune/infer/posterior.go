package infer

import (
	"math"
	"math/rand/v2"

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

// one is a draw and whose.
type one struct {
	draw
	of *explored
}

// weighed are the draws of all families.
func weighed(all []*explored, seed uint64) (list []one) {
	draws := make([][]draw, len(all))
	_ = parallel(len(all), func(i int) error { // none fails
		draws[i] = all[i].weigh(rand.New(rand.NewPCG(seed, uint64(i)+5)))
		return nil
	})
	for i, e := range all {
		for _, d := range draws[i] {
			list = append(list, one{d, e})
		}
	}
	return list
}

// sample takes n of them by their probability.
func sample(list []one, n int) []one {
	top, sum := math.Inf(-1), 0.0
	for _, x := range list {
		top = max(top, x.log)
	}
	for _, x := range list {
		sum += math.Exp(x.log - top)
	}
	var chosen []one
	below := 0.0
	for _, x := range list {
		for below += math.Exp(x.log-top) / sum * float64(n); float64(len(chosen))+0.5 < below; {
			chosen = append(chosen, x)
		}
	}
	return chosen
}

// posterior refines what is likely, and draws from it. If the context ends it is of what was
// simulated by then, with the context's error.
func posterior(all []*explored, seed uint64, rounds uint64) (*Posterior, error) {
	var cut error
	for round := range rounds {
		if cut = refine(all, seed+round); cut != nil {
			break
		}
	}
	list := weighed(all, seed+2)
	p := &Posterior{Families: map[string]float64{}}
	chosen := sample(list, kept)
	weights := map[*explored]float64{}
	r := rand.New(rand.NewPCG(seed, 7))
	for _, x := range chosen {
		s := x.of.system(x.draw)
		if s.Arrivals.Kind == model.Measured {
			s.Rate *= math.Exp(r.NormFloat64() * x.of.x.drift())
		}
		p.Members = append(p.Members, Member{s, x.of.name})
		p.Families[x.of.name] += 1 / float64(len(chosen))
		p.Works = append(p.Works, x.of.x.works[x.work].CV)
		p.Whole = p.Whole || x.of.x.works[x.work].Whole
		if weights[x.of]++; weights[x.of] == 1 {
			p.Likely = append(p.Likely, x.of.x.calls)
		}
		if p.most == nil || weights[x.of] > weights[p.most] {
			p.most = x.of
		}
	}
	p.Calls = p.most.x.calls
	if cut != nil {
		p.Odd = 1 // nobody looked
		return p, cut
	}
	p.Odd, cut = odd(chosen)
	return p, cut
}

// refine simulates more members where they are probable, and around.
func refine(all []*explored, seed uint64) error {
	byFamily := map[*explored][]draw{}
	r := rand.New(rand.NewPCG(seed, 6))
	for _, x := range sample(weighed(all, seed), refined) {
		d := x.of.draw(r, x.at, x.of.around(x.at, 1))
		d.work = x.work
		d.rate, d.mean = (d.rate+x.rate)/math.Sqrt2, (d.mean+x.mean)/math.Sqrt2
		if x.of.valued {
			x.of.put(&d, (d.away+x.away)/math.Sqrt2)
		}
		byFamily[x.of] = append(byFamily[x.of], d)
	}
	for _, e := range all {
		if err := e.train(byFamily[e]); err != nil {
			return err
		}
	}
	return nil
}

// odd simulates members once more: how many of the simulations are as far from what is
// expected of their member as the measurement is.
func odd(chosen []one) (float64, error) {
	further := make([]float64, len(chosen))
	by := chosen[0].of.x.by()[0]
	places := map[*explored][]*surface{}
	for _, c := range chosen {
		if places[c.of] == nil {
			places[c.of] = c.of.places()
		}
	}
	err := parallel(len(chosen), func(i int) error {
		c := chosen[i]
		s := places[c.of][int(math.Round(c.at*finer))]
		system := c.of.system(c.draw)
		y, _, err := c.of.x.simulate(&system, c.of.x.seed+uint64(i)*104729+9)
		if err != nil {
			return err
		}
		offsets := c.of.offsets(c.draw)
		if s.distance(y, offsets)*by >= s.distance(c.of.x.y.want, offsets) {
			further[i] = 1
		}
		return nil
	})
	mean, _ := moments(further)
	return mean, err
}
