package infer

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steps are so many of a length in seconds, one after the other.
func steps(n int, span float64) (list []scrape.Step, spans []float64) {
	for i := range n {
		list, spans = append(list, scrape.Step{Begin: float64(i) * span, Span: span}), append(spans, span)
	}
	return list, spans
}

// The dispersion of the counts is how many come at once, whatever the windows' length.
func TestDispersion(t *testing.T) {
	list, spans := steps(2000, 5)
	for _, size := range []float64{1, 7} {
		a := model.Arrivals{Kind: model.Batches, Share: 1, Size: size}
		counts := a.Counts(20, spans, rand.New(rand.NewPCG(seed, 1)))
		assert.InEpsilon(t, size, dispersion(counts, spans, windows(list, 1)), 0.15)
		assert.InEpsilon(t, size, dispersion(counts, spans, windows(list, 9)), 0.4)
	}
	assert.InDelta(t, 0, dispersion([]float64{10, 20, 10}, []float64{1, 2, 1}, [][2]int{{0, 1}, {1, 2}, {2, 3}}), 1e-12, "of windows that are not of one length")
	assert.Zero(t, dispersion([]float64{0, 0}, []float64{1, 1}, [][2]int{{0, 1}, {1, 2}}), "of none")
}

// Windows hold steps that follow each other.
func TestWindows(t *testing.T) {
	list, _ := steps(30, 5)
	assert.Len(t, windows(list, 1), 30)
	assert.Equal(t, [2]int{27, 30}, windows(list, 3)[9])
	assert.Len(t, windows(list, 7), 4)
	for i := 4; i < len(list); i++ {
		list[i].Begin += 60
	}
	assert.Len(t, windows(list, 3), 9, "none spans a gap")
	assert.NotContains(t, windows(list, 3), [2]int{3, 6})
}

// Bounds that tell no more than the one before are not compared, nor those below what is
// simulated.
func TestBoundsThatTell(t *testing.T) {
	h := scrape.Histogram{Bounds: []float64{1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10}, Counts: []float64{10, 0, 40, 0, 945, 5, 0, 0}}
	list, below := apart(h)
	assert.Equal(t, []float64{1e-3, 0.1, 1}, list)
	assert.Equal(t, []float64{0.05, 0.995, 1}, below)
	h.Counts = []float64{0, 0, 1000, 0, 0, 0, 0, 0}
	list, _ = apart(h)
	assert.Equal(t, []float64{1e-3}, list)
	fine := scrape.Histogram{}
	for i := range 30 {
		fine.Bounds, fine.Counts = append(fine.Bounds, float64(i+1)), append(fine.Counts, 30)
	}
	fine.Counts = append(fine.Counts, 0)
	list, _ = apart(fine)
	assert.Len(t, list, 8)
}

// What a simulation counts has the figures that it has as a measurement: they are compared
// one by one.
func TestFiguresAreComparable(t *testing.T) {
	limited := staff(4)
	limited.QPS, limited.Burst = 26, 10
	calling := working(20, model.Arrivals{})
	calling.Calls, calling.Latency = []float64{0, 1}, 0.01
	failing := working(12, model.Arrivals{})
	failing.Failure = 0.2
	for name, c := range map[string]struct {
		s     model.System
		c     model.Controller
		steps int
		part  float64
		names []string
	}{
		"plain":    {working(30, model.Arrivals{}), staff(2), 0, 1, []string{"mean wait", "adds", "mean work"}},
		"limited":  {calling, limited, 0, 1, []string{"mean wait", "adds", "mean work", "mean wait for the limit", "waits for the limit up to a bound"}},
		"a series": {failing, staff(2), 60, 1, []string{"mean wait", "dispersion of the adds", "unevenness of the waits"}},
		"too long": {failing, staff(2), 60, 0.5, []string{"mean wait", "dispersion of the adds"}},
	} {
		m, r := measure(t, c.s, c.c, 600, c.steps)
		y := newYardstick(m, c.part)
		counts := make([]float64, len(r.Steps))
		for i, s := range r.Steps {
			counts[i] = s.Adds
		}
		if c.part < 1 { // of arrivals, of which some are added once more
			counts = c.s.Arrivals.Counts(c.s.Rate, y.spans, rand.New(rand.NewPCG(seed, 1)))
		}
		got := y.simulated(r, counts)
		require.Len(t, got, len(y.want), name)
		require.Len(t, y.figures, len(y.want), name)
		found := map[string]bool{}
		for i, f := range y.figures {
			found[f.name] = true
			near := 0.02
			if f.name == "dispersion of the adds" && c.part < 1 {
				near = 1
			}
			assert.InDelta(t, y.want[i], got[i], near, "%s: %s", name, f.name)
		}
		for _, want := range c.names {
			assert.True(t, found[want], "%s: %s", name, want)
		}
		assert.Equal(t, c.steps > 0 && c.part == 1, found["unevenness of the waits"], name)
		assert.Equal(t, c.steps > 0, found["dispersion of the adds"], name)
	}
	few, _ := measure(t, working(30, model.Arrivals{}), staff(2), 100, minSteps-1)
	assert.Empty(t, newYardstick(few, 1).windows, "too few steps tell no variance")
}
