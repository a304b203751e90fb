package search

import (
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seed is of what the tests simulate.
const seed = 1

// numbers skips a test that compares figures over minutes of simulation: the
// race detector makes it ten times as slow and finds in it what it finds in the
// tests of package sim.
func numbers(t *testing.T) {
	t.Helper()
	if racing {
		t.Skip("compares figures, which the race detector only slows down")
	}
}

func objectives(t *testing.T, texts ...string) []Objective {
	t.Helper()
	var list []Objective
	for _, text := range texts {
		o, err := ParseObjective(text)
		require.NoError(t, err)
		list = append(list, o)
	}
	return list
}

// For each setting a workload in which the search changes it, and in which
// trying every value of it, with as many workers and calls, finds none better by
// a tenth.
func TestEverySettingIsSearched(t *testing.T) {
	numbers(t)
	const one = `resources: [{name: a, kind: custom, count: 1000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: `
	bursts := one + `{kind: onoff, rate: 15, on: 2s, off: 28s}}}]
`
	steadily := func(rate string) string { return one + `{kind: poisson, rate: ` + rate + `}}}]` + "\n" }
	delays := func(set func(*predict.Settings, time.Duration)) (list []func(*predict.Settings)) {
		for _, d := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 1000 * time.Second} {
			list = append(list, func(y *predict.Settings) { set(y, d) })
		}
		return list
	}
	numbered := func(set func(*predict.Settings, int), values ...int) (list []func(*predict.Settings)) {
		for _, v := range values {
			list = append(list, func(y *predict.Settings) { set(y, v) })
		}
		return list
	}
	resyncs := delays(func(y *predict.Settings, d time.Duration) { y.Resync = 10*time.Second + d })
	for name, c := range map[string]struct {
		spec       string
		objectives []string
		grid       []func(*predict.Settings)
	}{
		"workers": {steadily("60") + `reconcile: {workers: 4, service: exp(50ms)}`, []string{"p99 queue wait < 50ms"},
			numbered(func(y *predict.Settings, n int) { y.Workers = n }, 4, 5, 6, 7, 8, 9, 10, 12, 16)},
		"qps": {steadily("30") + `reconcile: {workers: 4, service: exp(10ms), calls: 1, qps: 31, burst: 31}`, []string{"p99 settle < 200ms"},
			numbered(func(y *predict.Settings, n int) { y.QPS = float64(n) }, 31, 33, 35, 37, 40, 45, 50, 60, 80)},
		"burst": {bursts + `reconcile: {workers: 40, service: 10ms, calls: 1, qps: 100, burst: 5}`, []string{"p99 settle < 1500ms", "api qps <= 100"},
			numbered(func(y *predict.Settings, n int) { y.Burst = n }, 5, 50, 100, 150, 200)},
		"baseDelay": {steadily("20") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.3, limiter: {baseDelay: 2s, rate: 100, burst: 100}}`, []string{"p99 settle < 1s"},
			delays(func(y *predict.Settings, d time.Duration) { y.BaseDelay = min(d, y.MaxDelay) })},
		"maxDelay": {steadily("20") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.7, limiter: {rate: 1000, burst: 1000}}`, []string{"p99 settle < 1m"},
			delays(func(y *predict.Settings, d time.Duration) { y.MaxDelay = max(d, time.Second) })},
		"bucketRate": {steadily("100") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.2}`, []string{"p99 settle < 1s"},
			numbered(func(y *predict.Settings, n int) { y.BucketRate = float64(n) }, 10, 20, 50, 100, 1000)},
		"bucketBurst": {bursts + `reconcile: {workers: 40, service: 10ms, failure: 0.3}`, []string{"p99 settle < 1s"},
			numbered(func(y *predict.Settings, n int) { y.BucketBurst = n }, 100, 200, 500, 1000, 10_000)},
		"resync": {steadily("30") + `reconcile: {workers: 3, service: exp(20ms), resync: 10s}`, []string{"utilisation < 60%", "max workers 3"}, resyncs},
		"priority": {steadily("30") + `reconcile: {workers: 3, service: exp(20ms), resync: 1m}`, []string{"p99 settle < 300ms", "max workers 3"},
			[]func(*predict.Settings){func(y *predict.Settings) { y.Priority, y.Queue = false, "client-go" }, func(y *predict.Settings) { y.Priority, y.Queue = true, "controller-runtime" }}},
		"split": {`resources:
- {name: calm, kind: custom, count: 5000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 100}}}
- {name: rare, kind: custom, count: 1000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: onoff, rate: 0.9, on: 100ms, off: 300s}}}
` + `reconcile: {workers: 4, service: exp(20ms)}`, []string{"p99 settle < 300ms", "max workers 4"},
			[]func(*predict.Settings){func(y *predict.Settings) { y.Split = false }, func(y *predict.Settings) { y.Split = true }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			length := "2m"
			if slices.Contains([]string{"split", "burst", "bucketBurst", "priority"}, name) {
				length = "20m"
			}
			spec, err := loadgen.ParseSpec("w.yaml", []byte("name: w\nseed: 1\nduration: "+length+"\n"+c.spec))
			require.NoError(t, err)
			spec, err = spec.Complete()
			require.NoError(t, err)
			given := predict.Current{Settings: predict.SettingsOf(spec.Reconcile)}
			given.Queue = given.PeersQueue()
			m := predict.OfSpec(spec, nil, predict.MeasuredQueues)
			require.NoError(t, m.Measure(t.Context(), given.Settings, seed))
			s := New(m, Config{Current: given.Settings, Seed: seed, Objectives: objectives(t, c.objectives...), Progress: func(string) {}})
			best, err := s.Best(t.Context())
			require.NoError(t, err)
			assert.Empty(t, s.impossible)
			field := predict.Fields[slices.IndexFunc(predict.Fields, func(f predict.Field) bool { return f.Name == name })]
			assert.NotEqual(t, field.Text(given.Settings), field.Text(best), "the search changes it")
			chosen := s.figures(best)
			for _, change := range c.grid {
				y := best
				change(&y)
				f := s.figures(y)
				require.NoError(t, s.err)
				t.Logf("%s %s: settled within %s, busy %.0f%%; cost %.4g, meets %v", name, field.Text(y), durations.Seconds(f.Settle.P99.Mean), 100*f.Utilisation.Mean, y.Cost(), s.meets(f))
				if s.meets(f) && y.Cost() <= best.Cost() {
					assert.LessOrEqual(t, best.Cost(), 1.1*y.Cost(), "cheaper with %s, not %s", field.Text(y), field.Text(best))
					if name != "burst" && name != "qps" && name != "workers" {
						assert.LessOrEqual(t, chosen.Settle.P99.Mean, 1.15*f.Settle.P99.Mean, "faster with %s, not %s", field.Text(y), field.Text(best))
					}
				}
			}
		})
	}
}
