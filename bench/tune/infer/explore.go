package infer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/model"
)

// A node is a share of a family for which the value was solved.
type node struct {
	solved bool    // it was tried to
	ok     bool    // there is such a value
	value  float64 // with which keys wait as long as was measured
	around float64 // standard deviation of the values that do as well
	drift  float64 // the same of the logarithm of the rate
}

// An explored family.
type explored struct {
	*family
	x      *explorer
	shares []float64 // the family's, and more where the value changes fast
	nodes  []node
	points []point
}

// explore simulates a family's members that are near what was measured.
func (x *explorer) explore(f *family) (*explored, error) {
	e := &explored{family: f, x: x, shares: slices.Clone(f.shares), nodes: make([]node, max(1, len(f.shares)))}
	x.progress(f.name)
	if err := parallel(len(e.nodes), e.solve); err != nil {
		return nil, err
	}
	for f.valued && e.insert() {
		if err := parallel(len(e.nodes), e.solve); err != nil {
			return nil, err
		}
	}
	list := make([]draw, 0, trained*len(e.nodes))
	r := rand.New(rand.NewPCG(x.seed, uint64(len(f.name))))
	n := trained
	switch {
	case f.shares == nil:
		n *= 3
	case !f.valued:
		n /= 2 // they lie closer
	}
	for i, node := range e.nodes {
		for k := 0; node.ok && k < n; k++ {
			at := float64(i) + r.Float64() - 0.5
			at = min(max(at, 0), float64(len(e.nodes)-1))
			list = append(list, e.draw(r, at, e.around(at, 1.5)))
		}
	}
	return e, e.train(list)
}

// insert adds shares between two of which only one has a value, or whose values are far apart:
// where a burst is just more than the workers can do, a little more of it makes keys wait for much
// longer. It tells whether there are any.
func (e *explored) insert() bool {
	const apart = 1.2 // of logarithms
	var shares []float64
	var nodes []node
	for i, n := range e.nodes {
		if shares, nodes = append(shares, e.shares[i:min(i+1, len(e.shares))]...), append(nodes, n); i == len(e.nodes)-1 {
			break
		}
		next := e.nodes[i+1]
		far := n.ok != next.ok || n.ok && math.Abs(n.value-next.value) > apart
		if far && e.shares[i+1]-e.shares[i] > 0.03*e.shares[i] {
			shares, nodes = append(shares, (e.shares[i]+e.shares[i+1])/2), append(nodes, node{})
		}
	}
	more := len(nodes) > len(e.nodes) && len(nodes) < mostShares
	if more {
		e.shares, e.nodes = shares, nodes
	}
	return more
}

// share is the one at a place among the nodes.
func (e *explored) share(at float64) float64 {
	if e.shares == nil {
		return 1
	}
	i := min(int(at), len(e.shares)-1)
	if i == len(e.shares)-1 {
		return e.shares[i]
	}
	part := at - float64(i)
	return (1-part)*e.shares[i] + part*e.shares[i+1]
}

// node is what lies at a place between two nodes.
func (e *explored) node(at float64) node {
	i := min(int(at), len(e.nodes)-1)
	a, b := e.nodes[i], e.nodes[min(i+1, len(e.nodes)-1)]
	part := at - float64(i)
	switch {
	case part < 1e-9 || !b.ok:
		return a
	case !a.ok:
		return b
	}
	mix := func(a, b float64) float64 { return (1-part)*a + part*b }
	return node{true, true, mix(a.value, b.value), mix(a.around, b.around), mix(a.drift, b.drift)}
}

// system is a member.
func (e *explored) system(d draw) model.System {
	x := e.x
	s := x.work(d.mean, d.work)
	share := e.share(d.at)
	if e.apply != nil {
		e.apply(x, &s, share, d.value)
	}
	s.Rate *= math.Exp(d.rate)
	return s
}

// solve looks for the value with which keys wait as long as was measured on average.
func (e *explored) solve(i int) error {
	x := e.x
	n := &e.nodes[i]
	if n.solved {
		return nil
	}
	n.solved = true
	n.drift = 1 / math.Sqrt(x.m.Reconciles)
	d := draw{at: float64(i), work: x.likeliest()}
	if !e.valued {
		s := e.system(d)
		n.ok = e.absurd == nil || !e.absurd(&s, x)
		return nil
	}
	low, high := e.bounds(x, e.share(d.at))
	if high <= low {
		return nil
	}
	d.value = low
	from, err := e.tries(d)
	if err != nil || from.mean > x.y.want[0]+0.1 {
		return err
	}
	to, err := e.upper(d, low, high)
	if err != nil || to.mean < x.y.want[0] {
		return err
	}
	found, slope, err := e.between(d, from, to)
	if err != nil {
		return err
	}
	n.ok, n.value = true, found.value
	n.around = min(max(math.Hypot(found.scatter, 0.05)/max(slope, 0.2), 0.05), 1.5)
	n.drift = max(n.drift, found.drift)
	return nil
}

// upper looks for a value with which keys wait for longer than was measured. The largest ones may
// be so rare that most simulations see none of it.
func (e *explored) upper(d draw, low, high float64) (t tried, err error) {
	for range 5 {
		d.value = high
		if t, err = e.tries(d); err != nil || t.mean >= e.x.y.want[0] {
			break
		}
		high = low + 0.7*(high-low)
	}
	return t, err
}

// A tried value: the mean of the logarithms of the waits, their standard deviation from one such
// measurement to the next, and that of the rate.
type tried struct{ value, mean, scatter, drift float64 }

func (e *explored) tries(d draw) (tried, error) {
	t := tried{value: d.value}
	s := e.system(d)
	var logs, adds []float64
	for k := range uint64(replicas) {
		y, r, err := e.x.simulate(&s, e.x.seed+k)
		if err != nil {
			return t, err
		}
		if r.Wait.Count() > 0 {
			logs, adds = append(logs, y[0]), append(adds, y[1])
		}
	}
	if len(logs) < 2 {
		t.mean = logMean(0)
		return t, nil
	}
	t.mean, t.scatter = moments(logs)
	_, t.drift = moments(adds)
	by := math.Sqrt(e.x.length / e.x.m.Span)
	t.scatter, t.drift = by*t.scatter, by*t.drift
	return t, nil
}

// between looks for the value by the rule of false position, with halves where it doesn't get on.
func (e *explored) between(d draw, low, high tried) (found tried, slope float64, err error) {
	want := e.x.y.want[0]
	for step := range 7 {
		d.value = low.value + (high.value-low.value)*min(max((want-low.mean)/(high.mean-low.mean), 0.1), 0.9)
		if step%3 == 2 {
			d.value = (low.value + high.value) / 2
		}
		if found, err = e.tries(d); err != nil {
			return found, 0, err
		}
		if found.mean > want {
			high = found
		} else {
			low = found
		}
		slope = (high.mean - low.mean) / (high.value - low.value)
		if math.Abs(found.mean-want) < max(0.03, found.scatter/3) || high.value-low.value < 0.03 {
			break
		}
	}
	return found, slope, nil
}
