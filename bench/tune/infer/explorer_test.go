package infer

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// solved is a family with the value for each share with which keys wait as long as measured.
func solved(t *testing.T, x *explorer, f *family) *explored {
	t.Helper()
	e := newExplored(x, f)
	require.NoError(t, parallel(t.Context(), len(e.nodes), e.solve))
	return e
}

// named is the last family of bursts of that name.
func named(t *testing.T, name string) *family {
	t.Helper()
	for i := range slices.Backward(bursts) {
		if bursts[i].name == name {
			return bursts[i]
		}
	}
	require.Fail(t, "no such family", name)
	return nil
}

// With the value that is solved keys wait as long as was measured, whatever the share; for the
// true share it is the true value.
func TestExplorersSolveTheValue(t *testing.T) {
	for _, c := range []struct {
		family string
		a      model.Arrivals
		at     int // of the true share
		value  float64
	}{
		{"batches at random", model.Arrivals{Kind: model.Batches, Size: 12, Share: 0.6}, 5, math.Log(12)},
		{"bursts and pauses", model.Arrivals{Kind: model.Phases, Duty: 0.35, Depth: 1, Cycle: 1.5}, 1, math.Log(0.65 / 0.35)},
		{"uneven gaps", model.Arrivals{Kind: model.Gaps, CV: 2}, 0, math.Log(2)},
	} {
		m, _ := measure(t, working(20, c.a), staff(2), 400, 0)
		x := exploring(t, m)
		e := solved(t, x, named(t, c.family))
		require.True(t, e.nodes[c.at].ok, c.family)
		assert.InDelta(t, c.value, e.nodes[c.at].value, 0.35, c.family)
		for at, n := range e.nodes {
			if !n.ok {
				continue
			}
			d := draw{of: e, at: float64(at), value: n.value, work: x.likeliest}
			var logs []float64
			for k := range uint64(replicas) {
				y, _ := x.simulate(d.system(), x.seed+k)
				logs = append(logs, y[0])
			}
			mean, scatter := moments(logs)
			assert.InDelta(t, x.y.want[0], mean, max(0.1, scatter/2), "%s: share %v, value %.3g", c.family, e.share(float64(at)), n.value)
			assert.Greater(t, n.around, 0.0)
			low, high := e.bounds(x, e.share(float64(at)))
			assert.True(t, low <= n.value && n.value <= high)
		}
	}
}

// Where no value makes keys wait as long, there is none.
func TestExplorersSolveNothing(t *testing.T) {
	even, _ := measure(t, working(30, model.Arrivals{Kind: model.Gaps, CV: 0.01}), staff(2), 200, 0)
	for _, n := range solved(t, exploring(t, even), bursts[0]).nodes {
		assert.False(t, n.ok, "of batches they wait longer")
	}
	e := solved(t, exploring(t, even), &evener)
	for _, n := range e.nodes {
		assert.True(t, n.ok, "there is nothing to solve")
		assert.Zero(t, n.value)
	}
}

// Between two nodes lies what is between them, and beside one of which there is no value the
// other.
func TestPlacesBetweenNodes(t *testing.T) {
	e := &explored{nodes: []node{{share: 0.2, ok: true, value: 1, around: 0.2, drift: 0.1}, {share: 0.6, ok: true, value: 3, around: 0.4, drift: 0.3}, {share: 1}}}
	assert.InDelta(t, 0.3, e.share(0.25), 1e-12)
	assert.InDelta(t, 1, e.share(2), 1e-12)
	n := e.node(0.25)
	assert.InDeltaSlice(t, []float64{1.5, 0.25, 0.15}, []float64{n.value, n.around, n.drift}, 1e-12)
	assert.Equal(t, e.nodes[1], e.node(1))
	assert.Equal(t, e.nodes[1], e.node(1.5))
	assert.False(t, e.node(2).ok)
	assert.Equal(t, 1.0, newExplored(nil, &random).share(0))
}

// Where the value changes fast, or from some share on there is none, more shares are looked at.
func TestMoreSharesWhereTheValueChangesFast(t *testing.T) {
	e := &explored{nodes: []node{{share: 0.1, ok: true, value: 1}, {share: 0.2, ok: true, value: 1.5}, {share: 0.4, ok: true, value: 4}, {share: 0.8}}}
	require.True(t, e.insert())
	var shares []float64
	for _, n := range e.nodes {
		shares = append(shares, n.share)
	}
	assert.InDeltaSlice(t, []float64{0.1, 0.2, 0.3, 0.4, 0.6, 0.8}, shares, 1e-12)
	assert.Equal(t, 4.0, e.nodes[3].value)
	assert.False(t, e.nodes[2].solved)
	e = &explored{nodes: []node{{share: 0.1, ok: true, value: 1}, {share: 0.2, ok: true, value: 1.5}}}
	assert.False(t, e.insert())
	e = &explored{nodes: []node{{share: 1, ok: true, value: 1}}}
	assert.False(t, e.insert(), "of a family without shares")
}

