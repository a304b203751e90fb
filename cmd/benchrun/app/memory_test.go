package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/memory"
	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/feed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMemoryBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	pods := file("pods.json", `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"1","resourceVersion":"1"}}]}`)
	for _, c := range []struct{ want, args string }{
		{"found no input", ""},
		{"expected one input", pods + " --cluster"},
		{"expected FILE or PRESET", pods + " " + pods},
		{"no-such-preset", "no-such-preset"},
		{"empty.json", file("empty.json", `{"kind":"List","apiVersion":"v1","items":[]}`)},
		{"kubeconfig: ", "--kubeconfig " + filepath.Join(dir, "none")},
		{"--heap: ", "--heap " + pods},
		{"--sample: found 0", pods + " --sample 0"},
		{"--objects: found -1", pods + " --objects -1"},
		{"--shards: found 1", pods + " --shards 1"},
		{"--informer: ", pods + " --informer zab"},
		{"--form: found \"raw\"", pods + " --form raw"},
		{"--measured: found 1", pods + " --measured 1"},
		{"--drop: found", pods + " --drop metadata.name"},
		{"--drop: found \"spec..x\"", pods + " --drop spec..x"},
		{"--selector: found \"a==,,\", expected labels as in", pods + " --selector a==,,"},
		{"--field-selector: found \"a=b=c\", expected fields as in", pods + " --field-selector a=b=c"},
		{"Pod team/a: spec: found a JSON string, expected a v1.PodSpec", file("misfit.json", `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"team","uid":"1","resourceVersion":"1"},"spec":"x"}]}`)},
		{"--resource: goes with a file", "rolling-update --resource pods"},
		{"expected one of table", pods + " -o xml"},
	} {
		code, _, stderr := benchrun(t, append([]string{"memory", "--out", filepath.Join(dir, "out")}, strings.Fields(c.args)...)...)
		assert.Equal(t, 2, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "error:"), stderr)
		assert.NoDirExists(t, filepath.Join(dir, "out"), c.args)
	}
}

func TestMemoryOfHeapProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heap")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, pprof.WriteHeapProfile(f))
	require.NoError(t, f.Close())
	code, stdout, stderr := benchrun(t, "memory", "--heap", path)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "not of caches")
	code, stdout, stderr = benchrun(t, "memory", "--heap", path, "-o", "json")
	require.Zero(t, code, stderr)
	var h memory.Heap
	require.NoError(t, json.Unmarshal([]byte(stdout), &h))
	assert.NotEmpty(t, h.Groups)
}

// A sample is a process of its own; its fault is an error of one line.
func TestMemorySample(t *testing.T) {
	server, err := feed.New([]feed.Kind{{
		GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Count: 50,
		Sample: [][]byte{[]byte(`{"metadata":{"name":"a-abcdefgh","namespace":"team","uid":"11111111-2222"}}`)},
	}}, feed.Options{})
	require.NoError(t, err)
	defer server.Close()
	defer server.CloseClientConnections()
	j := child.Job{Server: server.URL, Form: child.Typed, Encoding: "protobuf", List: "watchlist", Informer: "client-go", StartOnly: true, Kinds: []child.Kind{{Version: "v1", Kind: "Pod", Resource: "pods"}}}
	r, err := sampleMemory(t.Context(), j)
	require.NoError(t, err)
	assert.Equal(t, 50, r.Objects)
	assert.NotEmpty(t, r.Timeline)
	j.Drop = []string{"kind"}
	_, err = sampleMemory(t.Context(), j)
	assert.ErrorContains(t, err, "expected a part that a cache can do without")
}

func TestMemoryPrint(t *testing.T) {
	l := memoryCommandLine{out: "table"}
	figure := memory.Figure{Value: 0.25, Low: 0.2, High: 0.3}
	r := memory.Result{
		Summary: "Strip managedFields: less.", PerObject: memory.Figure{Value: 4}, Prediction: memory.Usage{Objects: 7},
		Changes:    []memory.Saving{{Name: "strip managedFields", Live: figure, Peak: memory.Figure{Value: 0.1, Low: -0.1, High: 0.3}, CPU: figure, Advised: true}},
		Parts:      []memory.Part{{Name: "spec", Bytes: memory.Figure{Value: 2}}},
		Advice:     memory.Advice{Request: 64 << 20, Limit: 128 << 20, GOMEMLIMIT: 100 << 20, GOGC: 100, Why: "As measured."},
		Transforms: []memory.Transform{{Kind: "Pod", Code: "package transforms\n"}, {Kind: "any kind", Code: "package long\n"}},
	}
	var b bytes.Buffer
	require.NoError(t, l.print(&b, r))
	assert.Regexp(t, `^Strip managedFields: less\.\n`, b.String())
	assert.Regexp(t, `strip managedFields ◂ +~ +-25% +~ +-25%`, b.String())
	assert.Contains(t, b.String(), "7 OBJECTS, EXTRAPOLATED")
	assert.Contains(t, b.String(), "memory: 128Mi")
	assert.NotContains(t, b.String(), "package long")
	b.Reset()
	l.out = "json"
	require.NoError(t, l.print(&b, r))
	var back memory.Result
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	assert.Equal(t, r.Changes, back.Changes)
}
