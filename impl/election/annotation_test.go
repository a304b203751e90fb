package election

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const annotation = resourcelock.LeaderElectionRecordAnnotationKey

func TestLocksOfTheAPI(t *testing.T) {
	as := resourcelock.ResourceLockConfig{Identity: "a"}
	for name, lock := range map[string]func(*fake.Clientset) resourcelock.Interface{
		"ConfigMap": func(c *fake.Clientset) resourcelock.Interface { return NewConfigMapLock(c.CoreV1(), "ns", "lock", as) },
		"Endpoints": func(c *fake.Clientset) resourcelock.Interface { return NewEndpointsLock(c.CoreV1(), "ns", "lock", as) },
		"Lease": func(c *fake.Clientset) resourcelock.Interface {
			return &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock"}, Client: c.CoordinationV1(), LockConfig: as}
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			l := lock(client)
			assert.Equal(t, "a", l.Identity())
			assert.Equal(t, "ns/lock", l.Describe())
			assert.Error(t, l.Update(t.Context(), resourcelock.LeaderElectionRecord{}), "update before get")
			_, _, err := l.Get(t.Context())
			require.True(t, apierrors.IsNotFound(err), "%v", err)

			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				led := make(chan struct{})
				e, err := New(leaderelection.LeaderElectionConfig{
					Lock: l, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
					Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(led) }, OnStoppedLeading: func() {}},
				})
				require.NoError(t, err)
				done := make(chan struct{})
				go func() { e.Run(ctx); close(done) }()
				<-led
				<-time.After(time.Minute)
				record, _, err := lock(client).Get(ctx)
				require.NoError(t, err)
				assert.Equal(t, "a", record.HolderIdentity)
				assert.Equal(t, 15, record.LeaseDurationSeconds)
				assert.Less(t, time.Since(record.RenewTime.Time), 4*time.Second, "it renews")
				cancel()
				<-done
				record, _, err = lock(client).Get(t.Context())
				require.NoError(t, err)
				assert.Empty(t, record.HolderIdentity, "released")
			})
		})
	}
}

// Electors of old versions of client-go wrote this; the rest of the object is not
// the election's.
func TestAnnotationOfOldElectors(t *testing.T) {
	old := `{"holderIdentity":"old","leaseDurationSeconds":15,"acquireTime":"2019-05-01T10:00:00Z","renewTime":"2019-05-01T10:05:00Z","leaderTransitions":3}`
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock", Labels: map[string]string{"app": "x"}, Annotations: map[string]string{annotation: old, "other": "kept"}},
		Data:       map[string]string{"key": "value"},
	})
	l := NewConfigMapLock(client.CoreV1(), "ns", "lock", resourcelock.ResourceLockConfig{Identity: "new"})
	record, raw, err := l.Get(t.Context())
	require.NoError(t, err)
	assert.Equal(t, old, string(raw))
	assert.Equal(t, "old", record.HolderIdentity)
	assert.Equal(t, 3, record.LeaderTransitions)

	record.HolderIdentity = "new"
	require.NoError(t, l.Update(t.Context(), *record))
	object, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "lock", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Contains(t, object.Annotations[annotation], `"holderIdentity":"new"`)
	assert.Contains(t, object.Annotations[annotation], `"acquireTime":"2019-05-01T10:00:00Z"`)
	assert.Equal(t, "kept", object.Annotations["other"])
	assert.Equal(t, "value", object.Data["key"])
	assert.Equal(t, "x", object.Labels["app"])

	object.Annotations[annotation] = "{nonsense"
	_, err = client.CoreV1().ConfigMaps("ns").Update(t.Context(), object, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, _, err = l.Get(t.Context())
	assert.ErrorContains(t, err, `ConfigMap ns/lock: annotation control-plane.alpha.kubernetes.io/leader: found "{nonsense"`)

	object.Annotations = nil
	_, err = client.CoreV1().ConfigMaps("ns").Update(t.Context(), object, metav1.UpdateOptions{})
	require.NoError(t, err)
	record, _, err = l.Get(t.Context())
	require.NoError(t, err)
	assert.Empty(t, record.HolderIdentity, "an object without the annotation is held by nobody")
}

// With a retry period of less than a second the annotation changes at each renewal
// all the same: it is what tells the others that the leader lives.
func TestRenewalsWithinASecond(t *testing.T) {
	l := NewConfigMapLock(fake.NewClientset().CoreV1(), "ns", "lock", resourcelock.ResourceLockConfig{Identity: "a"})
	renewed := time.Date(2019, 5, 1, 10, 0, 0, 100e6, time.UTC)
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 2, AcquireTime: metav1.NewTime(renewed), RenewTime: metav1.NewTime(renewed)}
	require.NoError(t, l.Create(t.Context(), record))
	_, before, err := l.Get(t.Context())
	require.NoError(t, err)

	record.RenewTime = metav1.NewTime(renewed.Add(300 * time.Millisecond))
	require.NoError(t, l.Update(t.Context(), record))
	read, after, err := l.Get(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, string(before), string(after))
	assert.True(t, read.RenewTime.Equal(&record.RenewTime), "read %v, wrote %v", read.RenewTime, record.RenewTime)
	assert.True(t, read.AcquireTime.Equal(&record.AcquireTime), "read %v, wrote %v", read.AcquireTime, record.AcquireTime)

	var old struct { // as electors of before Kubernetes 1.20 read it
		RenewTime metav1.Time `json:"renewTime"`
	}
	require.NoError(t, json.Unmarshal(after, &old))
	assert.Equal(t, record.RenewTime.UnixNano(), old.RenewTime.UnixNano())
}
