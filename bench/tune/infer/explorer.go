package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/service"
	"golang.org/x/sync/errgroup"
)

// An explorer simulates members of families under the settings of a measurement.
type explorer struct {
	ctx      context.Context
	m        *Measured
	y        *yardstick
	base     model.System // arrivals at random, with the likeliest work
	rate     float64      // of arrivals that are no retries and found their key not waiting
	calls    Calls
	works    []service.Likely
	tables   []model.Work
	upTo     []float64 // cumulated probabilities of these
	spread   float64   // mean of the logarithms of their coefficients of variation
	evidence float64   // logarithm of how probable the work's histogram is with any of these
	length   float64   // seconds of a simulation
	seed     uint64
	progress func(string)
}

// How much is simulated. More of any of them changes results by less than their scatter.
const (
	mostEvents = 60_000 // in one simulation: of an arrival its own, each call and its end
	replicas   = 6      // that are looked at to solve a value
	trained    = 20     // for each share
	drawn      = 300    // that the likelihood is taken of, for each place
	refined    = 160    // once more where it is likely, twice
	kept       = 96     // members that stand for the posterior
	mostShares = 26     // of a family
)

func newExplorer(ctx context.Context, m *Measured, c Calls, seed uint64, progress func(string)) *explorer {
	x := &explorer{ctx: ctx, m: m, calls: c, seed: seed, progress: progress}
	x.base = model.System{Failure: m.Failure, Keys: m.Keys, Calls: c.Of, Latency: c.Latency, Background: c.Background}
	retries := m.Failure * m.Reconciles / m.Span
	if m.Controller.BucketRate > 0 {
		retries = min(retries, m.Controller.BucketRate) // no more are added than the bucket lets through
	}
	x.rate = max(m.Adds-retries, 0.01*m.Adds)
	x.base.Rate = x.rate
	if m.Keys > 0 {
		// A key that waits can't be added again, which hides that part of its time.
		x.base.Rate /= 1 - min(0.95, x.rate*m.Wait.Mean()/float64(m.Keys))
	}
	x.length = min(m.Span, mostEvents/x.base.Rate/(2+c.Mean()))
	x.y = newYardstick(m, x.length == m.Span)
	return x
}

// weighWorks says which work may be what was measured.
func (x *explorer) weighWorks(works []service.Likely) {
	x.works, x.tables = works, make([]model.Work, len(works))
	for i, w := range works {
		mean := x.calls.Service(x.m)
		if w.Whole {
			mean = x.calls.Busy(x.m)
		}
		x.tables[i] = model.NewWork(w.Of(mean))
	}
	top := math.Inf(-1)
	for _, w := range works {
		top = max(top, w.Log)
	}
	x.upTo, x.spread = nil, 0
	sum := 0.0
	for _, w := range works {
		p := math.Exp(w.Log - top)
		x.spread += p * logCV(w)
		sum += p
		x.upTo = append(x.upTo, sum)
	}
	x.spread /= sum
	x.evidence = top + math.Log(sum) + x.calls.Log
	for i := range x.upTo {
		x.upTo[i] /= sum
	}
	x.base.Service = x.work(0, x.likeliest()).Service
}

func logCV(w service.Likely) float64 { return math.Log(max(0.05, w.CV)) }

func (x *explorer) likeliest() int {
	best := 0
	for i, w := range x.works {
		if w.Log > x.works[best].Log {
			best = i
		}
	}
	return best
}

func (x *explorer) drawWork(r *rand.Rand) int {
	u := r.Float64()
	for i, p := range x.upTo {
		if u < p {
			return i
		}
	}
	return len(x.upTo) - 1
}

// work is the base with some work, its mean multiplied by the exponential of an offset.
func (x *explorer) work(offset float64, i int) model.System {
	s, w := x.base, x.works[i]
	if w.Whole {
		s.Latency = 0
	}
	s.Service = x.tables[i].Times(math.Exp(offset))
	return s
}

func (x *explorer) reach() float64 { return min(x.m.Span, 5*x.length) }

// simulate gives the figures of a system.
func (x *explorer) simulate(s *model.System, seed uint64) ([]float64, *model.Result, error) {
	p := model.Plan{Warmup: x.length / 10, Length: x.length, Seed: seed}
	if x.y.follow {
		p.Steps = x.y.spans
	}
	r, err := s.Run(x.ctx, x.m.Controller, p)
	if err != nil {
		return nil, nil, err
	}
	var counts []float64
	if len(x.y.windows) > 0 {
		counts = make([]float64, len(x.y.spans))
		if !x.y.follow {
			counts = s.Arrivals.Counts(s.Rate, x.y.spans, rand.New(rand.NewPCG(seed, 77)))
		}
	}
	return x.y.simulated(r, counts), r, nil
}

// by is which part of a simulation's variance that of the measurement is.
func (x *explorer) by() []float64 {
	list := make([]float64, len(x.y.figures))
	for i, f := range x.y.figures {
		if list[i] = x.length / x.m.Span; f.whole {
			list[i] = 1
		}
	}
	return list
}

