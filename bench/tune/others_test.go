package tune

import (
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/durations"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// For each setting a workload in which the search changes it, and in which
// trying every value of it, with as many workers and calls, finds none better by
// a tenth.
func TestEverySettingIsSearched(t *testing.T) {
	numbers(t)
	const one = `resources: [{name: a, kind: custom, count: 1000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: `
	bursts := one + `{kind: onoff, rate: 15, on: 2s, off: 28s}}}]
`
	steadily := func(rate string) string { return one + `{kind: poisson, rate: ` + rate + `}}}]` + "\n" }
	delays := func(set func(*Settings, time.Duration)) (list []func(*Settings)) {
		for _, d := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 1000 * time.Second} {
			list = append(list, func(y *Settings) { set(y, d) })
		}
		return list
	}
	numbered := func(set func(*Settings, int), values ...int) (list []func(*Settings)) {
		for _, v := range values {
			list = append(list, func(y *Settings) { set(y, v) })
		}
		return list
	}
	resyncs := delays(func(y *Settings, d time.Duration) { y.Resync = 10*time.Second + d })
	for name, c := range map[string]struct {
		spec       string
		objectives []string
		kind       flavour
		grid       []func(*Settings)
	}{
		"workers": {steadily("60") + `reconcile: {workers: 4, service: exp(50ms)}`, []string{"p99 queue wait < 50ms"}, clientGo,
			numbered(func(y *Settings, n int) { y.Workers = n }, 4, 5, 6, 7, 8, 9, 10, 12, 16)},
		"qps": {steadily("30") + `reconcile: {workers: 4, service: exp(10ms), calls: 1, qps: 31, burst: 31}`, []string{"p99 settle < 200ms"}, clientGo,
			numbered(func(y *Settings, n int) { y.QPS = float64(n) }, 31, 33, 35, 37, 40, 45, 50, 60, 80)},
		"burst": {bursts + `reconcile: {workers: 40, service: 10ms, calls: 1, qps: 100, burst: 5}`, []string{"p99 settle < 1500ms", "api qps <= 100"}, clientGo,
			numbered(func(y *Settings, n int) { y.Burst = n }, 5, 50, 100, 150, 200)},
		"baseDelay": {steadily("20") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.3, limiter: {baseDelay: 2s, rate: 100, burst: 100}}`, []string{"p99 settle < 1s"}, clientGo,
			delays(func(y *Settings, d time.Duration) { y.BaseDelay = min(d, y.MaxDelay) })},
		"maxDelay": {steadily("20") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.7, limiter: {rate: 1000, burst: 1000}}`, []string{"p99 settle < 1m"}, clientGo,
			delays(func(y *Settings, d time.Duration) { y.MaxDelay = max(d, time.Second) })},
		"bucketRate": {steadily("100") + `reconcile: {workers: 5, service: exp(10ms), failure: 0.2}`, []string{"p99 settle < 1s"}, clientGo,
			numbered(func(y *Settings, n int) { y.BucketRate = float64(n) }, 10, 20, 50, 100, 1000)},
		"bucketBurst": {bursts + `reconcile: {workers: 40, service: 10ms, failure: 0.3}`, []string{"p99 settle < 1s"}, clientGo,
			numbered(func(y *Settings, n int) { y.BucketBurst = n }, 100, 200, 500, 1000, 10_000)},
		"resync": {steadily("30") + `reconcile: {workers: 3, service: exp(20ms), resync: 10s}`, []string{"utilisation < 60%", "max workers 3"}, clientGo, resyncs},
		"priority": {steadily("30") + `reconcile: {workers: 3, service: exp(20ms), resync: 1m}`, []string{"p99 settle < 300ms", "max workers 3"}, clientGo,
			[]func(*Settings){func(y *Settings) { y.Priority, y.Queue = false, "client-go" }, func(y *Settings) { y.Priority, y.Queue = true, "controller-runtime" }}},
		"split": {`resources:
- {name: calm, kind: custom, count: 5000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 100}}}
- {name: rare, kind: custom, count: 1000, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: onoff, rate: 0.9, on: 100ms, off: 300s}}}
` + `reconcile: {workers: 4, service: exp(20ms)}`, []string{"p99 settle < 300ms", "max workers 4"}, clientGo,
			[]func(*Settings){func(y *Settings) { y.Split = false }, func(y *Settings) { y.Split = true }}},
		"queue": {strings.Replace(steadily("50000"), "count: 1000", "count: 100000", 1) + `reconcile: {workers: 2, service: 5us}`, nil, controllerRuntime,
			[]func(*Settings){func(y *Settings) { y.Queue = "levels" }, func(y *Settings) { y.Queue = "controller-runtime" }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			length := "2m"
			switch name {
			case "split", "burst", "bucketBurst", "priority":
				length = "20m"
			case "queue":
				length = "1s"
			}
			spec, err := loadgen.ParseSpec("w.yaml", []byte("name: w\nseed: 1\nduration: "+length+"\n"+c.spec))
			require.NoError(t, err)
			spec, err = spec.Complete()
			require.NoError(t, err)
			given := Current{Settings: settingsOf(spec.Reconcile)}
			given.Priority = c.kind == controllerRuntime
			given.Queue = queueVariant(given.Priority)
			m := &Model{Spec: spec, several: len(spec.Resources) > 1, queues: measuredQueues}
			require.NoError(t, m.measure(t.Context(), given.Settings, *seed))
			s := newSearch(m, given.Settings, Options{Seed: *seed, Objectives: objectives(t, c.objectives...)}, c.kind, func(string) {})
			best, err := s.best(t.Context())
			require.NoError(t, err)
			assert.Empty(t, s.impossible)
			field := fields[fieldOf(name)]
			assert.NotEqual(t, field.text(given.Settings), field.text(best), "the search changes it")
			chosen, err := s.figures(t.Context(), best)
			require.NoError(t, err)
			for _, change := range c.grid {
				y := best
				change(&y)
				f, err := s.figures(t.Context(), y)
				require.NoError(t, err)
				t.Logf("%s %s: settled within %s, busy %.0f%%, queue %s; cost %.4g, meets %v", name, field.text(y), durations.Seconds(f.Settle.P99.Mean), 100*f.Utilisation.Mean, percent(f.QueueCores.Mean), cost(y), s.meets(f))
				if s.meets(f) && cost(y) <= cost(best) {
					assert.LessOrEqual(t, cost(best), 1.1*cost(y), "cheaper with %s, not %s", field.text(y), field.text(best))
					assert.LessOrEqual(t, chosen.QueueCores.Mean, f.QueueCores.Mean+worthwhile, "lighter with %s", field.text(y))
					if name != "burst" && name != "qps" && name != "workers" {
						assert.LessOrEqual(t, chosen.Settle.P99.Mean, 1.15*f.Settle.P99.Mean, "faster with %s, not %s", field.text(y), field.text(best))
					}
				}
			}
		})
	}
}

