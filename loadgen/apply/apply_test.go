package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informerbench/informerbench/loadgen"
)

// A cluster is a fake one that writes down what it is asked to do.
type cluster struct {
	*fake.FakeDynamicClient
	mu   sync.Mutex
	done []string
	fail func(clienttesting.Action) error
}

func newCluster() *cluster {
	c := &cluster{FakeDynamicClient: fake.NewSimpleDynamicClient(scheme.Scheme)}
	c.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		what := a.GetVerb() + " " + strings.TrimSuffix(a.GetResource().Resource+"/"+a.GetSubresource(), "/")
		c.done = append(c.done, what)
		if c.fail != nil {
			if err := c.fail(a); err != nil {
				return true, nil, err
			}
		}
		// The fake would take a binding for a pod, and lets none end in its time.
		ends := false
		if d, ok := a.(clienttesting.DeleteAction); ok {
			grace := d.GetDeleteOptions().GracePeriodSeconds
			ends = grace != nil && *grace > 0
		}
		return ends || a.GetSubresource() == "binding", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Binding"}}, nil
	})
	return c
}

// of are the requests with a resource, in order.
func (c *cluster) of(resource string) (done []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, what := range c.done {
		if strings.Contains(what, " "+resource) {
			done = append(done, what)
		}
	}
	return done
}

func generator(t *testing.T, text string) *loadgen.Generator {
	t.Helper()
	spec, err := loadgen.ParseSpec("test", []byte(text))
	require.NoError(t, err)
	g, err := spec.Generator()
	require.NoError(t, err)
	return g
}

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// A pod's whole life is done in the order of its events: made without a node, bound, changed
// in its status, asked to end and deleted.
func TestALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		w := &Writer{Client: c}
		counts, err := w.Events(t.Context(), &list{events: life()}, 1, 0)
		require.NoError(t, err)
		assert.Equal(t, []string{"create pods", "patch pods/status", "create pods/binding", "patch pods/status", "patch pods/status", "delete pods", "delete pods"}, c.of("pods"))
		assert.Equal(t, Counts{Created: 1, Changed: 3, Deleted: 1}, counts)
		left, err := c.Resource(podsGVR).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, left.Items)
	})
}

// What a workload begins with, and what is due until the end, is there.
func TestPresets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		var writes atomic.Int64
		w := &Writer{Client: c, Done: func(int64) { writes.Add(1) }}
		g := generator(t, `
name: small
resources:
- {kind: pod, count: 20, events: {mix: {add: 1, update: 4, delete: 1}, arrivals: {rate: 10}, count: 100}}
- {kind: lease, count: 3, events: {pattern: heartbeat, arrivals: {rate: 1}, count: 10}}
`)
		made, err := w.Objects(t.Context(), g)
		require.NoError(t, err)
		assert.Equal(t, int64(23), made.Created)
		begun := time.Now()
		counts, err := w.Events(t.Context(), g, 2, 4*time.Second)
		require.NoError(t, err)
		assert.LessOrEqual(t, time.Since(begun), 2*time.Second, "four seconds at twice the speed")
		assert.NotZero(t, counts.Changed)
		assert.GreaterOrEqual(t, writes.Load(), made.Created+counts.Changed)
		assert.NotEmpty(t, c.of("leases"))
		assert.Equal(t, 1, len(slices.Compact(slices.Sorted(slices.Values(c.of("namespaces"))))))
	})
}

// What somebody else has deleted is counted; what can't be done is one error that names it.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.fail = func(a clienttesting.Action) error {
			if a.GetVerb() == "patch" || a.GetVerb() == "delete" {
				return notFound(a)
			}
			return nil
		}
		counts, err := (&Writer{Client: c}).Events(t.Context(), &list{events: life()[1:]}, 0, 0)
		require.NoError(t, err)
		assert.Equal(t, int64(4), counts.Gone)

		c.fail = func(clienttesting.Action) error { return errors.New("no quota") }
		_, err = (&Writer{Client: c}).Events(t.Context(), &list{events: life()}, 0, 0)
		assert.ErrorContains(t, err, "namespace shop: no quota")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = (&Writer{Client: newCluster()}).Events(ctx, &list{events: life()}, 1e-6, 0)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