// parallel does n pieces of work on all processors. It ends with the first error.
func parallel(n int, do func(i int) error) error {
	var next atomic.Int64
	var g errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					next.Store(int64(n))
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

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
	for f.solve && e.insert() {
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
	case !f.solve:
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
	if !e.family.solve {
		s := e.system(d)
		n.ok = e.absurd == nil || !e.absurd(&s, x)
		return nil
	}
	low, high := e.bounds(x, e.share(d.at))
	if high <= low {
		return nil
	}
	want := x.y.want[0]
	try := func(value float64) (mean, scatter, drift float64, err error) {
		d.value = value
		s := e.system(d)
		var logs, adds []float64
		for k := range uint64(replicas) {
			y, _, err := x.simulate(&s, x.seed+k)
			if err != nil {
				return 0, 0, 0, err
			}
			logs, adds = append(logs, y[0]), append(adds, y[1])
		}
		mean, scatter = moments(logs)
		_, drift = moments(adds)
		by := math.Sqrt(x.length / x.m.Span)
		return mean, by * scatter, by * drift, nil
	}
	// By the rule of false position, with halves where it doesn't get on.
	lowMean, _, _, err := try(low)
	if err != nil || lowMean > want+0.1 {
		return err
	}
	highMean, scatter, drift, err := try(high)
	if err != nil || highMean < want {
		return err
	}
	value, slope := high, 1.0
	for step := range 7 {
		value = low + (high-low)*min(max((want-lowMean)/(highMean-lowMean), 0.1), 0.9)
		if step%3 == 2 {
			value = (low + high) / 2
		}
		var mean float64
		if mean, scatter, drift, err = try(value); err != nil {
			return err
		}
		if mean > want {
			high, highMean = value, mean
		} else {
			low, lowMean = value, mean
		}
		slope = (highMean - lowMean) / (high - low)
		if math.Abs(mean-want) < max(0.03, scatter/3) || high-low < 0.03 {
			break
		}
	}
	n.ok, n.value = true, value
	n.around = min(max(math.Hypot(scatter, 0.05)/max(slope, 0.2), 0.05), 1.5)
	n.drift = max(n.drift, drift)
	return nil
}

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
	if e.family.solve {
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
	if e.family.solve {
		list = append(list, d.away, d.away*d.away) // where bursts get no worse, longer ones do as little
	}
	return list
}

// train simulates members.
func (e *explored) train(list []draw) error {
	points := make([]point, len(list))
	begin := uint64(len(e.points)) + 1000
	err := parallel(len(list), func(i int) error {
		s := e.system(list[i])
		y, _, err := e.x.simulate(&s, e.x.seed+begin+uint64(i)*7919)
		points[i] = point{list[i].at, e.offsets(list[i]), y}
		return err
	})
	if err == nil {
		e.points = append(e.points, points...)
	}
	return err
}

// finer is into how many places the way from one share to the next is divided.
const finer = 3

// places are those that lie closer than the nodes: of each its surface; nil where there is none.
func (e *explored) places() []*surface {
	last := len(e.nodes) - 1
	list := make([]*surface, last*finer+1)
	if len(e.points) == 0 {
		return list
	}
	for k := range list {
		at := float64(k) / finer
		if !e.nodes[int(math.Round(at))].ok {
			continue
		}
		place := -1.0
		if last > 0 {
			place = at
		}
		if s, ok := fit(place, e.points); ok {
			list[k] = s
		}
	}
	correlation := together(e.points, func(p point) *surface { return list[int(math.Round(p.at*finer))] })
	for _, s := range list {
		if s != nil {
			s.correlated(correlation, e.x.y.figures, e.x.by())
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
		if e.family.solve {
			low, high := e.bounds(e.x, e.share(at))
			prior -= math.Log(high - low)
		}
		from := e.around(at, 2)
		var here []draw
		for round := range 3 {
			if round > 0 && len(here) > 0 {
				from = closer(here, from)
			}
			here = here[:0]
			for range drawn {
				d := e.draw(r, at, from)
				if !d.beyond {
					log := s.log(e.x.y.want, e.offsets(d))
					d.trusted = d.log + prior + trust*log
					d.log += prior + log
					here = append(here, d)
				}
			}
		}
		list = append(list, here...)
	}
	if e.family.solve {
		temper(list)
	}
	return list
}

// trust is the power of the likelihood that tells one member of a family of bursts from another:
// regressions on some dozen simulations and Student's t make too much of it. Of systems drawn
// for it, intervals of bursts held the truth in three of four cases with all of it.
const trust = 0.6

// temper leaves a family as probable as it is, and its members less apart.
func temper(list []draw) {
	whole := logSum(list, func(d draw) float64 { return d.log })
	less := logSum(list, func(d draw) float64 { return d.trusted })
	for i, d := range list {
		list[i].log = d.trusted - less + whole
	}
}

func logSum(list []draw, of func(draw) float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, d := range list {
		top = max(top, of(d))
	}
	for _, d := range list {
		sum += math.Exp(of(d) - top)
	}
	return top + math.Log(sum)
}
