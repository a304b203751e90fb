package infer

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A draw is a member of a family.
type draw struct {
	at      float64 // place among the shares
	value   float64
	away    float64 // of the value from the one that was solved
	beyond  bool    // of the range of values
	rate    float64 // logarithm of how many times the measured rate
	mean    float64 // the same of the work
	work    int     // its shape
	log     float64 // of how probable it is, but for a constant
	trusted float64 // the same with less trust in the likelihood
}

// A proposal is where members are drawn: the middle and the standard deviation of the logarithms of
// rate and work and of the value, as offsets from what was measured and solved.
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
	d := draw{at: at, work: e.x.drawWork(r)}
	normal := func(i int) float64 {
		z := r.NormFloat64()
		d.log += z*z/2 + math.Log(p.width[i])
		return p.middle[i] + z*p.width[i]
	}
	d.rate, d.mean = normal(0), normal(1)
	if e.valued {
		e.put(&d, normal(2))
	}
	return d
}

// closer is a proposal by draws and how probable they are.
func closer(list []draw, was proposal) proposal {
	top := math.Inf(-1)
	for _, d := range list {
		top = max(top, d.log)
	}
	var sum float64
	var mean, square [3]float64
	for _, d := range list {
		w := math.Exp(d.log - top)
		sum += w
		for i, x := range []float64{d.rate, d.mean, d.away} {
			mean[i] += w * x
			square[i] += w * x * x
		}
	}
	for i := range mean {
		mean[i] /= sum
		was.middle[i] = mean[i]
		was.width[i] = min(was.width[i], max(1.4*math.Sqrt(max(0, square[i]/sum-mean[i]*mean[i])), was.width[i]/4))
	}
	return was
}

// put gives a member the value that is so far away from the one that was solved, or the last one
// that there is.
func (e *explored) put(d *draw, away float64) {
	solved := e.node(d.at).value
	low, high := e.bounds(e.x, e.share(d.at))
	d.value = min(max(solved+away, low), high)
	d.beyond = d.value != solved+away
	d.away = d.value - solved
}

// offsets are what figures are regressed on beside the place.
func (e *explored) offsets(d draw) []float64 {
	list := []float64{d.rate, d.mean, logCV(e.x.works[d.work]) - e.x.spread}
	if e.valued {
		list = append(list, d.away, d.away*d.away) // where bursts get no worse, longer ones do as little
	}
	return list
}

// train simulates members. Where bursts are rare, some simulations see none: these are like no
// measurement.
func (e *explored) train(list []draw) error {
	points := make([]point, len(list))
	begin := uint64(len(e.points)) + 1000
	err := parallel(len(list), func(i int) error {
		s := e.system(list[i])
		y, r, err := e.x.simulate(&s, e.x.seed+begin+uint64(i)*7919)
		if err == nil && r.Wait.Count() > 0 {
			points[i] = point{list[i].at, e.offsets(list[i]), y}
		}
		return err
	})
	if err == nil {
		e.points = append(e.points, slices.DeleteFunc(points, func(p point) bool { return p.y == nil })...)
	}
	return err
}
