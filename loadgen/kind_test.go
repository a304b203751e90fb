package loadgen

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	discoveryv1 "k8s.io/api/discovery/v1"
)

func jsonSize(t *testing.T, o Object) int {
	t.Helper()
	b, err := json.Marshal(o)
	require.NoError(t, err)
	return len(b)
}

// Objects are about as large as recorded ones, before and after a change.
func TestObjectsAreAsLargeAsRecorded(t *testing.T) {
	for kind, want := range map[string]float64{kindNode: 5034, kindLease: 825, kindEndpointSlice: 8000} {
		t.Run(kind, func(t *testing.T) {
			r := Resource{Kind: kind, Count: 3, ManagedFields: true, Events: Events{Mix: Mix{Update: 1}, Count: 5}}
			if kind == kindEndpointSlice {
				r.Replicas = 25
			}
			events, err := readAll(everything(&Spec{Resources: []Resource{r}}))
			require.NoError(t, err)
			require.Len(t, events, 8)
			for _, e := range events {
				require.InEpsilon(t, want, jsonSize(t, e.Object), 0.05)
			}
		})
	}
}

// Where a size is asked for, objects of every kind have it; one that is
// smaller than the bare object counts as that.
func TestSizes(t *testing.T) {
	for kind := range plurals {
		t.Run(kind, func(t *testing.T) {
			spec, err := ParseSpec("sizes", []byte(`{duration: 1s, resources: [{kind: `+kind+`, count: 400, size: "uniform(10Ki, 30Ki)", events: {mix: {update: 1}, arrivals: {rate: 1}}}]}`))
			require.NoError(t, err)
			g, err := spec.Generator()
			require.NoError(t, err)
			var sizes []int
			for object := range g.First(0) {
				sizes = append(sizes, jsonSize(t, object))
			}
			slices.Sort(sizes)
			for _, p := range []float64{0, 0.25, 0.5, 0.75, 1} {
				at := sizes[int(p*399)]
				require.InDelta(t, 1024*(10+20*p), at, 20*1024*2.7/math.Sqrt(400), "quantile %v", p)
			}
		})
	}
}

// The endpoints of a service are its pods that run: each pod that is replaced
// changes its slice three times.
func TestEndpointSlicesFollowTheirPods(t *testing.T) {
	spec := small(t, "rolling-update")
	pods := &spec.Resources[0]
	pods.Count, pods.Replicas, pods.Nodes = 130, 130, 10
	pods.Events.Parallel, pods.Events.Count = 1, 130*7
	g, err := spec.Generator()
	require.NoError(t, err)
	require.Equal(t, 2, g.Spec().Resources[1].Count, "a slice holds 100 endpoints")
	changes, last := 0, map[string]Object{}
	old := map[string]bool{}
	for pod := range g.First(0) {
		old[pod.GetName()] = true
	}
	for {
		e, err := g.Next()
		if err != nil {
			break
		}
		if e.Resource == 1 {
			changes++
			last[e.Object.GetName()] = e.Object
		}
	}
	require.Equal(t, 3*130, changes)
	endpoints := 0
	for _, object := range last {
		for _, e := range object.(*discoveryv1.EndpointSlice).Endpoints {
			require.False(t, old[e.TargetRef.Name], "every pod was replaced")
			require.True(t, *e.Conditions.Ready)
			endpoints++
		}
	}
	require.Equal(t, 130, endpoints)
}
