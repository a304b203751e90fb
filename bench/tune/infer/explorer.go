package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sort"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/service"
	"golang.org/x/sync/errgroup"
)

// An explorer simulates members of families under the settings of a measurement.
type explorer struct {
	ctx       context.Context
	m         *Measured
	y         *yardstick
	base      model.System // arrivals at random, with the likeliest work
	rate      float64      // of arrivals that are no retries and found their key not waiting
	calls     Calls
	works     []service.Likely
	tables    []model.Work // of these
	upTo      []float64    // cumulated probabilities of these
	likeliest int          // of these
	spread    float64      // mean of the logarithms of their coefficients of variation
	evidence  float64      // logarithm of how probable the work's histogram is with any of these
	length    float64      // seconds of a simulation
	reach     float64      // seconds of which bursts are at most a part
	seed      uint64
	progress  func(string)
}

func newExplorer(ctx context.Context, m *Measured, c Calls, seed uint64, progress func(string)) *explorer {
	x := &explorer{ctx: ctx, m: m, calls: c, seed: seed, progress: progress}
	x.base = model.System{
		Failure: m.Failure, Keys: m.Keys, Service: exponential(c.Service(m)),
		Calls: c.Of, Latency: c.Latency, Background: c.Background,
		Row: c.Row, Others: c.Others, OthersWork: c.others(),
	}
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
	x.y = newYardstick(m, x.length/m.Span)
	return x
}

// exponential is work that is taken for what isn't known yet.
func exponential(mean float64) model.Work {
	return model.NewWork(service.Shape{Family: "gamma", CV: 1}.Of(mean))
}

// weighWorks says which work may be what was measured.
func (x *explorer) weighWorks(works []service.Likely) {
	x.works, x.tables, x.upTo, x.likeliest, x.spread = works, nil, nil, 0, 0
	odds, sum, evidence := weights(works, func(w service.Likely) float64 { return w.Log })
	x.evidence = evidence + x.calls.Log
	below := 0.0
	for i, w := range works {
		mean := x.calls.Service(x.m)
		if w.Whole {
			mean = x.calls.Busy(x.m)
		}
		x.tables = append(x.tables, model.NewWork(w.Of(mean)))
		x.spread += odds[i] * logCV(w)
		below += odds[i]
		x.upTo = append(x.upTo, below/sum)
		if w.Log > works[x.likeliest].Log {
			x.likeliest = i
		}
	}
	x.spread /= sum
	x.base.Service = x.tables[x.likeliest]
}

func logCV(w service.Likely) float64 { return math.Log(max(0.05, w.CV)) }

// drawWork takes one by its probability.
func (x *explorer) drawWork(r *rand.Rand) int {
	u := r.Float64()
	return sort.Search(len(x.upTo)-1, func(i int) bool { return u < x.upTo[i] })
}

// simulate gives the figures of a system. It is cut short when the context ends, as [parallel] tells.
func (x *explorer) simulate(s *model.System, seed uint64) ([]float64, *model.Result) {
	p := model.Plan{Warmup: x.length / 10, Length: x.length, Seed: seed}
	if x.y.follow {
		p.Steps = x.y.spans
	}
	r, _ := s.Run(x.ctx, x.m.Controller, p)
	var counts []float64
	if !x.y.follow {
		counts = s.Arrivals.Counts(s.Rate, x.y.spans, rand.New(rand.NewPCG(seed, 77)))
	}
	return x.y.simulated(r, counts), r
}

// parallel does n pieces of work on all processors. When the context ends no more of them are begun,
// and its error is returned: what was cut short is not to be used.
func parallel(ctx context.Context, n int, do func(i int)) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = g.Wait()
	return ctx.Err()
}
