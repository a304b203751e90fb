package tune

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The counters hold the sum of the calls. Two of every second reconcile wait together for
// the limit, and others not at all, as one of each would not.
func TestCallsOfSomeReconciles(t *testing.T) {
	s := system{rate: 22, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, callers: 0.5, latency: 0.01, qps: 25, tokens: 40}
	d := s.run(*seed, 1200).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("calls %.2g, %v", f.Posterior.Calls.Of, f.Posterior.Families)
	assert.InDelta(t, 0.5, f.Posterior.Calls.Of[0], 0.2, "make none")
	assert.InEpsilon(t, 1, f.Calls, 0.02)
	assert.Greater(t, f.Posterior.Odd, 0.02, "it is explained")
}

// Where no call waits, the work's form tells.
func TestWorkOfCallers(t *testing.T) {
	slow(t)
	s := system{rate: 22, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, callers: 0.5, latency: 0.03}
	d := s.run(*seed, 1200).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("calls %.2g, cv %.3g", f.Posterior.Calls.Of, f.ServiceCV)
	assert.InDelta(t, 0.5, f.Posterior.Calls.Of[0], 0.2, "make none")
	assert.InDelta(t, math.Sqrt(0.05*0.05+0.03*0.03*2)/0.08, f.ServiceCV, 0.15)
}

// As many calls of each are a whole number, and no others are tried.
func TestCallsOfAllReconciles(t *testing.T) {
	s := system{rate: 10, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, latency: 0.01, qps: 25, tokens: 10}
	d := s.run(*seed, 300).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	list := f.hypotheses()
	require.Len(t, list, 1)
	assert.InDelta(t, 1, list[0].Of[2], 0.05)
}

// Whoever makes the calls, they are as many, and each number of them has a probability.
func TestWhoeverCalls(t *testing.T) {
	s := system{rate: 10, service: exponentially(0.05), mean: 0.05, workers: 4, calls: 2, callers: 0.7, latency: 0.01, qps: 25, tokens: 10}
	d := s.run(*seed, 300).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	list := f.hypotheses()
	require.Greater(t, len(list), 3)
	for _, mean := range []float64{0.4, 1, 1.7, 2.5, 0.998} {
		list = append(list, infer.Calls{Of: evenly(mean)}, infer.Calls{Of: byChance(mean)})
	}
	for i, c := range list {
		all := 0.0
		for _, p := range c.Of {
			assert.GreaterOrEqual(t, p, 0.0)
			all += p
		}
		assert.InDelta(t, 1, all, 1e-9, "%v", c.Of)
		if i < len(list)-10 {
			assert.InEpsilon(t, f.Calls, c.Mean(), 0.01, "%v", c.Of)
		}
	}
	assert.InEpsilon(t, 1.7, infer.Calls{Of: evenly(1.7)}.Mean(), 1e-9)
	assert.InEpsilon(t, 1.7, infer.Calls{Of: byChance(1.7)}.Mean(), 0.01)
	assert.Equal(t, []float64{0, 1, 0}, evenly(0.998), "what is counted of those under way is no part of one")
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
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	require.InDelta(t, 2, f.Calls, 0.1)
	was := f.Busy
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("work %.3g, busy %.3g, waits %.3g", was, f.Busy, f.Throttle)
	assert.Greater(t, was, 1.3*0.14)
	assert.InEpsilon(t, 0.14, f.Busy, 0.12)
	assert.Contains(t, strings.Join(f.Unidentified, "; "), untimed+": rest_client_rate_limiter_duration_seconds is missing; that they waited ")
}

// Reconciles may do nothing but call, by a latency that is told.
func TestUntimedWaitsOfNothingButCalls(t *testing.T) {
	s := system{rate: 8, service: exponentially(0.001), mean: 0.001, workers: 5, calls: 2, latency: 0.06, qps: 20, tokens: 2}
	d := s.run(*seed, 600).delta(t)
	made := d.Client.Limiter.Count()
	d.Client.Limiter, d.Client.Request = scrape.Histogram{}, scrape.Histogram{}
	d.Client.Requests = map[string]float64{"200": made}
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{CallLatency: time.Duration(0.495e9 * d.Queues["q"].Work.Mean())}, false)
	require.Greater(t, f.Calls*f.CallLatency, 0.95*f.Busy)
	require.NotPanics(t, func() { require.NoError(t, f.explain(t.Context(), *seed, func(string) {})) })
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
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	require.Greater(t, f.Busy, 1.4*0.11, "waits are taken for work")
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("busy %.3g, latency %.3g, waits %.3g", f.Busy, f.CallLatency, f.Throttle)
	assert.InEpsilon(t, 0.11, f.Busy, 0.1)
	z := f.Current.Settings
	z.QPS, z.Burst = 20, 30
	x, err := f.Predict(t.Context(), z, predict.Finest, *seed)
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
		f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
		require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
		t.Logf("%d at once: %v, odd %.2g", c.batch, f.Posterior.Families, f.Posterior.Odd)
		assert.Equal(t, c.usual, f.Posterior.Families["arrivals at random"] > 0.5, "%d at once", c.batch)
	}
}

// Where a hundredth of the keys wait for a limit, most simulations see none that does. What
// the rate may be, within what the measurement leaves open, makes waits of tenths of a second.
func TestWaitsThatFewSeeHaveAnEnd(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "at the edge of a limit", rate: 8.9, service: exponentially(0.05), mean: 0.05, workers: 5, calls: 2, latency: 0.02, qps: 20, tokens: 30}
	d := s.run(2, 1200).delta(t)
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{Seed: 2}, false)
	require.NoError(t, f.explain(t.Context(), 2, func(string) {}))
	for _, workers := range []int{6, 8} {
		z := f.Current.Settings
		z.Workers = workers
		x, err := f.Predict(t.Context(), z, predict.Finest, 2)
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
	f := newFit(d, d.Queues["q"], defaults.ClientGo.Current(s.given(), d.Queues["q"]), Options{}, false)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	t.Logf("waits %.3g, measured %.3g; cv %.3g, latency %.3g", f.Throttle, each, f.ServiceCV, f.CallLatency)
	assert.InEpsilon(t, 1.41, f.ServiceCV, 0.1)
	assert.InDelta(t, each, f.Throttle, 0.01*s.mean)
}
