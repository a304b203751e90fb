package tune

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counts are steps of so many seconds in which that many batches of a size came.
func counts(r *rand.Rand, n int, span, size float64, rate func(step int) float64) (steps []scrape.Step) {
	for i := range n {
		at, adds := 0.0, 0.0
		for {
			if at += r.ExpFloat64() * size / rate(i); at > span {
				break
			}
			adds += size
		}
		steps = append(steps, scrape.Step{Begin: float64(i) * span, Span: span, Adds: adds})
	}
	return steps
}

// The dispersion of the counts is how many come at once, whatever the steps' length.
func TestDispersion(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 1))
	steady := func(int) float64 { return 20 }
	for _, size := range []float64{1, 7} {
		s := newSeries(counts(r, 2000, 5, size, steady))
		assert.InEpsilon(t, size, dispersion(s.windows(1)), 0.15, "seed %d", *seed)
		assert.InEpsilon(t, size, dispersion(s.windows(9)), 0.4, "seed %d", *seed)
		assert.Equal(t, []int{1, 3, 9, 27, 81, 243}, s.joins())
	}
	assert.False(t, newSeries(counts(r, minSteps-1, 5, 1, steady)).known(), "too few tell nothing")
	s := newSeries(counts(r, 30, 5, 1, steady))
	s.steps[4].Begin += 60
	for i := 5; i < len(s.steps); i++ {
		s.steps[i].Begin += 60
	}
	assert.Len(t, s.windows(3), 9, "none spans a gap")
}

// A profile repeats the rates that were measured, but for what chance does to them.
func TestProfile(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 2))
	s := newSeries(counts(r, 20, 30, 1, func(step int) float64 { return []float64{10, 40}[step/5%2] }))
	p := s.profileOf(1)
	p.size = 1
	assert.InEpsilon(t, 0.4, p.rates[0], 0.25)
	assert.InEpsilon(t, 1.6, p.rates[6], 0.25)
	mean := 0.0
	for i, rate := range p.rates {
		mean += rate * p.spans[i] / p.length()
	}
	assert.InDelta(t, 1, mean, 1e-9)
	arrivals := p.arrivals(&loadgen.Resource{Count: 1000, Events: loadgen.Events{Arrivals: loadgen.Arrivals{Rate: 25}}})(*seed)
	x := &counter{Arrivals: arrivals, scale: 1, steps: make([]scrape.Step, 40)}
	for i := range x.steps {
		x.steps[i].Begin, x.steps[i].Span = 30*float64(i), 30
	}
	x.rest()
	again := newSeries(x.steps)
	assert.InEpsilon(t, dispersion(s.windows(1)), dispersion(again.windows(1)), 0.35, "seed %d", *seed)

	p.size = 4
	arrivals = p.arrivals(&loadgen.Resource{Count: 1000, Events: loadgen.Events{Arrivals: loadgen.Arrivals{Rate: 25}}})(*seed)
	first, ok := arrivals.Next()
	require.True(t, ok)
	for range 3 {
		next, _ := arrivals.Next()
		assert.Equal(t, first.At, next.At, "four at once")
	}
	next, _ := arrivals.Next()
	assert.Greater(t, next.At, first.At)
}

// What hardly works and has no objective is left alone.
func TestQuiet(t *testing.T) {
	m := &Model{Observations: 1000, Work: 0.1}
	now := Figures{Stable: true, Load: 0.02}
	now.Wait.P99.Mean = 0.2
	assert.True(t, m.quiet(now, Options{}), "200 ms at 2% are no reason for more workers")
	assert.False(t, m.quiet(now, Options{Objectives: objectives(t, "p99 queue wait < 100ms")}))
	for name, change := range map[string]func(*Model, *Figures){
		"busy":     func(_ *Model, f *Figures) { f.Load = 0.5 },
		"felt":     func(_ *Model, f *Figures) { f.Wait.P99.Mean = 3 },
		"limited":  func(m *Model, _ *Figures) { m.Calls, m.Throttle = 2, 0.02 },
		"unstable": func(_ *Model, f *Figures) { f.Stable = false },
		"a plan":   func(m *Model, _ *Figures) { m.Observations = 0 },
	} {
		x, f := *m, now
		change(&x, &f)
		assert.False(t, x.quiet(f, Options{}), name)
	}
}
