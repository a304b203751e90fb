package infer

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A draw is a member of a family.
type draw struct {
	of      *explored
	at      float64 // place among the shares
	value   float64
	off     [3]float64 // logarithms of how many times the measured rate and work it has, and how far the value is from the one that was solved
	beyond  bool       // the range of values
	work    int        // its shape
	surface *surface   // of its place
	log     float64    // of how probable it is, but for a constant
	trusted float64    // the same with less trust in the likelihood
}

// A proposal is where members are drawn: the middle and the standard deviation of each offset.
type proposal struct{ middle, width [3]float64 }

// around is a proposal so many times as wide as is likely.
func (e *explored) around(at, times float64) (p proposal) {
	n := e.node(at)
	spread := math.Exp(e.x.spread) / math.Sqrt(e.x.m.Reconciles)
	p.width = [3]float64{times * n.drift, times * max(0.01, spread), times * n.around}
	return p
}

// draw takes a member at a place. Its log is then that of its prior to the density with which it
// is drawn.
func (e *explored) draw(r *rand.Rand, at float64, p proposal) draw {
	d := draw{of: e, at: at, work: e.x.drawWork(r)}
	for i := range d.off {
		if i < 2 || e.bounds != nil {
			z := r.NormFloat64()
			d.log += z*z/2 + math.Log(p.width[i])
			d.off[i] = p.middle[i] + z*p.width[i]
		}
	}
	e.put(&d)
	return d
}

// closer is a proposal by draws and how probable they are.
func closer(list []draw, was proposal) proposal {
	w, sum, _ := weights(list, func(d draw) float64 { return d.log })
	for i := range was.middle {
		mean, square := 0.0, 0.0
		for k, d := range list {
			mean += w[k] * d.off[i]
			square += w[k] * d.off[i] * d.off[i]
		}
		mean /= sum
		was.middle[i] = mean
		was.width[i] = min(was.width[i], max(1.4*math.Sqrt(max(0, square/sum-mean*mean)), was.width[i]/4))
	}
	return was
}

// put gives a member the value that is as far from the one that was solved as its offset says, or
// the last one that there is.
func (e *explored) put(d *draw) {
	if e.bounds == nil {
		return
	}
	solved := e.node(d.at).value
	low, high := e.bounds(e.x, e.share(d.at))
	d.value = min(max(solved+d.off[2], low), high)
	d.beyond = d.value != solved+d.off[2]
	d.off[2] = d.value - solved
}

// offsets are what figures are regressed on beside the place.
func (d draw) offsets() []float64 {
	x := d.of.x
	list := []float64{d.off[0], d.off[1], logCV(x.works[d.work]) - x.spread}
	if d.of.bounds != nil {
		list = append(list, d.off[2], d.off[2]*d.off[2]) // where bursts get no worse, longer ones do as little
	}
	return list
}

// train simulates members. Where bursts are rare, some simulations see none: these are like no
// measurement.
func (e *explored) train(list []draw) error {
	points := make([]point, len(list))
	begin := uint64(len(e.points)) + 1000
	err := parallel(e.x.ctx, len(list), func(i int) {
		d := list[i]
		if y, r := e.x.simulate(d.system(), e.x.seed+begin+uint64(i)*7919); r.Wait.Count() > 0 {
			points[i] = point{d.at, d.offsets(), y}
		}
	})
	if err == nil {
		e.points = append(e.points, slices.DeleteFunc(points, func(p point) bool { return p.y == nil })...)
	}
	return err
}
