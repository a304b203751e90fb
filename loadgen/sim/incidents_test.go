package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/loadgen"
)

// incident is a preset, and the same with what helped.
func incident(t *testing.T, name string, help func(*loadgen.Spec)) (before, after Result) {
	t.Helper()
	spec, err := loadgen.Preset(name)
	require.NoError(t, err)
	before = run(t, Config{Spec: spec})
	help(spec)
	return before, run(t, Config{Spec: spec})
}

// submariner-io/admiral#898: hours; with a larger bucket, minutes.
func TestRetryBucketHoldsRetriesForHours(t *testing.T) {
	before, after := incident(t, "retry-bucket", func(s *loadgen.Spec) { s.Reconcile.Limiter.Rate, s.Reconcile.Limiter.Burst = 1000, 1000 })
	assert.Greater(t, before.Settle.Quantile(0.9), 2*time.Hour)
	assert.Less(t, after.Settle.Quantile(0.9), before.Settle.Quantile(0.9)/4)
}

// fluxcd/flux2#5622: minutes of waiting; none with a worker for those that hang.
func TestSlowFailuresHoldUpOthers(t *testing.T) {
	before, after := incident(t, "slow-failures", func(s *loadgen.Spec) { s.Reconcile.Workers = 20 })
	assert.Greater(t, before.QueueWait.Quantile(0.5), 5*time.Minute)
	assert.Less(t, after.QueueWait.Quantile(0.9), 10*time.Second)
}

// 12,300 objects took 52 s, at 230 a second.
func TestResyncStormTakesMostOfAMinute(t *testing.T) {
	before, after := incident(t, "resync-storm", func(s *loadgen.Spec) { s.Reconcile.Workers = 10 })
	assert.InDelta(t, 53, before.QueueWait.Max().Seconds(), 3)
	assert.Less(t, after.QueueWait.Max(), 10*time.Second)
}
