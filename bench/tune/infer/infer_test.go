package infer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// explained is what is found of a measurement, and what was tried.
func explained(t *testing.T, m *Measured) (p *Posterior, tried []string) {
	t.Helper()
	if racing {
		t.Skip("the race detector only slows it down; it looks at TestCutShort")
	}
	p, err := Explain(t.Context(), m, []Calls{{}}, seed, func(doing string) { tried = append(tried, doing) })
	require.NoError(t, err)
	t.Logf("odd %.2g, %v", p.Odd, p.Families)
	all := 0.0
	for _, x := range p.Families {
		all += x
	}
	assert.InDelta(t, 1, all, 1e-9)
	assert.InDelta(t, kept, len(p.Members), 2)
	assert.Len(t, p.Works, len(p.Members))
	return p, tried
}

// Arrivals at random explain those of a queue whose keys arrive at random, which ends the search.
func TestArrivalsAtRandomEndTheSearch(t *testing.T) {
	m, _ := measure(t, working(30, model.Arrivals{}), staff(2), 300, 0)
	m.Keys = 50_000
	p, tried := explained(t, m)
	assert.Equal(t, []string{"arrivals at random"}, tried)
	assert.Greater(t, p.Families["arrivals at random"], 0.8)
	assert.GreaterOrEqual(t, p.Odd, explains)
	var rates, works []float64
	for _, x := range p.Members {
		rates, works = append(rates, x.System.Rate), append(works, x.System.Service.Mean())
		assert.Equal(t, 50_000, x.System.Keys)
	}
	for _, c := range []struct {
		list       []float64
		truth, off float64
	}{{rates, 30, 0.04}, {works, 0.05, 0.04}, {p.Works, 1, 0.15}} {
		mean, deviation := moments(c.list)
		assert.InEpsilon(t, c.truth, mean, c.off)
		assert.Greater(t, deviation, 0.0, "9,000 reconciles leave it open")
		assert.Less(t, deviation, c.off*c.truth)
	}
}

// Where nobody said how many keys there are, few of them are tried beside, but those that do
// the same as many don't take more than their part: before anything is measured it is 30%.
func TestFewKeysAreNoMoreProbableThanBefore(t *testing.T) {
	const measurements = 4
	random := 0.0
	for n := range uint64(measurements) {
		m, _ := measureWith(t, n, working(30, model.Arrivals{}), staff(2), 100, 0)
		p, tried := explained(t, m)
		assert.Equal(t, []string{"arrivals at random", "few keys"}, tried)
		random += p.Families["arrivals at random"] / measurements
	}
	assert.Greater(t, random, 0.6)
}

// Few keys that wait are told from many.
func TestFewKeysAreTold(t *testing.T) {
	s := working(60, model.Arrivals{})
	s.Keys = 30
	m, _ := measure(t, s, staff(3), 200, 0)
	p, _ := explained(t, m)
	assert.Greater(t, p.Families["few keys"], 0.9)
	var keys, rates []float64
	for _, x := range p.Members {
		keys, rates = append(keys, float64(x.System.Keys)), append(rates, x.System.Rate)
	}
	mean, _ := moments(keys)
	assert.InEpsilon(t, 30, mean, 0.2)
	mean, _ = moments(rates)
	assert.InEpsilon(t, 60, mean, 0.1)
}

// What arrives in batches makes keys wait as no arrivals at random do.
func TestBatchesAreToldFromRandom(t *testing.T) {
	m, _ := measure(t, working(20, model.Arrivals{Kind: model.Batches, Size: 20, Share: 1}), staff(2), 150, 0)
	p, tried := explained(t, m)
	assert.Less(t, p.Families["arrivals at random"], 0.1)
	assert.Contains(t, tried, "batches at random")
	assert.NotContains(t, tried, "rates as measured", "which no series of scrapes tells")
	assert.NotContains(t, tried, "even gaps")
}

// Arrivals at even distances make them wait less, and no bursts are tried.
func TestEvenGapsAreToldFromRandom(t *testing.T) {
	m, _ := measure(t, working(34, model.Arrivals{Kind: model.Gaps, CV: 0.1}), staff(2), 200, 0)
	p, tried := explained(t, m)
	assert.Greater(t, p.Families["even gaps"], 0.9)
	assert.NotContains(t, tried, "batches at random")
}

// Bursts that explain a series are believed; rates that rise all the time are no form that is
// known, and so the measured ones are.
func TestMeasuredRatesAreTheLastResort(t *testing.T) {
	bursts := model.Arrivals{Kind: model.Phases, Duty: 0.3, Depth: 1, Cycle: 20}
	rising := model.Arrivals{Kind: model.Measured, Size: 1}
	for i := range 60 {
		rising.Rates, rising.Spans = append(rising.Rates, float64(i)/29.5), append(rising.Spans, 15)
	}
	for want, a := range map[string]model.Arrivals{"bursts and pauses": bursts, asMeasured.name: rising} {
		m, _ := measure(t, working(26, a), staff(2), 900, 60)
		p, tried := explained(t, m)
		assert.Equal(t, want == asMeasured.name, slices.Contains(tried, asMeasured.name))
		assert.Greater(t, p.Families[want], 0.5, p.Families)
	}
}

