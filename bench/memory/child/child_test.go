package child_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/feed"
	"github.com/informerbench/informerbench/bench/memory/fields"
)

const (
	pods    = 60
	widgets = 40
)

// serve is a server of pods, and of a kind that client-go has no type for.
func serve(t *testing.T, o feed.Options) *feed.Server {
	t.Helper()
	object := func(version, kind string, i int) []byte {
		return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"%s-abcdefgh-%d","namespace":"team-%d","uid":"11111111-2222-3333-4444-%012d","managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{}}}]},"spec":{"nodeName":"node-%d"}}`, version, kind, kind, i, i%2, i, i)
	}
	all := []feed.Kind{
		{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true, Count: pods},
		{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Resource: "widgets", Namespaced: true, Count: widgets},
	}
	for i := range 10 {
		all[0].Sample = append(all[0].Sample, object("v1", "Pod", i))
		all[1].Sample = append(all[1].Sample, object("example.com/v1", "Widget", i))
	}
	s, err := feed.New(all, o)
	require.NoError(t, err)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func job(s *feed.Server) child.Job {
	return child.Job{Server: s.URL, Form: child.Typed, Encoding: "json", List: "watchlist", Informer: "client-go", Indices: []string{"namespace"}, Handlers: 1, StartOnly: true,
		Kinds: []child.Kind{{Version: "v1", Kind: "Pod", Resource: "pods"}, {Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}}}
}

// Informers hold every object, whatever way they hold and list them.
func TestRun(t *testing.T) {
	s, paged := serve(t, feed.Options{Cache: &feed.Cache{}}), serve(t, feed.Options{Paged: true})
	for name, change := range map[string]func(*child.Job){
		"protobuf":     func(j *child.Job) { j.Encoding = "protobuf" },
		"list":         func(j *child.Job) { j.List = "list" },
		"pages":        func(j *child.Job) { j.List, j.Server = "pages", paged.URL },
		"unstructured": func(j *child.Job) { j.Form, j.List = child.Unstructured, "list" },
		"metadata":     func(j *child.Job) { j.Form, j.Encoding = child.Metadata, "protobuf" },
		"snapshot":     func(j *child.Job) { j.Informer, j.Handlers = "snapshot", 3 },
		"namespaces":   func(j *child.Job) { j.Kinds[0].Namespaces = []string{"team-0", "team-1"} },
		"transform":    func(j *child.Job) { j.Drop, j.Intern = []string{"metadata.managedFields"}, true },
		"blocked":      func(j *child.Job) { j.Blocked = true },
		"indices":      func(j *child.Job) { j.Indices = []string{"owner", "label:app"} },
		"limit":        func(j *child.Job) { j.Limit, j.StartOnly = 1<<20, false }, // far below what lives
	} {
		t.Run(name, func(t *testing.T) {
			j := job(s)
			change(&j)
			r, err := child.Run(t.Context(), j)
			debug.SetMemoryLimit(math.MaxInt64)
			require.NoError(t, err)
			require.NoError(t, s.Err())
			assert.Equal(t, pods+widgets, r.Objects)
			assert.Greater(t, r.Live, r.BaseHeap)
			assert.Positive(t, r.Start.Heap)
			if !j.Blocked {
				assert.EqualValues(t, (pods+widgets)*j.Handlers, r.Start.Events)
			}
		})
	}
}

// A run with service, relist and resync sees changes, a second list, and all objects again.
func TestServiceRelistAndResync(t *testing.T) {
	s := serve(t, feed.Options{})
	j := job(s)
	j.StartOnly, j.Resync = false, true
	r, err := child.Run(t.Context(), j)
	require.NoError(t, err)
	require.NoError(t, s.Err())
	assert.Positive(t, r.Service.Events)
	assert.Positive(t, r.Relist.Heap)
	assert.GreaterOrEqual(t, r.Resync.Events, int64(pods+widgets))
	assert.Equal(t, pods+widgets, r.Objects)
}

func TestServed(t *testing.T) {
	managedFields, err := fields.ParseAll("metadata.managedFields")
	require.NoError(t, err)
	s := serve(t, feed.Options{Remove: managedFields})
	get := func(accept string) []byte {
		r, err := http.NewRequest(http.MethodGet, s.URL+"/api/v1/namespaces/team-0/pods", nil)
		require.NoError(t, err)
		r.Header.Set("Accept", accept)
		answer, err := s.Client().Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return b
	}
	var list struct {
		Items []struct{ Metadata map[string]any }
	}
	for _, form := range []string{"json", "cbor"} {
		list.Items = nil
		if form == "json" {
			require.NoError(t, json.Unmarshal(get("application/json"), &list))
		} else {
			var tree map[string]any
			require.NoError(t, direct.Unmarshal(get("application/cbor"), &tree))
			b, err := json.Marshal(tree)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(b, &list))
		}
		names := map[any]bool{}
		for _, item := range list.Items {
			names[item.Metadata["name"]] = true
			assert.NotContains(t, item.Metadata, "managedFields")
			assert.Equal(t, "team-0", item.Metadata["namespace"])
		}
		assert.Len(t, names, pods/2, form)
	}
	answer, err := s.Client().Get(s.URL + "/api/v1/secrets")
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, http.StatusNotFound, answer.StatusCode)

	_, err = feed.New([]feed.Kind{{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Count: 1, Sample: [][]byte{[]byte(`{"spec":{"containers":7}}`)}}}, feed.Options{})
	assert.ErrorContains(t, err, "Pod number 1 of the sample: spec.containers: found a JSON number")
}
