package election

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
)

// A lease of nearly three centuries is a long one: the record's seconds do not wrap,
// nor does the time until others take it.
func TestLongestLease(t *testing.T) {
	for _, lease := range []time.Duration{math.MaxInt64, 100 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			server := NewMemory(clock.RealClock{}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			candidate := func(identity string, lead func(context.Context)) *LeaderElector {
				e, err := New(leaderelection.LeaderElectionConfig{
					Lock: server.Lock(identity), LeaseDuration: lease, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
					Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: lead, OnStoppedLeading: func() {}},
				})
				require.NoError(t, err)
				go e.Run(ctx)
				return e
			}
			first := candidate("first", func(context.Context) {})
			synctest.Wait()
			second := candidate("second", func(context.Context) { t.Error("two candidates lead") })
			time.Sleep(time.Hour)
			assert.True(t, first.IsLeader())
			assert.False(t, second.IsLeader())
			record, _ := server.Record()
			assert.Equal(t, math.MaxInt32, record.LeaseDurationSeconds, "what a Lease can keep")
			cancel()
			synctest.Wait()
		})
	}
}
