package tune

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
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
	kind := defaults.FlavourOf(d)
	require.Equal(t, defaults.ControllerRuntime, kind)
	f := newFit(d, d.Queues["q"], kind.Current(s.given(), d.Queues["q"]), Options{Seed: *seed, Queues: predict.MeasuredQueues}, false)
	assert.Zero(t, f.Current.BucketRate)
	assert.InEpsilon(t, s.rate, f.ArrivalRate, 0.1)
	require.NoError(t, f.explain(t.Context(), *seed, func(string) {}))
	now, err := f.Predict(t.Context(), f.Current.Settings, predict.Finest, *seed)
	require.NoError(t, err)
	require.True(t, now.Stable)
	truth := s.truth(t, 0)
	t.Logf("p99 %.3g [%.3g, %.3g], true %.3g", now.Wait.P99.Mean, now.Wait.P99.Low, now.Wait.P99.High, truth)
	assert.InEpsilon(t, truth, now.Wait.P99.Mean, 0.25)

	with := advice.Alternative{Change: func(y *predict.Settings) { y.BucketRate = 10 }}.Of(f.Current.Settings)
	assert.Equal(t, 100, with.BucketBurst)
	limited, err := f.Predict(t.Context(), with, predict.Finest, *seed)
	require.NoError(t, err)
	assert.False(t, limited.Stable)
	assert.Equal(t, "retry bucket", limited.Bottleneck)

	a := advice.Advice{Queue: "q", Current: f.Current, Recommended: f.Current.Settings, Model: f.Model, Now: &now, Then: &now}
	a.Explain(kind)
	for _, p := range a.Paste {
		assert.NotContains(t, p.Text, "Bucket", p.For)
	}
	for _, c := range a.Changes {
		if c.Setting == "bucketRate" || c.Setting == "bucketBurst" {
			assert.Equal(t, []string{"none", "none", "default of controller-runtime's priority queue", "retries wait for the back-off of their key alone"}, []string{c.Current, c.Recommended, c.Told, c.Why})
		}
	}
	// Who has given the controller a limiter of its own says so.
	c := s.given()
	c.BucketRate, c.Told["bucketRate"] = 50, "given"
	a.Recommended = kind.Current(c, d.Queues["q"]).Settings
	a.Explain(kind)
	assert.Contains(t, a.Paste[0].Text, "rate.NewLimiter(50, 100)")
}
