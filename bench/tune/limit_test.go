package tune

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The counters hold the sum of the calls. Two of every second reconcile wait together for
// the limit, and others not at all, as one of each would not.
func TestCallsOfSomeReconciles(t *testing.T) {
	s := system{rate: 22, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, callers: 0.5, latency: 0.01, qps: 25, tokens: 40}
	d := s.run(*seed, 1200).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	tr := trial{f, *seed, 6_000}
	shapes, err := f.behindLimit(t.Context(), tr, func(string) {})
	require.NoError(t, err)
	assert.Greater(t, f.callers.each, 1.0)
	assert.LessOrEqual(t, f.callers.each, 3.0)
	assert.NotEmpty(t, shapes)
	x, err := tr.run(t.Context())
	require.NoError(t, err)
	assert.Less(t, x.score, surely)
	assert.InEpsilon(t, 1, f.Spec.Reconcile.Calls.Mean(), 0.02)
}

// Where no call waits, the work's form tells.
func TestWorkOfCallers(t *testing.T) {
	s := system{rate: 22, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, callers: 0.5, latency: 0.03}
	d := s.run(*seed, 1200).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	f.whoseWork()
	assert.False(t, f.service.whole)
	assert.Greater(t, f.callers.each, 1.0)
	assert.InDelta(t, math.Sqrt(0.05*0.05+0.03*0.03*2)/0.08, f.ServiceCV, 0.15)
}

// As many calls of each are a whole number, and no others are tried.
func TestCallsOfAllReconciles(t *testing.T) {
	s := system{rate: 10, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, latency: 0.01, qps: 25, tokens: 10}
	d := s.run(*seed, 300).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	assert.Equal(t, []callers{{}}, f.whoCalls())
}

func TestCallers(t *testing.T) {
	for _, c := range []callers{{}, {each: 3}, {each: 8}, {spread: true}, {chance: true}} {
		for _, mean := range []float64{0.4, 1, 1.7, 2.5} {
			sum := 0.0
			for n, p := range c.shares(mean) {
				sum += float64(n) * p
			}
			assert.InEpsilon(t, mean, sum, 0.01, "%+v", c)
			assert.InEpsilon(t, mean, c.of(mean).Mean(), 0.01, "%+v", c)
		}
	}
}

// Waits that the client doesn't time are no work: a higher limit ends them.
func TestUntimedWaits(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{rate: 8, service: exponentially(0.1), mean: 0.1, workers: 5, calls: 2, latency: 0.02, qps: 20, tokens: 2}
	d := s.run(*seed, 1000).delta(t)
	made := d.Client.Limiter.Count()
	d.Client.Limiter, d.Client.Request = scrape.Histogram{}, scrape.Histogram{}
	d.Client.Requests = map[string]float64{"200": made}
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	require.InDelta(t, 2, f.Calls, 0.1)
	was := f.Busy
	require.NoError(t, f.unseen(t.Context(), trial{f, *seed, 3_000}, func(string) {}))
	t.Logf("work %.3g, busy %.3g, waits %.3g", was, f.Busy, f.Throttle)
	assert.Greater(t, was, 1.3*0.14)
	assert.InEpsilon(t, 0.14, f.Busy, 0.12)
	assert.True(t, f.throttled)
}

// Reconciles may do nothing but call, by a latency that is told.
func TestUntimedWaitsOfNothingButCalls(t *testing.T) {
	s := system{rate: 8, service: exponentially(0.001), mean: 0.001, workers: 5, calls: 2, latency: 0.06, qps: 20, tokens: 2}
	d := s.run(*seed, 600).delta(t)
	made := d.Client.Limiter.Count()
	d.Client.Limiter, d.Client.Request = scrape.Histogram{}, scrape.Histogram{}
	d.Client.Requests = map[string]float64{"200": made}
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{CallLatency: time.Duration(0.495e9 * d.Queues["q"].Work.Mean())}, false)
	require.Greater(t, f.Calls*f.CallLatency, 0.95*f.Busy)
	require.NoError(t, f.unseen(t.Context(), trial{f, *seed, 2_000}, func(string) {}))
	assert.LessOrEqual(t, f.Calls*(f.CallLatency+f.Throttle), 1.001*f.Work)
}

// One worker's calls wait for the limit the less the longer it works between them, and
// where the client times neither waits nor latencies, the work and the keys' waits tell both.
func TestOneWorkersUntimedWaits(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{rate: 3, service: lognormally(0.05, 1), mean: 0.05, workers: 1, calls: 3, latency: 0.02, qps: 10, tokens: 15, runtime: true}
	d := s.run(*seed, 1800).delta(t)
	made := d.Client.Limiter.Count()
	d.Client.Limiter, d.Client.Request = scrape.Histogram{}, scrape.Histogram{}
	d.Client.Requests = map[string]float64{"200": made}
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	require.Greater(t, f.Busy, 1.4*0.11, "waits are taken for work")
	require.NoError(t, f.unseen(t.Context(), trial{f, *seed, 3_000}, func(string) {}))
	t.Logf("busy %.3g, latency %.3g, waits %.3g", f.Busy, f.CallLatency, f.Throttle)
	assert.InEpsilon(t, 0.11, f.Busy, 0.1)
	z := f.current.Settings
	z.QPS, z.Burst = 20, 30
	x, err := f.predict(t.Context(), z, fine, *seed)
	require.NoError(t, err)
	s.qps, s.tokens = 20, 30
	assert.InEpsilon(t, s.truth(t, 0), x.Wait.P99.Mean, 0.25)
}

