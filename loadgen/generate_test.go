package loadgen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// small is a preset cut down to a size that tests can afford.
func small(t *testing.T, name string) *Spec {
	t.Helper()
	spec, err := Preset(name)
	require.NoError(t, err)
	for i := range spec.Resources {
		r := &spec.Resources[i]
		if r.Nodes > 0 {
			r.Nodes = 10
		}
		if r.Events.Pattern == patternFollow {
			r.Count, r.Namespaces, r.Replicas = 0, 0, 0 // those of the pods
			continue
		}
		r.Count, r.Events.Count = 120, 200
		r.Events.Parallel = min(r.Events.Parallel, 3)
	}
	return spec
}

// alone is the first resource of a small preset.
func alone(t *testing.T, name string) *Spec {
	t.Helper()
	spec := small(t, name)
	spec.Resources = spec.Resources[:1]
	return spec
}

func hash(t *testing.T, s Stream) string {
	t.Helper()
	events, err := readAll(s)
	require.NoError(t, err)
	sum := sha256.New()
	require.NoError(t, json.NewEncoder(sum).Encode(events))
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// The same spec gives the same events byte for byte, on any machine and with
// any Go: results of different runs are about the same work.
func TestStreamIsReproducible(t *testing.T) {
	for _, name := range Presets() {
		t.Run(name, func(t *testing.T) {
			spec := small(t, name)
			require.Equal(t, golden[name], hash(t, everything(spec)), "of the events' JSON")
			spec.Seed++
			require.NotEqual(t, golden[name], hash(t, everything(spec)), "another seed")
		})
	}
}

var golden = map[string]string{
	"65k-nodes":                 "3fa2d4301c57450d",
	"crash-loop":                "4347b7e3a7a8ea30",
	"hot-keys":                  "323c8f18936491a3",
	"job-burst":                 "dd23e11b7b006513",
	"lease-heartbeats":          "ebb09577bbcd1648",
	"node-failure":              "2c7967ab94cfcfc4",
	"reader-pressure":           "eafb1c44c6f228fb",
	"list-without-end":          "953e25db19811878",
	"retry-bucket":              "572d56a19ff18b92",
	"slow-failures":             "e8a594d4f8b721bf",
	"relist-storm":              "ae4176ee61d725c2",
	"restart-under-steady-load": "4ee20b57e491764c",
	"resync-storm":              "69caac780cd09d33",
	"rolling-update":            "ee42060029f1297c",
	"scale-up":                  "37a9af64a867dbdf",
	"steady-5k-nodes":           "43dc83385d8cca82",
}

// A cache that applies the stream is never told to change what it does not
// hold, and the schedule says the same as the events.
func TestStreamIsConsistent(t *testing.T) {
	specs := map[string]*Spec{"metadata": alone(t, "steady-5k-nodes"), "shrinking": alone(t, "relist-storm"), "one pod": small(t, "rolling-update")}
	specs["metadata"].Resources[0].Kind = kindMetadata
	specs["shrinking"].Resources[0].Events.Mix = Mix{Add: 1, Update: 1, Delete: 10}
	specs["one pod"].Resources[0].Count, specs["one pod"].Resources[0].Events.Parallel = 1, 1
	for _, name := range Presets() {
		specs[name] = small(t, name)
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) { checkConsistency(t, spec) })
	}
}

func checkConsistency(t *testing.T, spec *Spec) {
	g, err := spec.Generator()
	require.NoError(t, err)
	schedule, err := spec.Schedule()
	require.NoError(t, err)
	held := map[string]Object{} // by resource and key
	names := map[Draw]string{}  // by resource and key
	at := func(resource int, key uint32) Draw { return Draw{Resource: resource, Key: key} }
	for i := range spec.Resources {
		key := uint32(0)
		for object := range g.First(i) {
			name := fmt.Sprint(i, cache.MetaObjectToName(object))
			require.NotContains(t, held, name, "names are unique")
			held[name], names[at(i, key)] = object, name
			key++
		}
		require.Equal(t, g.Spec().Resources[i].Count, int(key))
	}
	version, last := len(held), time.Duration(0)
	for i := 0; ; i++ {
		e, err := g.Next()
		d, more := schedule.Next()
		require.Equal(t, err == nil, more)
		if !more {
			require.ErrorIs(t, err, io.EOF)
			require.Positive(t, i)
			return
		}
		require.Equal(t, d, Draw{At: e.At, Resource: e.Resource, Key: d.Key, Type: e.Type})
		require.GreaterOrEqual(t, e.At, last)
		last = e.At
		version++
		require.Equal(t, strconv.Itoa(version), e.Object.GetResourceVersion())
		name := fmt.Sprint(e.Resource, cache.MetaObjectToName(e.Object))
		old, known := held[name]
		require.Equal(t, e.Type != watch.Added, known, "event %d: %s %s", i, e.Type, name)
		if known {
			require.Equal(t, old.GetUID(), e.Object.GetUID())
			require.Equal(t, names[at(d.Resource, d.Key)], name, "the schedule means the same object")
		}
		held[name], names[at(d.Resource, d.Key)] = e.Object, name
		if e.Type == watch.Deleted {
			delete(held, name)
		}
	}
}

