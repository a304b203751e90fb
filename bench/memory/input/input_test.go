package input

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/record"
)

func item(version, kind, name string, extra string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"team","uid":%q,"resourceVersion":"7"}%s}`, version, kind, name, name, extra)
}

func list(items ...string) string {
	return `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
}

// read is what a file with that text makes of it.
func read(t *testing.T, text string, sample int) (*Set, error) {
	t.Helper()
	s := NewSet("x.json", sample, 1)
	tr, err := trace.OpenReader("x.json", strings.NewReader(text), trace.Part{})
	if err != nil {
		return s, err
	}
	defer tr.Close()
	return s, Recording(s, tr)
}

func TestListOfSeveralKinds(t *testing.T) {
	text := list(item("v1", "Pod", "a", ""), item("apps/v1", "Deployment", "b", ""), item("v1", "Pod", "c", ""), item("example.com/v1", "Widget", "d", `,"spec":{"size":3}`))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for form, text := range map[string]string{"plain": text, "gzip": zipped.String()} {
		s, err := read(t, text, 10)
		require.NoError(t, err, form)
		counts := map[string]int{}
		for _, k := range s.Kinds {
			counts[k.Name()+" "+k.Resource] = k.Count
			assert.True(t, k.Namespaced)
		}
		assert.Equal(t, map[string]int{"Pod pods": 2, "Deployment.apps deployments": 1, "Widget.example.com widgets": 1}, counts, form)
		assert.Empty(t, s.Warnings)
	}
}

// A recording counts the objects that there were at a time, in their last version.
func TestRecording(t *testing.T) {
	event := func(kind, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object) + "\n" }
	s, err := read(t, event("ADDED", item("v1", "Pod", "a", ""))+event("DELETED", item("v1", "Pod", "a", ""))+event("ADDED", item("v1", "Pod", "b", ""))+
		event("MODIFIED", item("v1", "Pod", "b", `,"spec":{"nodeName":"n1"}`)), 10)
	require.NoError(t, err)
	require.Len(t, s.Kinds, 1)
	assert.Equal(t, 1, s.Kinds[0].Count)
	assert.Contains(t, string(bytes.Join(s.Kinds[0].Sample, nil)), `"nodeName":"n1"`)

	metadata := func(version, event string) string {
		return fmt.Sprintf(`{"resource":"horizontalpodautoscalers.%s.autoscaling","type":%q,"object":%s}`+"\n", version, event, item("meta.k8s.io/v1", "PartialObjectMetadata", "a", ""))
	}
	s, err = read(t, metadata("v1", "ADDED")+metadata("v2", "MODIFIED")+metadata("v2", "DELETED")+metadata("v1", "ADDED"), 10)
	require.NoError(t, err)
	require.Len(t, s.Kinds, 1, "metadata is the same in every version")
	assert.Equal(t, 1, s.Kinds[0].Count)

	tr, err := trace.Open("../../../loadgen/trace/sample/rolling-update-pods.jsonl.gz")
	require.NoError(t, err)
	defer tr.Close()
	s = NewSet("sample", 50, 1)
	require.NoError(t, Recording(s, tr))
	assert.Len(t, s.Kinds[0].Sample, 50, "the sample is bounded")
	assert.Greater(t, s.Objects(), 50)
}

func TestWorkload(t *testing.T) {
	s, events := NewSet("spec", 20, 1), loadgen.Events{Mix: loadgen.Mix{Update: 1}, Count: 1}
	require.NoError(t, Workload(s, &loadgen.Spec{Seed: 1, Resources: []loadgen.Resource{{Kind: "pod", Count: 500, Nodes: 5, Events: events}, {Kind: "lease", Count: 10}}}))
	require.Len(t, s.Kinds, 2)
	assert.Equal(t, "Pod", s.Kinds[0].Name())
	assert.Equal(t, 510, s.Objects())
	assert.Len(t, s.Kinds[0].Sample, 20)
	assert.InDelta(t, float64(s.Kinds[0].kept)/20, float64(s.Kinds[0].Bytes)/500, 5)
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty list", list(), "no"},
		{"empty file", "", "x.json"},
		{"no JSON", "hello", "x.json:1"},
		{"an item without a kind", `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, "x.json"},
	} {
		_, err := read(t, c.text, 10)
		assert.ErrorContains(t, err, c.want, c.name)
	}
	whole := list(item("v1", "Pod", "a", ""), item("v1", "Pod", "b", ""))
	s, err := read(t, whole[:len(whole)-40], 10)
	if err == nil {
		assert.Contains(t, fmt.Sprint(s.Warnings), "cut short")
	} else {
		assert.ErrorContains(t, err, "cut short")
	}
}

func TestOddInput(t *testing.T) {
	s, err := read(t, list(item("autoscaling/v1", "HorizontalPodAutoscaler", "a", ""), item("autoscaling/v2", "HorizontalPodAutoscaler", "b", "")), 10)
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(s.Warnings), "comes in versions v1 and v2, which are counted as two kinds")

	large := item("v1", "ConfigMap", "a", fmt.Sprintf(`,"data":{"x":%q}`, strings.Repeat("y", 1_500_000)))
	s, err = read(t, list(large, item("v1", "ConfigMap", "b", "")), 1)
	require.NoError(t, err)
	assert.Equal(t, 2, s.Kinds[0].Count)
	assert.Greater(t, s.Kinds[0].Bytes, int64(1_500_000))
	assert.Contains(t, fmt.Sprint(s.Warnings), "off the mean size")
}

// A cluster is listed page by page; what it refuses is named.
func TestCluster(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/team/pods") && r.URL.Query().Get("continue") == "":
			fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"next"},"items":[%s]}`, item("v1", "Pod", "a", ""))
		case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/team/pods"):
			fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[%s]}`, item("v1", "Pod", "b", ""))
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"secrets is forbidden"}`)
		}
	}))
	defer server.Close()
	resource := func(kind, plural string) record.Resource {
		return record.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: plural}, Kind: kind, Namespaced: true}
	}
	config := &rest.Config{Host: server.URL}
	s, seen := NewSet("cluster", 10, 1), 0
	require.NoError(t, Cluster(t.Context(), s, config, "team", []record.Resource{resource("Pod", "pods")}, func(n int) { seen = n }))
	assert.Equal(t, 2, s.Objects())
	assert.Equal(t, 2, seen)
	assert.Equal(t, []string{"/api/v1/namespaces/team/pods?limit=500", "/api/v1/namespaces/team/pods?continue=next&limit=500"}, asked)

	err := Cluster(t.Context(), NewSet("cluster", 10, 1), config, "", []record.Resource{resource("Secret", "secrets")}, func(int) {})
	assert.EqualError(t, err, "list of secrets: secrets is forbidden")
}
