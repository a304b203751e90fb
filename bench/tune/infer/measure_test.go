package infer

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/require"
)

const seed = 1

var bounds = []float64{1e-3, 1e-2, 0.1, 1, 10}

// working is a system whose reconciles work 50 ms on average.
func working(rate float64, a model.Arrivals) model.System {
	return model.System{Rate: rate, Arrivals: a, Service: model.NewWork(randvar.Exponential(0.05))}
}

func staff(workers int) model.Controller {
	return model.Controller{Workers: workers, BaseDelay: 0.005, MaxDelay: 1000, BucketRate: 10, BucketBurst: 100}
}

// histogram is what a sketch holds, in buckets.
func histogram(s *model.Sketch) scrape.Histogram {
	n := float64(s.Count())
	h := scrape.Histogram{Bounds: bounds, Sum: n * s.Mean()}
	before := 0.0
	for _, below := range append(s.Below(bounds), 1) {
		h.Counts = append(h.Counts, n*(below-before))
		before = below
	}
	return h
}

// measure runs a system for so many seconds; what comes of it is told in so many steps.
func measure(t *testing.T, s model.System, c model.Controller, span float64, steps int) (*Measured, *model.Result) {
	t.Helper()
	return measureWith(t, 99, s, c, span, steps)
}

func measureWith(t *testing.T, seed uint64, s model.System, c model.Controller, span float64, steps int) (*Measured, *model.Result) {
	t.Helper()
	plan := model.Plan{Warmup: span / 10, Length: span, Seed: seed}
	for range steps {
		plan.Steps = append(plan.Steps, span/float64(steps))
	}
	r, err := s.Run(t.Context(), c, plan)
	require.NoError(t, err)
	m := &Measured{
		Span: span, Adds: float64(r.Adds) / span, Reconciles: float64(r.Done),
		Wait: histogram(&r.Wait), Work: histogram(&r.Work), Controller: c, Failure: s.Failure,
	}
	if r.Throttle.Count() > 0 {
		m.Limiter = histogram(&r.Throttle)
	}
	for i, x := range r.Steps {
		m.Steps = append(m.Steps, scrape.Step{Begin: float64(i) * plan.Steps[0], Span: plan.Steps[0], Adds: x.Adds, Taken: x.Taken, Waited: x.Waited})
	}
	return m, r
}

// silent is progress that nobody hears of.
func silent(string) {}

// exploring is an explorer that knows the work, with no calls.
func exploring(t *testing.T, m *Measured) *explorer {
	t.Helper()
	x := newExplorer(t.Context(), m, Calls{}, seed, silent)
	x.takes(x.base)
	return x
}