// Bursts may be so rare that a simulation sees none, which says nothing of those that do.
func TestSimulationsThatSeeNothingAreLeftOut(t *testing.T) {
	a := model.Arrivals{Kind: model.Phases, Duty: 0.1, Depth: 1, Cycle: 60}
	m, _ := measure(t, working(5, a), staff(1), 600, 20)
	x := exploring(t, m)
	e := &explored{family: named(t, "bursts and pauses"), x: x, nodes: []node{{share: 1.4, ok: true, value: math.Log(9)}}} // of ten minutes and more
	rare := make([]draw, 100)
	for i := range rare {
		rare[i] = draw{of: e, value: math.Log(9), work: x.likeliest}
	}
	require.NoError(t, e.train(rare))
	assert.Less(t, len(e.points), 90)
	assert.Greater(t, len(e.points), 30)
	for _, p := range e.points {
		for f, y := range p.y {
			require.False(t, math.IsNaN(y), x.y.figures[f].name)
		}
	}
	assert.False(t, math.IsNaN(rare[0].tries(rare[0].value, replicas).mean))
}

// When the context ends so does all that isn't under way.
func TestParallelEndsWithTheContext(t *testing.T) {
	var done [100]bool
	require.NoError(t, parallel(t.Context(), len(done), func(i int) { done[i] = true }))
	assert.NotContains(t, done, false)
	require.NoError(t, parallel(t.Context(), 0, func(int) { assert.Fail(t, "nothing was to be done") }))

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan int, 1000)
		err := parallel(ctx, cap(begun), func(i int) {
			begun <- i
			if i == 0 {
				cancel()
			}
			time.Sleep(time.Second) // of virtual time, in which the end is seen
		})
		assert.Equal(t, context.Canceled, err)
		assert.Less(t, len(begun), cap(begun)/2)
	})
}

// A profile repeats the rates that were measured, but for what chance does to them.
func TestProfile(t *testing.T) {
	truth := model.Arrivals{Kind: model.Measured, Size: 1}
	for k := range 20 {
		truth.Rates, truth.Spans = append(truth.Rates, []float64{0.4, 1.6}[k/5%2]), append(truth.Spans, 30)
	}
	m, _ := measure(t, working(25, truth), staff(3), 600, 20)
	x := exploring(t, m)
	for part, high := range map[float64]float64{1: 1.6, 0.25: 1.3, 0: 1} {
		a := x.profile(part, 4)
		assert.Equal(t, 4.0, a.Size)
		var highs, mean float64
		for i, rate := range a.Rates {
			mean += rate * a.Spans[i] / 600
			if rate > 1 {
				highs++
			}
		}
		assert.InDelta(t, 1, mean, 1e-9)
		if part > 0 {
			assert.InDelta(t, 10, highs, 1)
			top := a.Rates[0]
			for _, rate := range a.Rates {
				top = max(top, rate)
			}
			assert.InEpsilon(t, high, top, 0.15, "of %v of the variance", part)
		}
	}
}

// The rate of keys that change unlike each other is the one with which as many are
// added as were.
func TestRateOfPopularKeys(t *testing.T) {
	s := working(30, model.Arrivals{})
	s.Service = s.Service.Times(2)
	s.Keys, s.Popular = 200, model.Zipf(200, 1)
	m, r := measure(t, s, staff(6), 3000, 0)
	m.Keys = 200
	x := exploring(t, m)
	require.Less(t, x.rate, 0.97*30, "some changed while they waited")
	assert.InEpsilon(t, 30, x.rateOfPopular(model.Zipf(200, 1)), 0.03)
	assert.Less(t, x.rateOfPopular(model.Zipf(200, 0)), 0.97*30, "alike, fewer are added to keys that wait")
	assert.InEpsilon(t, float64(r.Adds)/3000, x.rate, 1e-9)
}

// Retries are no arrivals, nor more than their bucket lets through.
func TestRateOfArrivals(t *testing.T) {
	m := &Measured{Span: 100, Adds: 50, Reconciles: 5000, Failure: 0.1, Wait: histogramOf(0.1), Work: histogramOf(0.05)}
	assert.InDelta(t, 45, newExplorer(t.Context(), m, Calls{}, seed, silent).rate, 1e-9)
	m.Controller.BucketRate = 2
	assert.InDelta(t, 48, newExplorer(t.Context(), m, Calls{}, seed, silent).rate, 1e-9)
	m.Keys = 48 // of which a tenth wait
	assert.InDelta(t, 48/0.9, newExplorer(t.Context(), m, Calls{}, seed, silent).base.Rate, 1e-9)
}

// histogramOf is of a hundred durations alike.
func histogramOf(x float64) scrape.Histogram {
	h := scrape.Histogram{Bounds: bounds, Counts: make([]float64, len(bounds)+1), Sum: 100 * x}
	for i, b := range bounds {
		if x <= b {
			h.Counts[i] = 100
			break
		}
	}
	return h
}
