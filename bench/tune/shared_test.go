package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/require"
)

// Queues that share a client are predicted as they do together: with more workers, fewer, and
// with a higher limit.
func TestSharedClients(t *testing.T) {
	if *known == 1 {
		t.Skip("takes minutes: run with -known 2 or more")
	}
	numbers(t)
	var all tally
	t.Run("all", func(t *testing.T) {
		for n := range uint64(8 * *known) {
			seed := 8*(*seed) + n
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				t.Parallel()
				checkShared(t, seed, &all)
			})
		}
	})
	all.check(t)
}

// checkShared draws two controllers and the limit that they share.
func checkShared(t *testing.T, seed uint64, all *tally) {
	r := rand.New(rand.NewPCG(seed, 3))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	calls, latency := 1+r.IntN(3), between(0.003, 0.02)
	draw := func() system {
		s := system{name: fmt.Sprintf("shared %d", seed), rate: between(2, 20), mean: between(0.02, 0.15), calls: calls, latency: latency}
		s.service = exponentially(s.mean)
		s.workers = 1 + int(s.rate*(s.mean+float64(calls)*latency)*between(1.3, 3))
		return s
	}
	a, b := draw(), draw()
	a.qps = (a.rate + b.rate) * float64(calls) * between(1.08, 1.8)
	a.tokens = 1 + int(a.qps*between(0.3, 2))
	d := both(t, sharedRun(seed, 3600, a, b), 3600)
	f := newFit(d, d.Queues["a"], defaults.ClientGo.Current(a.given(), d.Queues["a"]), Options{Seed: seed, Queues: predict.MeasuredQueues}, false)
	require.NoError(t, f.explain(t.Context(), seed, func(string) {}))
	for _, y := range append(changes(a), a) {
		truth := 0.0
		for n := range uint64(4) {
			truth += percentile(sharedRun(seed+100+n, 20_000, y, b)[0].wait, 0.99) / 4
		}
		z := f.Current.Settings
		z.Workers, z.QPS = y.workers, y.qps
		figures, err := f.Predict(t.Context(), z, predict.Finest, seed)
		require.NoError(t, err)
		p99 := figures.Wait.P99
		t.Logf("%s: p99 %.4g [%.4g, %.4g], true %.4g (%+.0f%%); %.2g calls a reconcile of %d", z.Brief(), p99.Mean, p99.Low, p99.High, truth, 100*(p99.Mean/truth-1), f.Calls, calls)
		all.add(math.Abs(p99.Mean-truth) <= max(0.25*truth, 0.1*a.mean), p99, truth)
	}
}
