package infer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/bench/tune/model"
)

// A node is a share of a family for which the value was solved.
type node struct {
	share  float64
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
	nodes  []node // of the family's shares, and of more where the value changes fast
	points []point
}

func newExplored(x *explorer, f *family) *explored {
	e := &explored{family: f, x: x}
	for _, share := range f.shares {
		e.nodes = append(e.nodes, node{share: share})
	}
	return e
}

// explore simulates families' members that are near what was measured. What was explored when the
// context ends is returned with its error.
func (x *explorer) explore(families ...*family) (all []*explored, err error) {
	for _, f := range families {
		x.progress(f.name)
		e := newExplored(x, f)
		if err := e.explore(); err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (e *explored) explore() error {
	for more := true; more; more = e.bounds != nil && e.insert() {
		if err := parallel(e.x.ctx, len(e.nodes), e.solve); err != nil {
			return err
		}
	}
	n := trained
	switch {
	case len(e.shares) == 1:
		n *= 3
	case e.bounds == nil:
		n /= 2 // they lie closer
	}
	var list []draw
	r := rand.New(rand.NewPCG(e.x.seed, uint64(len(e.name))))
	for i, node := range e.nodes {
		for k := 0; node.ok && k < n; k++ {
			at := float64(i) + r.Float64() - 0.5
			at = min(max(at, 0), float64(len(e.nodes)-1))
			list = append(list, e.draw(r, at, e.around(at, 1.5)))
		}
	}
	return e.train(list)
}

// insert adds shares between two of which only one has a value, or whose values are far apart:
// where a burst is just more than the workers can do, a little more of it makes keys wait for much
// longer. It tells whether there are any.
func (e *explored) insert() bool {
	const apart = 1.2 // of logarithms
	nodes := slices.Clone(e.nodes)
	for i := len(nodes) - 1; i > 0; i-- {
		a, b := e.nodes[i-1], e.nodes[i]
		far := a.ok != b.ok || a.ok && math.Abs(a.value-b.value) > apart
		if far && b.share-a.share > 0.03*a.share {
			nodes = slices.Insert(nodes, i, node{share: (a.share + b.share) / 2})
		}
	}
	more := len(nodes) > len(e.nodes) && len(nodes) < mostShares
	if more {
		e.nodes = nodes
	}
	return more
}

// neighbours are the nodes beside a place, and which part of the way it is from one to the other.
func (e *explored) neighbours(at float64) (a, b *node, part float64) {
	i := min(int(at), len(e.nodes)-1)
	return &e.nodes[i], &e.nodes[min(i+1, len(e.nodes)-1)], at - float64(i)
}

func mix(a, b, part float64) float64 { return (1-part)*a + part*b }

// share is the one at a place among the nodes.
func (e *explored) share(at float64) float64 {
	a, b, part := e.neighbours(at)
	return mix(a.share, b.share, part)
}

// node is what lies at a place between two nodes.
func (e *explored) node(at float64) node {
	a, b, part := e.neighbours(at)
	switch {
	case part < 1e-9 || !b.ok:
		return *a
	case !a.ok:
		return *b
	}
	return node{ok: true, value: mix(a.value, b.value, part), around: mix(a.around, b.around, part), drift: mix(a.drift, b.drift, part)}
}

// system is a member.
func (d draw) system() *model.System {
	e, x, s := d.of, d.of.x, d.of.x.base
	if x.works[d.work].Whole {
		s.Latency = 0
	}
	s.Service = x.tables[d.work].Times(math.Exp(d.off[1]))
	if e.apply != nil {
		e.apply(x, &s, e.share(d.at), d.value)
	}
	s.Rate *= math.Exp(d.off[0])
	return &s
}

// solve looks for the value with which keys wait as long as was measured on average.
func (e *explored) solve(i int) {
	x, n := e.x, &e.nodes[i]
	if n.solved {
		return
	}
	n.solved, n.drift = true, 1/math.Sqrt(x.m.Reconciles)
	d := draw{of: e, at: float64(i), work: x.likeliest}
	if e.bounds == nil {
		n.ok = e.absurd == nil || !e.absurd(d.system(), x)
		return
	}
	low, high := e.bounds(x, n.share)
	if high <= low {
		return
	}
	from := d.tries(low, replicas/2)
	if from.mean > x.y.want[0]+0.1 {
		return
	}
	to := d.upper(low, high)
	if to.mean < x.y.want[0] {
		return
	}
	found, slope := d.between(from, to)
	n.ok, n.value = true, found.value
	n.around = min(max(math.Hypot(found.scatter, 0.05)/max(slope, 0.2), 0.05), 1.5)
	n.drift = max(n.drift, found.drift)
}

// upper looks for a value with which keys wait for longer than was measured. The largest ones may
// be so rare that most simulations see none of it.
func (d draw) upper(low, high float64) (t tried) {
	for range 5 {
		if t = d.tries(high, replicas/2); t.mean >= d.of.x.y.want[0] {
			break
		}
		high = low + 0.7*(high-low)
	}
	return t
}

// A tried value: the mean of the logarithms of the waits, their standard deviation from one such
// measurement to the next, and that of the rate.
type tried struct{ value, mean, scatter, drift float64 }

func (d draw) tries(value float64, replicas uint64) tried {
	d.value = value
	x, t := d.of.x, tried{value: value, mean: logMean(0)}
	var logs, adds []float64
	for k := range replicas {
		if y, r := x.simulate(d.system(), x.seed+k); r.Wait.Count() > 0 {
			logs, adds = append(logs, y[0]), append(adds, y[1])
		}
	}
	if len(logs) > 1 {
		by := math.Sqrt(x.y.part)
		t.mean, t.scatter = moments(logs)
		_, t.drift = moments(adds)
		t.scatter, t.drift = by*t.scatter, by*t.drift
	}
	return t
}

// between looks for the value by the rule of false position, with halves where it doesn't get on.
func (d draw) between(low, high tried) (found tried, slope float64) {
	want := d.of.x.y.want[0]
	for step := range 7 {
		part := min(max((want-low.mean)/(high.mean-low.mean), 0.1), 0.9)
		value := low.value + (high.value-low.value)*part
		if step%3 == 2 {
			value = (low.value + high.value) / 2
		}
		if found = d.tries(value, replicas); found.mean > want {
			high = found
		} else {
			low = found
		}
		slope = (high.mean - low.mean) / (high.value - low.value)
		if math.Abs(found.mean-want) < max(0.03, found.scatter/3) || high.value-low.value < 0.03 {
			break
		}
	}
	return found, slope
}
