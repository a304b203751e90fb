package election

import (
	"context"
	"errors"
	"slices"
	"sync"
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

// A diary is a lock that keeps its events, among other things that happen.
type diary struct {
	resourcelock.Interface
	mu    sync.Mutex
	pages []string
}

func (d *diary) RecordEvent(event string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pages = append(d.pages, event)
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.pages)
}

// However a term ends, its end is an event, as with client-go's elector: once, and
// before OnStoppedLeading, where processes exit.
func TestEvents(t *testing.T) {
	const calm = 5 * time.Second // no call is under way then
	term := []string{"became leader", "stopped leading", "OnStoppedLeading"}
	hangs := func(Call) Fault { return Fault{Request: time.Hour} }
	for name, test := range map[string]struct {
		fault  func(Call) Fault // from calm on
		cancel time.Duration    // 0 for never
		other  bool             // another holds the lease then
		want   []string
	}{
		"cancelled":               {cancel: calm, want: term},
		"cancelled in a call":     {fault: hangs, cancel: calm + 3*time.Second, want: term},
		"refused":                 {fault: func(Call) Fault { return Fault{Err: errors.New("refused")} }, want: term},
		"hangs":                   {fault: hangs, want: term},
		"answers hang":            {fault: func(Call) Fault { return Fault{Response: time.Hour} }, want: term},
		"lost to another":         {other: true, want: term},
		"cancelled before it led": {other: true, cancel: calm + time.Second, want: []string{"OnStoppedLeading"}},
	} {
		for elector, new := range electors {
			for _, release := range []bool{false, true} {
				t.Run(name+"/"+elector, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						begin := time.Now()
						server := NewMemory(clock.RealClock{}, func(c Call) Fault {
							if test.fault != nil && time.Since(begin) > calm {
								return test.fault(c)
							}
							return Fault{}
						})
						taken := resourcelock.LeaderElectionRecord{HolderIdentity: "other", LeaseDurationSeconds: 3600, LeaderTransitions: 1}
						if len(test.want) == 1 {
							server.SetRecord(taken)
						}
						lock := &diary{Interface: server.Lock("a")}
						e, err := new(leaderelection.LeaderElectionConfig{
							Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: release,
							Callbacks: leaderelection.LeaderCallbacks{
								OnStartedLeading: func(context.Context) {},
								OnStoppedLeading: func() { lock.RecordEvent("OnStoppedLeading") },
							},
						})
						require.NoError(t, err)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if test.cancel > 0 {
							time.AfterFunc(test.cancel, cancel)
						}
						if test.other {
							time.AfterFunc(calm, func() { server.SetRecord(taken) })
						}
						e.Run(ctx)
						assert.Equal(t, test.want, lock.read(), "ReleaseOnCancel %t", release)
					})
				})
			}
		}
	}
}

// A call that heeds no context holds up neither the end of the work nor of Run
// until another may lead; the event comes when the call returns, as the lock may
// be used by one goroutine at a time.
func TestEventAfterDeafCall(t *testing.T) {
	for _, lease := range []time.Duration{15 * time.Second, 10*time.Second + 50*time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			server := NewMemory(clock.RealClock{}, func(c Call) Fault {
				if time.Since(begin) > 0 {
					return Fault{Request: time.Hour, Deaf: true}
				}
				return Fault{}
			})
			lock := &diary{Interface: server.Lock("a")}
			var worked time.Duration
			e, err := New(leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: lease, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) { <-ctx.Done(); worked = time.Since(begin) },
					OnStoppedLeading: func() { lock.RecordEvent("OnStoppedLeading") },
				},
			})
			require.NoError(t, err)
			e.Run(t.Context())
			assert.Less(t, time.Since(begin), lease)
			<-time.After(2 * time.Hour)
			synctest.Wait()
			assert.Equal(t, 10*time.Second, worked)
			assert.Equal(t, []string{"became leader", "OnStoppedLeading", "stopped leading"}, lock.read())
		})
	}
}

// A lock's panic ends the term as well.
func TestEventOfPanic(t *testing.T) {
	really := utilruntime.ReallyCrash
	defer func() { utilruntime.ReallyCrash = really }()
	utilruntime.ReallyCrash = true
	for name, new := range electors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lock := &diary{Interface: panickingLock{NewMemory(clock.RealClock{}, nil).Lock("a")}}
				e, err := new(leaderelection.LeaderElectionConfig{
					Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
					Callbacks: leaderelection.LeaderCallbacks{
						OnStartedLeading: func(context.Context) {},
						OnStoppedLeading: func() { lock.RecordEvent("OnStoppedLeading") },
					},
				})
				require.NoError(t, err)
				assert.PanicsWithValue(t, errPlanted, func() { e.Run(t.Context()) })
				assert.Equal(t, []string{"became leader", "stopped leading", "OnStoppedLeading"}, lock.read())
			})
		})
	}
}
