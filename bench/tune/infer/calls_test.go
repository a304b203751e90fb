package infer

import (
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/bench/tune/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is no call of the work is left, however much of it the calls seem to be.
func TestWorkWithoutCalls(t *testing.T) {
	m := &Measured{Work: histogramOf(0.5)}
	c := Calls{Of: []float64{0, 0, 1}, Latency: 0.05, Throttle: 0.1}
	assert.InDelta(t, 2, c.Mean(), 1e-12)
	assert.InDelta(t, 0.3, c.Busy(m), 1e-12)
	assert.InDelta(t, 0.2, c.Service(m), 1e-12)
	assert.True(t, c.throttled(m))
	c.Throttle = 0.3
	assert.InDelta(t, 0.1, c.Busy(m), 1e-12, "not shorter than its calls")
	assert.InDelta(t, 0.002, c.Service(m), 1e-12, "nor without any service")
	none := Calls{}
	assert.InDelta(t, 0.5, none.Service(m), 1e-12)
	assert.False(t, none.throttled(m))
}

// What calls take beside the work is as long as was measured, whoever makes them.
func TestCallsTakeWhatWasMeasured(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 8))
	waits := make([]float64, 6400)
	for i := range waits {
		waits[i] = max(0, r.ExpFloat64()-0.5)
	}
	for _, none := range []float64{0, 0.02, 0.12, 0.35, 0.5, 0.9} {
		c := Calls{Of: []float64{none, 1 - none}, Latency: 0.3, Throttle: 0.4}
		mean, _ := moments(c.held(waits, service.Latencies(c.Of, c.Latency)))
		assert.InEpsilon(t, (1-none)*0.7, mean, 0.01, "%v make none", none)
	}
	// Where no simulated call waits, a few that were measured did.
	c := Calls{Of: []float64{0, 1}, Throttle: 0.4}
	hardly := make([]float64, 1000)
	hardly[0] = 1e-9
	mean, _ := moments(c.held(hardly, []float64{0}))
	assert.InEpsilon(t, 0.4, mean, 0.01)
	assert.Equal(t, []float64{0.1}, c.held([]float64{0}, []float64{0.1}))
}

// Waits are as many times as frequent as is said, and no longer.
func TestOften(t *testing.T) {
	var waits []float64
	for i := range 100 {
		waits = append(waits, max(0, float64(i)-79)) // 1 to 20 of a fifth
	}
	count := func(times float64) (n int, longest float64) {
		for _, w := range often(waits, 50, times) {
			if w > 0 {
				n++
			}
			longest = max(longest, w)
		}
		return n, longest
	}
	for times, want := range map[float64]int{0: 0, 0.5: 5, 1: 10, 2: 20, 9: 50} {
		n, longest := count(times)
		assert.Equal(t, want, n, times)
		assert.LessOrEqual(t, longest, 20.0)
	}
}

// The work of reconciles behind a limit is told from their calls' waits.
func TestWorkBehindALimit(t *testing.T) {
	s := working(9, model.Arrivals{})
	s.Calls, s.Latency = []float64{0, 0, 1}, 0.01
	c := staff(5)
	c.QPS, c.Burst = 20, 10
	m, r := measure(t, s, c, 900, 0)
	calls := Calls{Of: s.Calls, Latency: 0.01, Throttle: r.Throttle.Mean()}
	require.True(t, calls.throttled(m))
	x := newExplorer(t.Context(), m, calls, seed, silent)
	x.takes(x.base)
	assert.InEpsilon(t, 0.05, calls.Service(m), 0.15)
	w := x.works[x.likeliest]
	assert.InDelta(t, 1, w.CV, 0.35)
	assert.InEpsilon(t, calls.Service(m), x.base.Service.Mean(), 0.02)
}

// Nothing times the waits: among what may have been is what was, and always something, also
// where the calls are all of the work.
func TestUntimedWaits(t *testing.T) {
	s := working(8, model.Arrivals{})
	s.Calls, s.Latency = []float64{0, 0, 1}, 0.02
	c := staff(5)
	c.QPS, c.Burst = 20, 2
	m, r := measure(t, s, c, 600, 0)
	m.Limiter.Counts = nil
	for _, latency := range []float64{0.02, 0.495 * m.Work.Mean()} {
		calls := Calls{Of: s.Calls, Latency: latency, Untimed: true}
		list := newExplorer(t.Context(), m, calls, seed, silent).untimed()
		require.NotEmpty(t, list, "calls of %.3g s", latency)
		least, most := list[0].Throttle, list[0].Throttle
		for _, x := range list {
			least, most = min(least, x.Throttle), max(most, x.Throttle)
			assert.LessOrEqual(t, x.Mean()*(x.Throttle+x.Latency), m.Work.Mean())
		}
		assert.Zero(t, least, "they may not have waited")
		if latency == 0.02 {
			assert.Greater(t, most, r.Throttle.Mean())
		}
	}
}
