package infer

import (
	"math"

	"github.com/informerbench/informerbench/bench/tune/model"
)

// A family is a form of load that may explain a measurement. Its members differ by a share,
// and by a value that is solved for each share, so that keys wait as long as was measured.
type family struct {
	name   string
	prior  float64                                              // how probable it is before anything is measured
	shares []float64                                            // between which it lies, rising; each part of their range is as probable as another of its length
	bounds func(x *explorer, share float64) (low, high float64) // of the value; nil: there is none
	apply  func(x *explorer, s *model.System, share, value float64)
	absurd func(s *model.System, x *explorer) bool // it can't be; nil: none is
}

// random is tried first, and ends the search if it explains what was measured.
var random = family{name: "arrivals at random", prior: 0.35, shares: one}

// bursts are the families of which keys wait longer than they do of arrivals at random.
var bursts = []*family{
	// Nothing but batches is a corner of the family below that had hardly any weight in it.
	{name: "batches at random", prior: 0.1, shares: one, bounds: sizes, apply: batches(false)},
	{name: "batches at random", prior: 0.15, shares: parts, bounds: sizes, apply: batches(false)},
	{name: "batches at even distances", prior: 0.2, shares: parts, bounds: sizes, apply: batches(true)},
	{name: "bursts and pauses", prior: 0.15, shares: lengths, bounds: pauses, apply: phases(false)},
	{name: "regular bursts and pauses", prior: 0.07, shares: lengths, bounds: pauses, apply: phases(true)},
	{name: "two rates in turn", prior: 0.04, shares: times, bounds: depths, apply: levels(200)},
	{name: "two rates in turn, slowly", prior: 0.04, shares: times, bounds: depths, apply: levels(2000)},
	{
		name: "uneven gaps", prior: 0.02, shares: one,
		bounds: func(*explorer, float64) (low, high float64) { return 0, math.Log(8) },
		apply: func(_ *explorer, s *model.System, _, value float64) {
			s.Arrivals = model.Arrivals{Kind: model.Gaps, CV: math.Exp(value)}
		},
	},
}

// asMeasured is tried where nothing else explains a series: its rates are made of the counts that
// they are then compared with.
var asMeasured = family{
	name: "rates as measured", prior: 0.1, shares: []float64{0.1, 0.3, 0.6, 0.85, 1},
	bounds: func(x *explorer, _ float64) (low, high float64) { return 0, math.Log(max(4, x.base.Rate*x.reach/10)) },
	apply: func(x *explorer, s *model.System, part, value float64) {
		s.Arrivals = x.profile(part, math.Exp(value))
	},
}

// evener is the family of which they wait less.
var evener = family{
	name: "even gaps", prior: 0.2, shares: []float64{0.01, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9},
	apply: func(_ *explorer, s *model.System, cv, _ float64) {
		s.Arrivals = model.Arrivals{Kind: model.Gaps, CV: cv}
	},
}

// fewKeys are so few that a share of them is waiting or worked on at a time, by its logarithm;
// the value is the rate of arrivals, of which those that find their key waiting add nothing.
var fewKeys = family{
	absurd: func(s *model.System, x *explorer) bool { return s.Keys > manyKeys || x.rate < 0.1*s.Rate },
	name:   "few keys", prior: 0.3, shares: []float64{-6.9, -5.8, -5.1, -4.6, -4.1, -3.6, -3.1, -2.6, -2.2, -1.8, -1.4, -1.1, -0.8, -0.5, -0.3, -0.1},
	apply: func(x *explorer, s *model.System, share, _ float64) {
		waiting := x.rate * x.m.Wait.Mean()
		s.Keys = max(2, int(math.Round((waiting+x.rate*x.m.Work.Mean())/math.Exp(share))))
		s.Rate = x.rate / (1 - min(0.97, waiting/float64(s.Keys)))
	},
}

// popular are keys of which somebody said how many there are, some more popular than others.
var popular = family{
	name: "popular keys", prior: 0.1, shares: []float64{0.35, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2.1},
	apply: func(x *explorer, s *model.System, exponent, _ float64) {
		s.Popular = model.Zipf(s.Keys, exponent)
		s.Rate = x.rateOfPopular(s.Popular)
	},
}

var (
	one     = []float64{1}
	parts   = []float64{0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1}
	lengths = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	times   = []float64{0.1, 0.2, 0.35, 0.5, 0.65, 0.8}
)

func sizes(x *explorer, share float64) (low, high float64) {
	most := max(4, share*x.base.Rate*x.reach/2)
	if x.base.Keys > 0 {
		most = min(most, float64(x.base.Keys))
	}
	return math.Log(1.5), math.Log(most)
}

func batches(even bool) func(*explorer, *model.System, float64, float64) {
	return func(_ *explorer, s *model.System, share, value float64) {
		s.Arrivals = model.Arrivals{Kind: model.Batches, Share: share, Size: math.Exp(value), Even: even}
	}
}

// cycles are how many arrivals come from one burst to the next, by logarithm. They take a second
// at least: what is shorter is a batch.
func (x *explorer) cycles() (low, high float64) {
	low = math.Log(max(1.5, x.base.Rate))
	return low, max(low+1, math.Log(x.base.Rate*x.reach/6))
}

// pauses are so many times as long as bursts, by logarithm. What comes in less than a twentieth of
// the time is as good as a batch.
func pauses(*explorer, float64) (low, high float64) { return math.Log(0.4), math.Log(20) }

func phases(even bool) func(*explorer, *model.System, float64, float64) {
	return func(x *explorer, s *model.System, length, value float64) {
		low, high := x.cycles()
		s.Arrivals = model.Arrivals{Kind: model.Phases, Duty: 1 / (1 + math.Exp(value)), Depth: 1, Cycle: math.Exp(low+length*(high-low)) / x.base.Rate, Even: even}
	}
}

func depths(*explorer, float64) (low, high float64) { return steep * math.Log(0.05), 0 }

// levels are loads that are higher at some times than at others, without pauses: by day than
// by night, say. Cycles much longer than waits all do the same to them, so one stands for these.
func levels(arrivals float64) func(*explorer, *model.System, float64, float64) {
	return func(x *explorer, s *model.System, duty, value float64) {
		s.Arrivals = model.Arrivals{Kind: model.Phases, Duty: duty, Depth: math.Exp(value / steep), Cycle: arrivals / x.base.Rate}
	}
}
