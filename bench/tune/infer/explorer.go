package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
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
	reach    float64   // seconds of which bursts are at most a part
	seed     uint64
	progress func(string)
}

func newExplorer(ctx context.Context, m *Measured, c Calls, seed uint64, progress func(string)) *explorer {
	x := &explorer{ctx: ctx, m: m, calls: c, seed: seed, progress: progress}
	x.base = model.System{Failure: m.Failure, Keys: m.Keys, Calls: c.Of, Latency: c.Latency, Background: c.Background, Others: c.Others}
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
	affordable := mostEvents / x.base.Rate / (2 + c.Mean())
	x.length = min(m.Span, affordable)
	if !m.Overloaded { // what waits for long has to have the time to
		x.length = min(m.Span, max(affordable, min(5*affordable, muchLonger*m.Wait.Mean())))
	}
	x.reach = min(m.Span, 5*affordable)
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