// Of an overloaded queue's waits no bursts are made, nor keys so few that it would be none.
func TestOverloadTellsNothingElse(t *testing.T) {
	m, _ := measure(t, working(42, model.Arrivals{}), staff(2), 100, 0)
	m.Overloaded, m.Grown = true, true
	p, tried := explained(t, m)
	assert.NotContains(t, tried, "batches at random")
	assert.Greater(t, p.Families["arrivals at random"], 0.5)
}

// A context that has ended is an error.
func TestCancelled(t *testing.T) {
	m, _ := measure(t, working(30, model.Arrivals{}), staff(2), 100, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := Explain(ctx, m, []Calls{{}}, seed, silent)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, p)
	_, err = (&Posterior{Members: []Member{{System: working(30, model.Arrivals{})}}}).Predict(ctx, staff(2), 1, 1000, 1, seed)
	assert.ErrorIs(t, err, context.Canceled)
}

// When the time is over, what was tried by then is the posterior.
func TestCutShort(t *testing.T) {
	m, _ := measure(t, working(20, model.Arrivals{Kind: model.Batches, Size: 20, Share: 1}), staff(2), 100, 0)
	for until, least := range map[string]float64{"few keys": 0.9, "bursts and pauses": 0} {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := Explain(ctx, m, []Calls{{}}, seed, func(doing string) {
			if doing == until {
				cancel()
			}
		})
		cancel()
		require.ErrorIs(t, err, context.Canceled)
		require.NotNil(t, p)
		assert.NotEmpty(t, p.Members)
		if least > 0 {
			assert.Greater(t, p.Families["arrivals at random"], least, until)
		} else {
			assert.Greater(t, p.Families["batches at random"]+p.Families["batches at even distances"], 0.9, "%s, of %v", until, p.Families)
		}
	}
}

// Draws are taken as often as they are probable.
func TestSample(t *testing.T) {
	var list []draw
	for i, p := range []float64{0.5, 0.25, 0.125, 0.125, 1e-9} {
		list = append(list, draw{log: math.Log(p) - 700, work: i})
	}
	count := map[int]int{}
	for _, x := range sample(list, 16) {
		count[x.work]++
	}
	assert.Equal(t, map[int]int{0: 8, 1: 4, 2: 2, 3: 2}, count)
}

// Where bursts are rare beside the arrivals of a prediction it is of sixty of them, as far as
// ten times as many arrivals can be paid for.
func TestRareBatchesArePredictedForLonger(t *testing.T) {
	for _, c := range []struct{ period, length float64 }{{1, 100}, {5, 300}, {1000, 1000}} {
		s := model.System{Rate: 10, Arrivals: model.Arrivals{Kind: model.Batches, Share: 0.1, Size: c.period, Even: true}}
		list, err := (&Posterior{Members: []Member{{System: s}}}).Predict(t.Context(), staff(2), 1, 1000, 1, seed)
		require.NoError(t, err)
		assert.InEpsilon(t, c.length, list[0].Length, 1e-9, "every %v s", c.period)
	}
}

// Every so many-th member is predicted, with its own seed; what is too much has no result.
func TestPredict(t *testing.T) {
	p := &Posterior{}
	for i := range 10 {
		p.Members = append(p.Members, Member{System: working(20+2*float64(i), model.Arrivals{})})
	}
	list, err := p.Predict(t.Context(), staff(2), 3, 20_000, 1, seed)
	require.NoError(t, err)
	require.Len(t, list, 4)
	var waits []float64
	for i, r := range list {
		assert.InEpsilon(t, 20+6*float64(i), float64(r.Arrivals)/r.Length, 0.05)
		waits = append(waits, r.Wait.Mean())
	}
	assert.True(t, slices.IsSorted(waits))
	again, err := p.Predict(t.Context(), staff(2), 3, 20_000, 1, seed)
	require.NoError(t, err)
	assert.Equal(t, list[2].Wait.Mean(), again[2].Wait.Mean(), "the same seed sees the same")
	list, err = p.Predict(t.Context(), staff(2), 3, 20_000, 1.4, seed)
	require.NoError(t, err)
	assert.NotNil(t, list[1], "36.4 a second keep two workers busy for 91% of the time")
	assert.Nil(t, list[3])
}

// What lies outside of every simulation in some figure is told from what lies between them.
func TestExtremes(t *testing.T) {
	others := [][]float64{{1, 5, 2}, {2, 4, 2}, {3, 6, 2}}
	assert.Equal(t, 0, extremes([]float64{3, 5, 2}, others), "on the edge")
	assert.Equal(t, 2, extremes([]float64{0, 5, 2.1}, others))
	assert.Equal(t, 1, extremes([]float64{0, 5, 2.1}, [][]float64{{1, 5}, {2, 4}}), "the last figure of none")
}
