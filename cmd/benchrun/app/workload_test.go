package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/explain"
	"github.com/stretchr/testify/require"
)

func TestWorkloadShow(t *testing.T) {
	for _, format := range []string{"yaml", "json"} {
		code, stdout, stderr := benchrun(t, "workload", "show", "job-burst", "-o", format)
		require.Equal(t, 0, code, stderr)
		shown, err := loadgen.ParseSpec("shown", []byte(stdout))
		require.NoError(t, err)
		spec, err := loadgen.Preset("job-burst")
		require.NoError(t, err)
		require.Equal(t, spec, shown, "what is shown can be run")
	}
	code, _, stderr := benchrun(t, "workload", "show", "job-burst", "-o", "csv")
	require.Equal(t, 2, code)
	require.Equal(t, "error: -o csv does not fit a workload, expected yaml or json\n", stderr)
}

func TestWorkloadValidate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, []byte("resources:\n- count: 10\n  events: {mix: {update: 1}, arrivals: {rate: -3}, count: 5}\n"), 0o600))
	code, stdout, stderr := benchrun(t, "workload", "validate", "hot-keys", path)
	require.Equal(t, 2, code)
	require.Equal(t, "hot-keys: fine, 1 resource\n", stdout)
	require.Equal(t, "error: "+path+":3: resources[0].events.arrivals.rate: found -3, expected a number from 0 to 1e+09\n", stderr)
	code, _, stderr = benchrun(t, "workload", "validate")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "found no arguments, expected presets or files")
}

func TestWorkloadExplain(t *testing.T) {
	code, stdout, stderr := benchrun(t, "workload", "explain", "rolling-update")
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(stdout, "\n")
	require.Regexp(t, `^RESOURCE +KIND +PATTERN +OBJECTS +END +ADDED`, lines[0])
	require.Regexp(t, `^pods +pod +rollout +6000 +`, lines[1])
	require.Regexp(t, `\nworkers +5, loaded to 5\d\.?\d*%, `, stdout)
	require.Contains(t, stdout, "warning   the load's peaks need")

	busy := filepath.Join(t.TempDir(), "busy.yaml")
	require.NoError(t, os.WriteFile(busy, []byte("name: busy\nduration: 10s\nresources: [{name: a, kind: custom, count: 500, events: {pattern: mix, mix: {update: 1}, arrivals: {kind: poisson, rate: 20000}}}]\nreconcile: {workers: 1, service: 500us}\n"), 0o666))
	code, stdout, stderr = benchrun(t, "workload", "explain", busy)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "\nworkers   1, loaded to 1000%, 1000% at the peak: 20000 reconciles/s of 500µs\n")
	require.Contains(t, stdout, "\nwarning   unstable: 20000 reconciles/s of 500µs need 10.0 workers against 1; the queue grows\n")

	code, stdout, stderr = benchrun(t, "workload", "explain", "lease-heartbeats", "-o", "json")
	require.Equal(t, 0, code, stderr)
	var e explain.Explanation
	require.NoError(t, json.Unmarshal([]byte(stdout), &e))
	require.InDelta(t, 500, e.Total.Rate, 1e-6)
	require.InDelta(t, 60_000, e.Total.All(), 1e-6)
	require.Empty(t, e.Warnings)
}

// A workload is written to a server until it refuses, and what was done is told.
func TestWorkloadApply(t *testing.T) {
	for _, bad := range []struct{ args, want string }{
		{"--only all", `--only: found "all", expected objects or events`},
		{"--speed 0", `--speed: found "0"`},
		{"--duration -1s", "--duration: found -1s, expected a time above 0"},
		{"--kubeconfig nowhere", "kubeconfig: stat nowhere: no such file"},
	} {
		code, _, stderr := benchrun(t, append([]string{"workload", "apply", "rolling-update"}, strings.Fields(bad.args)...)...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "error: "+bad.want)
	}
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/namespaces") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`))
			return
		}
		http.Error(w, "no room", http.StatusInsufficientStorage)
	}))
	defer full.Close()
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte(`{"clusters":[{"name":"a","cluster":{"server":"`+full.URL+`"}}],"contexts":[{"name":"a","context":{"cluster":"a"}}],"current-context":"a"}`), 0o600))
	code, _, stderr := benchrun(t, "workload", "apply", "job-burst", "--kubeconfig", config)
	require.Equal(t, 2, code)
	require.Regexp(t, `^error: (Pod|Job|Node) \S+: .*; until then 0 objects created at first`, stderr)
}