// Near a limit few measurements see long waits, and are no sign of bursts.
func TestRareWaitsAreUsual(t *testing.T) {
	numbers(t)
	slow(t)
	for _, c := range []struct {
		batch int
		usual bool
	}{{0, true}, {2, false}, {10, false}} {
		s := system{rate: 23.5, service: exponentially(0.03), mean: 0.03, workers: 5, calls: 2, latency: 0.01, qps: 50, tokens: 100, batch: c.batch}
		d := s.run(*seed, 1200).delta(t)
		f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
		tr := trial{f, *seed, 30_000}
		x, err := tr.run(t.Context())
		require.NoError(t, err)
		require.Greater(t, x.score, surely)
		_, usual, err := f.typical(t.Context(), tr, x, func(string) {})
		require.NoError(t, err)
		assert.Equal(t, c.usual, usual)
	}
}

// Where a hundredth of the keys wait for a limit, most simulations see none that does. What
// the rate may be, within what the measurement leaves open, makes waits of tenths of a second.
func TestWaitsThatFewSeeHaveAnEnd(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "at the edge of a limit", rate: 8.9, service: exponentially(0.05), mean: 0.05, workers: 5, calls: 2, latency: 0.02, qps: 20, tokens: 30}
	d := s.run(2, 1200).delta(t)
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{Seed: 2}, false)
	_, err := f.fitBursts(t.Context(), 2, func(string) {})
	require.NoError(t, err)
	for _, workers := range []int{6, 8} {
		z := f.current.Settings
		z.Workers = workers
		x, err := f.predict(t.Context(), z, fine, 2)
		require.NoError(t, err)
		x, err = f.doubted(t.Context(), x, 2)
		require.NoError(t, err)
		y := s
		y.workers = workers
		truth, p99 := y.truth(t, 0), x.Wait.P99
		t.Logf("%d workers: p99 %.3g [%.3g, %.3g], true %.3g", workers, p99.Mean, p99.Low, p99.High, truth)
		assert.True(t, p99.Low <= truth && truth <= p99.High, "the interval holds the truth: %d workers", workers)
		assert.Less(t, p99.High, 20.0)
	}
}

// Client-go times requests with their wait for the limit. Where these waits are rare, only
// the longest tell whether somebody else's client does.
func TestRequestsWithTheirWaits(t *testing.T) {
	bounds := []float64{0.005, 0.025, 0.1, 0.25}
	waits := scrape.Histogram{Bounds: bounds, Counts: []float64{15_000, 100, 300, 600, 0}, Sum: 130}
	without := scrape.Histogram{Bounds: bounds, Counts: []float64{6000, 9000, 999, 1, 0}, Sum: 160}
	with := scrape.Histogram{Bounds: bounds, Counts: []float64{5600, 8700, 1090, 610, 0}, Sum: 290}
	assert.True(t, includes(with, waits))
	assert.False(t, includes(without, waits))
	assert.False(t, includes(with, scrape.Histogram{}))
	with.Counts[3] -= 5
	assert.True(t, includes(with, waits), "some are under way")
	coarse := scrape.Histogram{Bounds: []float64{0.1}, Counts: []float64{15_390, 610}, Sum: 290}
	assert.True(t, includes(coarse, waits), "by the bounds, not by their places")
}

// Where nothing times a client's waits and calls, a latency of a hundredth of the work
// decides which service time explains the shortest work, and so how the longest are.
func TestShortCallsBesideUntimedWaits(t *testing.T) {
	numbers(t)
	slow(t)
	// Of the square of a normal variable the coefficient of variation is 1.41.
	s := system{rate: 0.8, service: func(r *rand.Rand) float64 { x := r.NormFloat64(); return 1.33 * x * x }, mean: 1.33, workers: 2, calls: 2, latency: 0.0064, qps: 4, tokens: 6, runtime: true}
	d := s.run(*seed, 2400).delta(t)
	made, each := d.Client.Limiter.Count(), d.Client.Limiter.Mean()
	d.Client.Limiter, d.Client.Request = scrape.Histogram{}, scrape.Histogram{}
	d.Client.Requests = map[string]float64{"200": made}
	f := newFit(d, d.Queues["q"], clientGo.current(s.given(), d.Queues["q"]), Options{}, false)
	require.NoError(t, f.unseen(t.Context(), trial{f, *seed, 20_000}, func(string) {}))
	t.Logf("waits %.3g, measured %.3g; cv %.3g, latency %.3g", f.Throttle, each, f.ServiceCV, f.CallLatency)
	assert.InEpsilon(t, 1.41, f.shape.cv, 0.1)
	assert.InDelta(t, each, f.Throttle, 0.01*s.mean)
}
