package infer

import (
	"math"
	"math/rand/v2"
)

// places are those that lie closer than the nodes: of each its surface; nil where there is none.
func (e *explored) places() []*surface {
	if len(e.points) == 0 {
		return nil
	}
	last := len(e.nodes) - 1
	list := make([]*surface, last*finer+1)
	for k := range list {
		at := float64(k) / finer
		if !e.nodes[int(math.Round(at))].ok {
			continue
		}
		if last == 0 {
			at = -1
		}
		list[k] = fit(at, e.points)
	}
	correlation := together(e.points, func(p point) *surface { return list[int(math.Round(p.at*finer))] })
	for _, s := range list {
		if s != nil {
			s.correlated(correlation, e.x.y.figures)
		}
	}
	return list
}

// weigh draws members at all places, with how probable each is.
func (e *explored) weigh(r *rand.Rand) (list []draw) {
	last := float64(len(e.nodes) - 1)
	for k, s := range e.places() {
		if s == nil {
			continue
		}
		at, part := float64(k)/finer, 1.0
		if last > 0 {
			part = e.share(min(at+0.5/finer, last)) - e.share(max(at-0.5/finer, 0))
			part /= e.share(last) - e.share(0)
		}
		prior := math.Log(e.prior*part) - math.Log(drawn) + e.x.evidence
		if e.bounds != nil {
			low, high := e.bounds(e.x, e.share(at))
			prior -= math.Log(high - low)
		}
		from := e.around(at, 2)
		var here []draw
		for range 3 {
			if len(here) > 0 {
				from = closer(here, from)
			}
			here = here[:0]
			for range drawn {
				d := e.draw(r, at, from)
				if !d.beyond {
					log := s.log(e.x.y.want, d.offsets())
					d.surface, d.trusted = s, d.log+prior+trust*log
					d.log += prior + log
					here = append(here, d)
				}
			}
		}
		list = append(list, here...)
	}
	if e.bounds != nil {
		temper(list)
	}
	return list
}

// temper leaves a family as probable as it is, and its members less apart.
func temper(list []draw) {
	_, _, whole := weights(list, func(d draw) float64 { return d.log })
	_, _, less := weights(list, func(d draw) float64 { return d.trusted })
	for i, d := range list {
		list[i].log = d.trusted - less + whole
	}
}

// weights are in proportion to what is told by its logarithm, that of the largest 1; beside them
// are their sum and the logarithm of the sum of all.
func weights[T any](list []T, of func(T) float64) (w []float64, sum, log float64) {
	top := math.Inf(-1)
	for _, x := range list {
		top = max(top, of(x))
	}
	for _, x := range list {
		w = append(w, math.Exp(of(x)-top))
		sum += w[len(w)-1]
	}
	return w, sum, top + math.Log(sum)
}
