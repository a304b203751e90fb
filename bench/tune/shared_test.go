package tune

import (
	"math"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/informerbench/informerbench/loadgen/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A queue that shares its client with another is predicted as the two do
// together: with more workers, and with a higher limit.
func TestSharedClientAsOneSimulation(t *testing.T) {
	if *known == 1 {
		t.Skip("takes a quarter of a minute: run with -known 2 or more")
	}
	numbers(t)
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: two
seed: 1
duration: 4h
resources:
- {name: a, kind: custom, count: 20000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 10}}}
- {name: b, kind: custom, count: 20000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 12}}}
reconcile: {service: exp(50ms), calls: 2, callLatency: exp(5ms), qps: 55, burst: 10}
`))
	require.NoError(t, err)
	together := func(workers int, qps float64) sim.Result {
		s := *spec
		s.Reconcile.Workers, s.Reconcile.QPS = workers+6, qps
		r, err := sim.Run(t.Context(), sim.Config{Spec: &s, Until: 4 * time.Hour, Warmup: time.Minute, Queues: []sim.Queue{{Name: "a", Resources: []string{"a"}, Workers: workers}, {Name: "b", Workers: 6}}})
		require.NoError(t, err)
		return r
	}
	// What the metrics of the two would tell.
	x := together(2, 55)
	histogramOf := func(d durations.Histogram, bounds []float64) scrape.Histogram {
		h := scrape.Histogram{Bounds: bounds, Sum: d.Mean().Seconds() * float64(d.Count())}
		var ends []time.Duration
		for _, b := range bounds {
			ends = append(ends, time.Duration(math.Round(b*1e9)))
		}
		before := 0.0
		for _, below := range append(d.Below(ends...), 1) {
			h.Counts = append(h.Counts, (below-before)*float64(d.Count()))
			before = below
		}
		return h
	}
	d := &scrape.Delta{Interval: x.Load, Told: "test", Counts: scrape.Counts{Queues: map[string]scrape.Queue{}}}
	for _, q := range x.Queues {
		d.Queues[q.Name] = scrape.Queue{Name: q.Name, Adds: float64(q.Adds), Wait: histogramOf(q.QueueWait, workBounds), Work: histogramOf(q.Work, workBounds)}
	}
	d.Client.Limiter = histogramOf(x.Throttle, restBounds)
	exp, err := randvar.Parse("exp(5ms)")
	require.NoError(t, err)
	latency := scrape.Histogram{Bounds: restBounds}
	before := 0.0
	for _, b := range restBounds {
		below := exp.Below(b)
		latency.Counts = append(latency.Counts, (below-before)*d.Client.Limiter.Count())
		before = below
	}
	latency.Counts = append(latency.Counts, (1-before)*d.Client.Limiter.Count())
	latency.Sum = 0.005 * d.Client.Limiter.Count()
	d.Client.Request = latency

	c := predict.Current{Settings: predict.Settings{Workers: 2, QPS: 55, Burst: 10}, Told: map[string]string{"workers": "given", "qps": "given", "burst": "given"}}
	f := newFit(d, d.Queues["a"], defaults.ClientGo.Current(c, d.Queues["a"]), Options{Seed: 1, Queues: predict.MeasuredQueues}, false)
	assert.InEpsilon(t, 24, f.Background, 0.1)
	require.NoError(t, f.explain(t.Context(), 1, func(string) {}))
	for _, s := range []predict.Settings{{Workers: 2, QPS: 55}, {Workers: 3, QPS: 55}, {Workers: 2, QPS: 80}, {Workers: 3, QPS: 50}} {
		z := f.Current.Settings
		z.Workers, z.QPS = s.Workers, s.QPS
		truth := together(s.Workers, s.QPS).Queues[0].QueueWait.Quantile(0.99).Seconds()
		y, err := f.Predict(t.Context(), z, predict.Finest, 1)
		require.NoError(t, err)
		t.Logf("%s: p99 %.3g, together %.3g (%+.0f%%); %s", z.Brief(), y.Wait.P99.Mean, truth, 100*(y.Wait.P99.Mean/truth-1), f.Bursts)
		assert.InEpsilon(t, truth, y.Wait.P99.Mean, 0.25, z.Brief())
	}
}
