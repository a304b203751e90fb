package e2e

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/apply"
)

// What a workload's events end in the server holds when they were applied: the same pods on
// the same nodes in the same phases, leases and endpoint slices.
func TestApply(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", serve(t).Kubeconfig())
	require.NoError(t, err)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	spec, err := loadgen.ParseSpec("test", []byte(`
name: all-kinds
seed: 7
resources:
- {kind: pod, count: 60, namespaces: 3, nodes: 5, replicas: 5, events: {pattern: rollout, parallel: 4, arrivals: {rate: 200}, count: 600}}
- {kind: endpointslice}
- {kind: lease, count: 5, events: {pattern: heartbeat, arrivals: {rate: 10}, count: 30}}
- {kind: node, count: 5, events: {mix: {update: 1}, arrivals: {rate: 10}, count: 30}}
`))
	require.NoError(t, err)
	end := endOf(t, spec)

	g, err := spec.Generator()
	require.NoError(t, err)
	w := apply.Writer{Client: client}
	made, err := w.Objects(t.Context(), g)
	require.NoError(t, err)
	counts, err := w.Events(t.Context(), g, 0, 0)
	require.NoError(t, err)
	assert.Zero(t, counts.Gone)
	assert.NotZero(t, made.Created)
	assert.NotZero(t, counts.Deleted)

	typed, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	assert.Equal(t, end.pods, podsIn(t, typed))
	leases, err := typed.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	renewed := map[string]time.Time{}
	for _, l := range leases.Items {
		renewed[l.Name] = l.Spec.RenewTime.UTC()
	}
	for name, at := range end.leases {
		assert.Equal(t, at, renewed[name], "when %s was renewed", name)
	}
}

// A podState is what is compared of a pod.
type podState struct {
	node  string
	phase corev1.PodPhase
}

func podsIn(t *testing.T, c kubernetes.Interface) map[string]podState {
	list, err := c.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	pods := map[string]podState{}
	for _, p := range list.Items {
		pods[p.Namespace+"/"+p.Name] = podState{p.Spec.NodeName, p.Status.Phase}
	}
	return pods
}

type ending struct {
	pods   map[string]podState
	leases map[string]time.Time
}

// endOf is what a workload's objects are after its last event.
func endOf(t *testing.T, spec *loadgen.Spec) ending {
	g, err := spec.Generator()
	require.NoError(t, err)
	e := ending{map[string]podState{}, map[string]time.Time{}}
	take := func(kind watch.EventType, object loadgen.Object) {
		key := object.GetNamespace() + "/" + object.GetName()
		switch o := object.(type) {
		case *corev1.Pod:
			e.pods[key] = podState{o.Spec.NodeName, o.Status.Phase}
			if kind == watch.Deleted {
				delete(e.pods, key)
			}
		case *coordinationv1.Lease:
			e.leases[o.Name] = o.Spec.RenewTime.UTC()
		}
	}
	for _, object := range g.Population() {
		take(watch.Added, object)
	}
	for {
		event, err := g.Next()
		if errors.Is(err, io.EOF) {
			return e
		}
		require.NoError(t, err)
		take(event.Type, event.Object)
	}
}
