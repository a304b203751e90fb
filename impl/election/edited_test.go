package election

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

// What an administrator does to a lease, and a coordinator's marks on it, come to
// the same as with client-go's elector: the leader goes on, and the lease tells
// since when.
func TestLeaseEditedByOthers(t *testing.T) {
	for name, edit := range map[string]func(*coordinationv1.Lease) *coordinationv1.Lease{
		"deleted": func(*coordinationv1.Lease) *coordinationv1.Lease { return nil },
		"emptied": func(l *coordinationv1.Lease) *coordinationv1.Lease {
			l.Spec.HolderIdentity = ptr.To("")
			return l
		},
		"end of term": func(l *coordinationv1.Lease) *coordinationv1.Lease {
			l.Spec.PreferredHolder, l.Spec.Strategy = ptr.To("b"), ptr.To(coordinationv1.OldestEmulationVersion)
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := editedLease(t, electors["client-go"], name == "end of term", edit)
			assert.Equal(t, upstream, editedLease(t, electors["deadline"], name == "end of term", edit))
		})
	}
}

// editedLease returns what becomes of a lease that somebody else edits while a
// candidate leads: soon afterwards, and when the candidate has ended.
func editedLease(t *testing.T, elector func(leaderelection.LeaderElectionConfig) (Elector, error), coordinated bool, edit func(*coordinationv1.Lease) *coordinationv1.Lease) (story []string) {
	synctest.Test(t, func(t *testing.T) {
		begin := metav1.NewMicroTime(time.Now())
		client := fake.NewClientset(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("a"), LeaseDurationSeconds: ptr.To[int32](15), AcquireTime: &begin, RenewTime: &begin, LeaseTransitions: ptr.To[int32](3),
			},
		})
		var stale atomic.Bool // the version that the candidate knows; the fake ignores versions
		client.PrependReactor("*", "leases", func(call clienttesting.Action) (bool, runtime.Object, error) {
			if call.GetVerb() != "update" {
				stale.Store(false)
			}
			return stale.Load(), nil, apierrors.NewConflict(leases, "lock", errOld)
		})
		leases := client.CoordinationV1().Leases("ns")
		e, err := elector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "a"},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			ReleaseOnCancel: true, Coordinated: coordinated,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { e.Run(ctx); close(done) }()
		<-time.After(time.Minute + time.Second)

		lease, err := leases.Get(ctx, "lock", metav1.GetOptions{})
		require.NoError(t, err)
		if lease = edit(lease); lease != nil {
			_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		} else {
			err = leases.Delete(ctx, "lock", metav1.DeleteOptions{})
		}
		require.NoError(t, err)
		stale.Store(true)
		tell := func() {
			lease, err := leases.Get(t.Context(), "lock", metav1.GetOptions{})
			require.NoError(t, err)
			s := lease.Spec
			story = append(story, fmt.Sprintf("held by %q for %ds, acquired at the begin %t, transitions %d, strategy %q, preferred holder %q",
				*s.HolderIdentity, *s.LeaseDurationSeconds, s.AcquireTime.Equal(&begin), *s.LeaseTransitions,
				ptr.Deref(s.Strategy, ""), ptr.Deref(s.PreferredHolder, "")))
		}
		<-time.After(20 * time.Second)
		tell()
		cancel()
		<-done
		tell()
	})
	return story
}
