package tune

import (
	"context"
	"fmt"
	"math"
)

// A family is a form of arrivals that may explain why keys wait longer than arrivals at
// random do. Its members differ by a share, tried over its range; of each a value, a
// logarithm, is solved for with which keys wait as long as was measured on average.
type family struct {
	doing  string
	prior  []float64                                                       // shares that are tried, each as probable as the part of the range that it stands for
	bounds func(f *fit, t trial, share float64) (low, high, start float64) // of the value
	apply  func(f *fit, share, value float64) flow
}

// families are tried one after the other.
var families = []family{
	{
		doing: "gaps between arrivals, gamma", prior: nil, bounds: gapBounds,
		apply: func(_ *fit, _, cv float64) flow { return flow{gap: shape{family: "gamma", cv: math.Exp(cv)}} },
	}, {
		doing: "gaps between arrivals, lognormal", prior: nil, bounds: gapBounds,
		apply: func(_ *fit, _, cv float64) flow { return flow{gap: shape{family: "lognormal", cv: math.Exp(cv)}} },
	}, {
		doing: "many arrivals at once, as of a resync", prior: sweptShares, bounds: sweepBounds,
		apply: func(_ *fit, share, size float64) flow { return flow{share: share, size: math.Exp(size)} },
	}, {
		doing: "many arrivals at once, at random", prior: sweptShares, bounds: sweepBounds,
		apply: func(_ *fit, share, size float64) flow { return flow{share: share, size: math.Exp(size), loose: true} },
	},
	levelFamily(200), levelFamily(2000),
	{
		doing: "the rates that were measured from scrape to scrape", prior: []float64{0.1, 0.3, 0.6, 0.85, 1},
		bounds: func(f *fit, t trial, _ float64) (low, high, start float64) {
			r := f.Spec.Resources[0]
			return 0, math.Log(min(max(4, r.Events.Arrivals.Rate*t.reach()/10), float64(r.Count))), 0
		},
		apply: func(f *fit, part, size float64) flow {
			if !f.series.known() || dispersion(f.series.windows(1)) < 1 {
				return flow{}
			}
			p := f.series.profileOf(part)
			p.size = math.Exp(size)
			return flow{rates: p}
		},
	},
}

var sweptShares = []float64{0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1}

func gapBounds(*fit, trial, float64) (low, high, start float64) { return 0, math.Log(8), 1 }

// sweepBounds begin where the last of a sweep waits until the workers have done the others.
func sweepBounds(f *fit, t trial, share float64) (low, high, start float64) {
	r := f.Spec.Resources[0]
	size := 2 * f.wait.Mean() * float64(f.current.Workers) / f.Work / share
	most := min(max(4, share*r.Events.Arrivals.Rate*t.reach()/2), float64(r.Count))
	return math.Log(2), math.Log(most), math.Log(max(2, size))
}

// levelFamily are loads that are higher at some times than at others, without pauses: by
// day than by night, say. How far apart the rates are follows from how long keys waited.
// Cycles much longer than waits all do the same to them, so one stands for these.
func levelFamily(events float64) family {
	const steep = 3 // about the power of the depth that waits go with
	return family{
		doing: "two rates in turn", prior: []float64{0.1, 0.2, 0.35, 0.5, 0.65, 0.8},
		bounds: func(*fit, trial, float64) (low, high, start float64) {
			return steep * math.Log(0.05), 0, steep * math.Log(0.5)
		},
		apply: func(_ *fit, share, depth float64) flow {
			return flow{levels: levels{share, math.Exp(depth / steep), events}}
		},
	}
}

// explore tries a family's members, and more of them beside the likeliest.
func (f *fit) explore(ctx context.Context, y family, t trial, others []outcome, progress func(string)) (all []candidate, tried []outcome, err error) {
	was := f.flow
	defer func() { f.flow = was }()
	var g grid
	try := func(share float64) error {
		progress(fmt.Sprintf("%s, %d tried", y.doing, len(g.all)))
		low, high, start := y.bounds(f, t, share)
		x, c, _, err := f.matched(ctx, t, low, high, start, func(value float64) { f.flow = y.apply(f, share, value) })
		f.flow = was
		g.add(share, c, x)
		return err
	}
	if y.prior == nil {
		err := try(1)
		return g.all, g.tried, err
	}
	if !y.apply(f, y.prior[0], 0).own() {
		return nil, nil, nil // nothing was measured that it is made of
	}
	for _, share := range y.prior {
		if err := try(share); err != nil {
			return nil, nil, err
		}
	}
	if err := g.closer(least(others), try); err != nil {
		return nil, nil, err
	}
	all, tried = g.candidates()
	return all, tried, nil
}
