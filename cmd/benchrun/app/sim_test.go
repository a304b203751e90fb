package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulate runs benchrun sim and returns its exit code and output.
func simulate(t *testing.T, args ...string) (code int, stdout, stderr string) {
	return Default().printed(t.Context(), append([]string{"sim"}, args...)...)
}

func TestSimPredicts(t *testing.T) {
	code, stdout, stderr := simulate(t, "steady-5k-nodes", "--duration", "20s", "--replicas", "2")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "queue wait p99")
	assert.Contains(t, stdout, "2 simulations of 20s in ")
	load := regexp.MustCompile(`load +(\S+) `).FindStringSubmatch(stdout)
	require.NotNil(t, load, stdout)
	assert.Contains(t, stdout, "Stable: the tightest limit is workers, "+load[1]+" used", "as the table says, not as the first simulation did")

	code, stdout, stderr = simulate(t, "steady-5k-nodes", "--duration", "20s", "--replicas", "2", "--service", "exp(1s)")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "Not stable: the load is")
	assert.Contains(t, stdout, "FROM and TO bound each mean with 95% confidence")

	code, stdout, stderr = simulate(t, "steady-5k-nodes", "--duration", "20s", "--replicas", "1")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "; one simulation gives no confidence interval.\n")
	assert.Regexp(t, `(?m)^queue wait p99\.9 +\S+ +- +-$`, stdout, "nor bounds of one")
}

func TestSimPrintsJSON(t *testing.T) {
	code, stdout, stderr := simulate(t, "steady-5k-nodes", "--two-queues", "--duration", "20s", "--replicas", "3", "--seed", "5", "-o", "json")
	require.Zero(t, code, stderr)
	var v simulated
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	assert.Equal(t, 3, v.Replicas)
	assert.Equal(t, "workers", v.Demand.Bottleneck)
	require.NotEmpty(t, v.Figures)
	for _, f := range v.Figures {
		assert.LessOrEqual(t, *f.Low, f.Mean, f.Name)
		assert.GreaterOrEqual(t, *f.High, f.Mean, f.Name)
	}
	code, stdout, stderr = simulate(t, "steady-5k-nodes", "--duration", "20s", "--replicas", "1", "-o", "json")
	require.Zero(t, code, stderr)
	assert.NotContains(t, stdout, `"low"`, "one simulation has no interval")
}

func TestSimPlaysRecordings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pods.json")
	line := `{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"b","uid":"1","resourceVersion":"7"}}}` + "\n"
	require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
	code, stdout, stderr := simulate(t, file, "--service", "20ms", "--replicas", "1", "-o", "csv")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "work mean,20ms,-,-\n")
	assert.Empty(t, stderr)

	code, stdout, stderr = simulate(t, file, "--replicas", "1", "-o", "csv")
	require.Zero(t, code, stderr)
	assert.NotContains(t, stdout, "work mean", "it is zero")
	assert.Equal(t, "warning: "+file+" doesn't tell how long a reconcile takes: its own work takes no time, expected --service\n", stderr)
}

func TestSimInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	code := Main(ctx, []string{"sim", "rolling-update"}, io.Discard, &stderr)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr.String(), "interrupted before the first simulation ended")

	stderr.Reset()
	code = Main(ctx, []string{"sim", "validate"}, io.Discard, &stderr)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr.String(), "error: interrupted\n")
}

func TestSimRefuses(t *testing.T) {
	bookmark := filepath.Join(t.TempDir(), "bookmarks.json")
	require.NoError(t, os.WriteFile(bookmark, []byte(`{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"7"}}}`+"\n"), 0o600))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "found 0 arguments, expected WORKLOAD|RECORDING"},
		{[]string{"nope"}, `unknown workload "nope"`},
		{[]string{"rolling-update", "--workers", "0"}, "--workers: found 0, expected more than 0"},
		{[]string{"rolling-update", "--qps", "20", "--burst", "0"}, "--burst: found 0, expected at least 1 beside a QPS of 20"},
		{[]string{"rolling-update", "--failure", "2"}, "error: --failure: found 2, expected a number from 0 to 1"},
		{[]string{"rolling-update", "--failure", "1"}, "error: --failure: found 1 without a limit of retries: no key would ever be settled"},
		{[]string{"rolling-update", "--call-latency", "50000h"}, "error: --call-latency: found 50000h"},
		{[]string{"rolling-update", "--base-delay", "10s", "--max-delay", "1s"}, "error: --max-delay: found 1s, expected at least baseDelay, 10s"},
		{[]string{"rolling-update", "--base-delay", "2000s"}, "error: --base-delay: found 33m20s, expected at most the maximum delay, 16m40s\n"},
		{[]string{"rolling-update", "--replicas", "100000000"}, "error: --replicas: found 100000000, expected 1 to 10000\n"},
		{[]string{"rolling-update", "--retry-rate", "NaN"}, "error: --retry-rate: found NaN"},
		{[]string{"rolling-update", "--duration", "20000h"}, "error: --duration: found 20000h"},
		{[]string{"rolling-update", "--warmup", "10h"}, "error: --warmup: found 10h0m0s"},
		{[]string{"rolling-update", "--warmup", "-1s"}, "error: --warmup: found -1s, expected 0 or more"},
		{[]string{"rolling-update", "--two-queues"}, "--two-queues: the workload has no nodes"},
		{[]string{bookmark}, "no events but bookmarks"},
		{[]string{"rolling-update", "--base-delay", "-1s"}, "--base-delay: found -1s, expected more than 0"},
		{[]string{"validate", "--precision", "0"}, `invalid argument "0" for "--precision"`},
		{[]string{"validate", "--replicas", "0"}, "error: --replicas: found 0, expected more than 0"},
		{[]string{"validate", "--utilisation", "0.5"}, "error: --utilisation: has no effect with --drive=false"},
		{[]string{"validate", "--arrivals", "onoff"}, "error: --arrivals: has no effect with --drive=false"},
		{[]string{"validate", "--drive", "--arrivals", "ramp"}, `arrivals: found "ramp", expected onoff or poisson`},
		{[]string{"validate", "--drive", "--precision", "5%"}, "error: --precision: has no effect with --drive=true"},
		{[]string{"validate", "--drive", "--workers", "0"}, "error: --workers: found 0, expected more than 0"},
		{[]string{"validate", "--drive", "--duration", "-1s"}, "error: --duration: found -1s, expected more than 0"},
		{[]string{"validate", "--drive", "--utilisation", "1.5"}, "utilisation: found 1.5"},
	} {
		code, _, stderr := simulate(t, tt.args...)
		assert.Equal(t, exitUsage, code, tt.args)
		assert.Contains(t, stderr, tt.want)
	}
}