// Versions that were sent are never written to again: caches hold them.
func TestVersionsAreImmutable(t *testing.T) {
	for _, name := range Presets() {
		t.Run(name, func(t *testing.T) {
			spec := small(t, name)
			for i := range spec.Resources {
				spec.Resources[i].Events.Count = min(spec.Resources[i].Events.Count, 100)
			}
			events, err := readAll(everything(spec))
			require.NoError(t, err)
			late, err := json.Marshal(events)
			require.NoError(t, err)
			stream := everything(spec)
			early := []byte{'['}
			for range events {
				e, err := stream.Next()
				require.NoError(t, err)
				b, err := json.Marshal(e)
				require.NoError(t, err)
				early = append(append(early, b...), ',')
			}
			early[len(early)-1] = ']'
			require.Equal(t, sha256.Sum256(early), sha256.Sum256(late), "serialized as they came and at the end")
		})
	}
}

// No version has room behind a slice that it shares: one who appends to it gets
// an array of his own, and others don't see it.
func TestVersionsHaveNoRoomBehind(t *testing.T) {
	for _, name := range []string{"rolling-update", "node-failure", "steady-5k-nodes"} {
		t.Run(name, func(t *testing.T) {
			events, err := readAll(everything(small(t, name)))
			require.NoError(t, err)
			for _, e := range events {
				checkCapacity(t, e.Object.GetName(), reflect.ValueOf(e.Object))
			}
		})
	}
}

func checkCapacity(t *testing.T, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Location]() {
			checkCapacity(t, path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			checkCapacity(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		if v.Len() != v.Cap() && v.Type().Elem().Kind() != reflect.Uint8 {
			t.Fatalf("%s: found room for %d behind %d", path, v.Cap()-v.Len(), v.Len())
		}
		for i := range v.Len() {
			checkCapacity(t, path, v.Index(i))
		}
	}
}

func TestPodsAreRealistic(t *testing.T) {
	spec := alone(t, "rolling-update")
	sizes := func() (median, largest int) {
		events, err := readAll(everything(spec))
		require.NoError(t, err)
		var all []int
		for _, e := range events {
			b, err := json.Marshal(e.Object)
			require.NoError(t, err)
			all = append(all, len(b))
		}
		slices.Sort(all)
		return all[len(all)/2], all[len(all)-1]
	}
	median, largest := sizes()
	require.InDelta(t, 6500, median, 200, "recorded pods have a median of 6.5 KB")
	require.Less(t, largest, 7200)
	spec.Resources[0].ManagedFields = false
	bare, _ := sizes()
	require.InDelta(t, 0.59, float64(bare)/float64(median), 0.03, "41% of a recorded pod is managedFields")
}

// A roll-out's pods live as recorded ones do: 1 added, 5 modified, 1 deleted;
// and a deployment never has fewer ready pods than replicas.
func TestRolloutReplacesEveryPod(t *testing.T) {
	spec := alone(t, "rolling-update")
	spec.Resources[0].Count, spec.Resources[0].Events.Parallel, spec.Resources[0].Events.Count = 20, 1, 20*7
	population, load, err := spec.ListWatch()
	require.NoError(t, err)
	events, err := readAll(load)
	require.NoError(t, err)
	count := map[watch.EventType]int{}
	ready := map[string]bool{}
	for _, object := range population {
		ready[object.GetName()] = true
	}
	for _, e := range events {
		count[e.Type]++
		pod := e.Object.(*corev1.Pod)
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			ready[pod.Name] = true
		} else {
			delete(ready, pod.Name)
		}
		require.True(t, 20 <= len(ready) && len(ready) <= 25, "%d pods are ready, surge is 25%%", len(ready))
	}
	require.Equal(t, map[watch.EventType]int{watch.Added: 20, watch.Modified: 100, watch.Deleted: 20}, count)
	for _, object := range population {
		require.NotContains(t, ready, object.GetName(), "every pod is a new one")
	}
}

// A node's pods all turn unready before the first of them is evicted.
func TestNodeFailureHitsEveryPodOfTheNode(t *testing.T) {
	spec := alone(t, "node-failure")
	spec.Resources[0].Events.Parallel = 1
	population, load, err := spec.ListWatch()
	require.NoError(t, err)
	first, err := load.Next()
	require.NoError(t, err)
	failed := first.Object.(*corev1.Pod).Spec.NodeName
	on := 0
	for _, object := range population {
		if object.(*corev1.Pod).Spec.NodeName == failed {
			on++
		}
	}
	unready := 1
	for event := first; unready < on; unready++ {
		event, err = load.Next()
		require.NoError(t, err)
		pod := event.Object.(*corev1.Pod)
		require.Equal(t, failed, pod.Spec.NodeName)
		require.Equal(t, corev1.ConditionFalse, pod.Status.Conditions[1].Status)
		require.Less(t, event.At, 5*time.Second)
	}
	for range on * 7 {
		event, err := load.Next()
		require.NoError(t, err)
		if pod := event.Object.(*corev1.Pod); pod.DeletionTimestamp == nil {
			require.NotEqual(t, failed, pod.Spec.NodeName, "pods move to other nodes")
		}
	}
}

func TestMixFollowsTheWeights(t *testing.T) {
	spec := alone(t, "relist-storm")
	spec.Resources[0].Events.Count, spec.Duration = 20_000, 0
	_, load, err := spec.ListWatch()
	require.NoError(t, err)
	events, err := readAll(load)
	require.NoError(t, err)
	count := map[watch.EventType]float64{}
	for _, e := range events {
		count[e.Type] += 7.0 / 20_000
	}
	require.InDelta(t, 1, count[watch.Added], 0.1)
	require.InDelta(t, 5, count[watch.Modified], 0.1)
	require.InDelta(t, 1, count[watch.Deleted], 0.1)
}

func TestStreamOfAnInvalidSpecFails(t *testing.T) {
	_, err := everything(&Spec{}).Next()
	require.EqualError(t, err, "resources: missing or 0, expected 1 to 100 resources")
}
