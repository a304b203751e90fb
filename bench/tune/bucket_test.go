package tune

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With its priority queue controller-runtime's retries wait for no tokens: 20 a second,
// which client-go's bucket would let through at 10.
func TestRetriesWithoutABucket(t *testing.T) {
	numbers(t)
	slow(t)
	s := system{name: "retries without a bucket", rate: 30, service: exponentially(0.05), mean: 0.05, workers: 4, failure: 0.4, runtime: true}
	d := s.run(*seed, *length).delta(t)
	kind := flavourOf(d)
	require.Equal(t, controllerRuntime, kind)
	f := newFit(d, d.Queues["q"], kind.current(s.given(), d.Queues["q"]), Options{Seed: *seed, Queues: measuredQueues}, false)
	assert.Zero(t, f.current.BucketRate)
	assert.InEpsilon(t, s.rate, f.ArrivalRate, 0.1)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	now, err := f.predict(t.Context(), f.current.Settings, finest, *seed)
	require.NoError(t, err)
	require.True(t, now.Stable)
	truth := s.truth(t, 0)
	t.Logf("p99 %.3g [%.3g, %.3g], true %.3g", now.Wait.P99.Mean, now.Wait.P99.Low, now.Wait.P99.High, truth)
	assert.InEpsilon(t, truth, now.Wait.P99.Mean, 0.25)

	with := Alternative{Change: func(y *Settings) { y.BucketRate = 10 }}.of(f.current.Settings)
	assert.Equal(t, 100, with.BucketBurst)
	limited, err := f.predict(t.Context(), with, finest, *seed)
	require.NoError(t, err)
	assert.False(t, limited.Stable)
	assert.Equal(t, "retry bucket", limited.Bottleneck)

	a := Advice{Queue: "q", Current: f.current, Recommended: f.current.Settings, Model: f.Model, Now: &now, Then: &now}
	a.explain(kind)
	for _, p := range a.Paste {
		assert.NotContains(t, p.Text, "Bucket", p.For)
	}
	for _, c := range a.Changes {
		if c.Setting == "bucketRate" || c.Setting == "bucketBurst" {
			assert.Equal(t, []string{"none", "none", unbucketed, "retries wait for the back-off of their key alone"}, []string{c.Current, c.Recommended, c.Told, c.Why})
		}
	}
	// Who has given the controller a limiter of its own says so.
	c := s.given()
	c.BucketRate, c.Told["bucketRate"] = 50, "given"
	a.Recommended = kind.current(c, d.Queues["q"]).Settings
	assert.Contains(t, paste(a, kind)[0].Text, "rate.NewLimiter(50, 100)")
}

// The labels of workqueue_depth tell the queue, and that the limiter.
func TestTheQueueTellsTheBucket(t *testing.T) {
	for _, c := range []struct {
		name     string
		flavour  flavour
		kind     scrape.Kind
		given    string // setting
		priority bool
		rate     float64
		burst    int
	}{
		{"not scraped, as by default", controllerRuntime, scrape.Untold, "", true, 0, 0},
		{"prioritised", controllerRuntime, scrape.Prioritised, "", true, 0, 0},
		{"older, or switched off", controllerRuntime, scrape.Plain, "", false, 10, 100},
		{"switched off, as given", controllerRuntime, scrape.Prioritised, "priority", false, 10, 100},
		{"with a bucket of its own", controllerRuntime, scrape.Prioritised, "bucketRate", true, 7, 100},
		{"with a burst of its own", controllerRuntime, scrape.Prioritised, "bucketBurst", true, 10, 7},
		{"client-go", clientGo, scrape.Plain, "", false, 10, 100},
	} {
		given := Current{Settings: Settings{Workers: 1, BucketRate: 7, BucketBurst: 7}, Told: map[string]string{c.given: "given", "workers": "given"}}
		got := c.flavour.current(given, scrape.Queue{Kind: c.kind})
		assert.Equal(t, []any{c.priority, c.rate, c.burst}, []any{got.Priority, got.BucketRate, got.BucketBurst}, c.name)
		assert.NoError(t, got.Check(measuredQueues), c.name)
	}
	assert.Equal(t, controllerRuntime, flavourOf(&scrape.Delta{Interval: time.Minute, Counts: scrape.Counts{Queues: map[string]scrape.Queue{"q": {Kind: scrape.Prioritised}}}}), "of workqueue_… families alone")
}
