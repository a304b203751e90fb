package election

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
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

// Run may be called again when it has returned, as client-go's: each time it leads and
// stops, and the terms do not mix though a call of the first one hangs on.
func TestRunAgain(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			server := NewMemory(clock.RealClock{}, func(Call) Fault {
				if age := time.Since(begin); deaf && 0 < age && age < time.Minute {
					return Fault{Request: time.Hour, Deaf: true}
				}
				return Fault{}
			})
			var started, stopped atomic.Int32
			e, err := New(leaderelection.LeaderElectionConfig{
				Lock: server.Lock("a"), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { started.Add(1) }, OnStoppedLeading: func() { stopped.Add(1) },
				},
			})
			require.NoError(t, err)
			first, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			e.Run(first) // of the deaf lock, until a renewal misses its deadline
			for term := range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				go func() { e.Run(ctx) }()
				time.Sleep(90 * time.Minute)
				assert.True(t, e.IsLeader())
				cancel()
				synctest.Wait()
				assert.False(t, e.IsLeader())
				assert.Equal(t, []int32{int32(term) + 2, int32(term) + 2}, []int32{started.Load(), stopped.Load()})
			}
		})
	}
}

// A panickingLock panics when the lease is renewed.
type panickingLock struct{ resourcelock.Interface }

var errPlanted = errors.New("planted")

func (panickingLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	panic(errPlanted)
}

// A lock's panic is Run's, as in client-go's elector, which makes the calls itself:
// leading has ended when it arrives, and whoever calls Run may recover.
func TestLockPanics(t *testing.T) {
	really := utilruntime.ReallyCrash
	defer func() { utilruntime.ReallyCrash = really }()
	for name, crash := range map[string]bool{"crashes": true, "logs": false} {
		t.Run(name, func(t *testing.T) {
			utilruntime.ReallyCrash = crash
			synctest.Test(t, func(t *testing.T) {
				work := make(chan context.Context, 1)
				stopped := false
				e, err := New(leaderelection.LeaderElectionConfig{
					Lock: panickingLock{NewMemory(clock.RealClock{}, nil).Lock("a")}, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
					Callbacks: leaderelection.LeaderCallbacks{
						OnStartedLeading: func(ctx context.Context) { work <- ctx },
						OnStoppedLeading: func() { stopped = (<-work).Err() != nil },
					},
				})
				require.NoError(t, err)
				if crash {
					assert.PanicsWithValue(t, errPlanted, func() { e.Run(t.Context()) })
				} else {
					assert.NotPanics(t, func() { e.Run(t.Context()) })
				}
				assert.True(t, stopped, "OnStoppedLeading was not called, or before its work was told to end")
				assert.False(t, e.IsLeader())
			})
		})
	}
}

// A panic of OnNewLeader ends the process with what it says, as in client-go's
// elector, and not with a complaint about a mutex.
func TestNewLeaderPanics(t *testing.T) {
	n := news{queue: []string{"a"}, running: true}
	assert.PanicsWithValue(t, errPlanted, func() { n.deliver(func(string) { panic(errPlanted) }) })
}