// What can't be set, or makes no difference, is said.
func TestWhatMakesNoDifference(t *testing.T) {
	spec, err := loadgen.ParseSpec("w.yaml", []byte(`
name: calm
seed: 1
duration: 1m
resources: [{name: a, kind: custom, count: 500, events: {pattern: mix, mix: {add: 0, update: 1, delete: 0}, arrivals: {kind: poisson, rate: 40}}}]
reconcile: {workers: 3, service: exp(50ms)}
`))
	require.NoError(t, err)
	r, err := Workload(t.Context(), spec, Options{Objectives: objectives(t, "p99 queue wait < 20ms"), Seed: 1})
	require.NoError(t, err)
	why := map[string]string{}
	for _, c := range r.Queues[0].Changes {
		why[c.Setting] = c.Why
	}
	assert.Contains(t, why["batch"], "not a setting of client-go's informers")
	assert.Regexp(t, `^(39|4.)\S* adds a second take 0.000\d+% of a processor: no measurable difference below \d{5}, from where on heap4 saves 1%$`, why["queue"])
	assert.Equal(t, "there are no resyncs", why["resync"])
	assert.Equal(t, "there is one resource", why["split"])
	var queues Curve
	for _, c := range r.Queues[0].Curves {
		if c.Setting == "queue" {
			queues = c
		}
	}
	require.Len(t, queues.Points, 3)
	assert.Equal(t, queues.Points[0].SettleP99, queues.Points[1].SettleP99)
	assert.Greater(t, queues.Points[0].QueueCores, queues.Points[1].QueueCores)
}

func TestQueueCosts(t *testing.T) {
	sample := func(name, arm string, seconds float64) experiment.Measurement {
		return experiment.Measurement{Case: name, Arm: arm, Values: experiment.NewValues(map[string]float64{"cpu-sec/op": seconds})}
	}
	costs, err := QueueCosts([]experiment.Measurement{
		sample(successCase, "mine", 100e-9), sample(successCase, "mine", 300e-9), sample(successCase, "mine", 110e-9),
		sample(retryCase, "mine", 400e-9), sample(successCase, "half", 1e-9),
		sample(priorityCase, "levels", 500e-9), sample(priorityCase, "controller-runtime-again", 1),
	})
	require.NoError(t, err)
	require.Len(t, costs, 2)
	assert.Equal(t, QueueCost{"levels", true, 500e-9, 500e-9}, costs[0])
	assert.InDelta(t, 110e-9, costs[1].Item, 1e-15)
	assert.InDelta(t, 290e-9, costs[1].Retry, 1e-15)
	_, err = QueueCosts(nil)
	assert.ErrorContains(t, err, "found no queue's cost, expected samples of rate-limiting-queue/op=success")

	s := defaultSettings()
	s.Workers = 1
	s.Queue = "mnie"
	assert.EqualError(t, s.Check(costs), `queue: found "mnie", expected one of levels, mine`)
	s.Queue = "levels"
	assert.EqualError(t, s.Check(costs), "queue: found levels with priority off, expected one of mine")
}
