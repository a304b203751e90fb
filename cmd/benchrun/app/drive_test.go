package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// smallWorkload is over in a fraction of a second.
const smallWorkload = `
name: small
seed: 1
resources:
  - kind: metadata
    count: 50
    events:
      mix: {add: 1, update: 4, delete: 1}
      arrivals: {kind: constant, rate: 2000}
      count: 300
reconcile:
  workers: 2
  service: 100us
`

func workloadFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func driveResult(t *testing.T, path string) drive.Result {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var r drive.Result
	require.NoError(t, json.Unmarshal(b, &r))
	return r
}

func TestDriveOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := benchrun(t, "drive", workloadFile(t, smallWorkload), "--out", dir, "--workers", "3", "--seed", "9")
	require.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "sent 300 = delivered ")
	assert.Contains(t, stdout, "settled")
	assert.Contains(t, stdout, "due → successful reconcile ended")
	assert.Regexp(t, "late by p50 .*; without the controller, at 10,000/s, p99 ", stdout)
	assert.Contains(t, stderr, "seed 9")

	r := driveResult(t, filepath.Join(dir, "drive", "client-go", "0.json"))
	assert.Equal(t, drive.SchemaVersion, r.Schema)
	assert.Equal(t, 300, r.Accounting.Sent)
	assert.Equal(t, 3, r.Setup.Workers)
	assert.Positive(t, r.Generator.Lateness)
	assert.Equal(t, drive.Parts{Informer: "client-go", RateLimiter: "client-go", RateLimitingQueue: "client-go"}, r.Setup.Parts)

	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	require.Len(t, samples, 1)
	assert.Equal(t, "drive/workload=small", samples[0].Case)
	for _, unit := range []string{"sec/op", "cpu-sec/op", "queue-wait-p50-sec", "queue-wait-p99-sec", "settled-p99-sec", "staleness-p99-sec", "events/s", "B/op", "allocs/op"} {
		_, measured := samples[0].Values.Get(unit)
		assert.True(t, measured, unit)
	}
	assert.Equal(t, "rounds", run.Stopped)
	assert.FileExists(t, filepath.Join(dir, "report.html"))
	raw, err := os.ReadFile(filepath.Join(dir, "raw.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(raw), "\npkg: github.com/informerbench/informerbench/bench\n", "as in a run's, so that benchstat puts them in one table")
}

func TestDriveFormats(t *testing.T) {
	path := workloadFile(t, smallWorkload)
	code, stdout, stderr := benchrun(t, "drive", path, "--out", filepath.Join(t.TempDir(), "r"), "-o", "json")
	require.Equal(t, 0, code, stderr)
	var r drive.Result
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	assert.True(t, r.Accounting.Sound())
	code, stdout, _ = benchrun(t, "drive", path, "--out", filepath.Join(t.TempDir(), "r"), "-o", "csv")
	require.Equal(t, 0, code)
	assert.True(t, strings.HasPrefix(stdout, "latency,from → to,count,p50,p90,p99,p99.9,max\n"), stdout)
}

func TestDriveComparesArms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := benchrun(t, "drive", workloadFile(t, smallWorkload), "--out", dir, "--rounds", "2", "--by", "settled",
		"--rate-limiting-queue", "client-go,fused", "--indexer", "locked,snapshot", "--service", "0s")
	require.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "locked+client-go")
	assert.Contains(t, stdout, "snapshot+fused")
	run, samples, err := experiment.Load(dir)
	require.NoError(t, err)
	require.Len(t, samples, 2*5)
	c := run.Plan.Cases[0]
	assert.Equal(t, "locked+client-go", c.Baseline)
	assert.Equal(t, "settled-p99-sec", c.Unit)
	for _, a := range c.Arms {
		for round := range 2 {
			r := driveResult(t, filepath.Join(dir, "drive", a.Name, fmt.Sprint(round)+".json"))
			assert.Equal(t, a.Name, r.Arm)
			assert.Equal(t, round, r.Round)
			assert.Equal(t, 300, r.Accounting.Sent)
		}
	}
	// An older run's report can be written again.
	code, _, stderr = benchrun(t, "report", dir)
	require.Equal(t, 0, code, stderr)
}

// A queue that loses a key is a failed drive, alone and in a comparison.
func TestDriveFindsLosses(t *testing.T) {
	dropping := func(l workqueue.TypedRateLimiter[string], c workqueue.TypedRateLimitingQueueConfig[string]) workqueue.TypedRateLimitingInterface[string] {
		return &forgetful{TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(l, c)}
	}
	if err := impl.Add("rate-limiting-queue", impl.Variant[impl.NewRateLimitingQueue[string]]{Name: "forgetful", New: dropping}); err != nil {
		require.ErrorContains(t, err, "already") // an earlier -count
	}
	dir := filepath.Join(t.TempDir(), "result")
	code, stdout, stderr := benchrun(t, "drive", workloadFile(t, smallWorkload), "--rate-limiting-queue", "forgetful", "--out", dir)
	require.Equal(t, 1, code, stderr)
	assert.Contains(t, stdout, "lost")
	assert.Contains(t, stderr, "FAILED: sent 300")
	assert.Contains(t, stderr, "was last seen at")
	assert.False(t, driveResult(t, filepath.Join(dir, "drive", "forgetful", "0.json")).Accounting.Sound())
	raw, err := os.ReadFile(filepath.Join(dir, "raw.txt"))
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "BenchmarkDrive", "a failed drive is no sample")
}

// forgetful drops every tenth key.
type forgetful struct {
	workqueue.TypedRateLimitingInterface[string]
	n int
}

func (q *forgetful) Add(key string) {
	if q.n++; q.n%10 != 0 {
		q.TypedRateLimitingInterface.Add(key)
	}
}

func TestDriveRefusesBadInput(t *testing.T) {
	path := workloadFile(t, smallWorkload)
	recording := filepath.Join(t.TempDir(), "pods.json")
	require.NoError(t, os.WriteFile(recording, []byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"`), 0o666))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"no-such-preset"}, `unknown workload "no-such-preset"`},
		{[]string{}, "expected WORKLOAD|RECORDING"},
		{[]string{recording}, recording + ":1"},
		{[]string{path, "--rate-limiting-queue", "rong"}, `rate-limiting-queue: unknown variant "rong", expected one of`},
		{[]string{path, "--informer", "client-go", "--indexer", "snapshot"}, "name the informer, or its parts, not both"},
		{[]string{path, "--rate-limiting-queue", "controller-runtime", "--queue", "ring"}, "takes no other queue inside"},
		{[]string{path, "--queue", "ring,ring"}, "named twice"},
		{[]string{path, "--workers", "0"}, "--workers: found 0"},
		{[]string{path, "--failure", "2"}, "error: --failure: found 2, expected a number from 0 to 1"},
		{[]string{path, "--calls", "20000"}, "error: --calls: found 20000"},
		{[]string{path, "--calls", "2ms"}, "error: --calls: found 2ms, which is a duration, expected a number such as 2"},
		{[]string{path, "--service", "five"}, "service"},
		{[]string{path, "--speed", "0"}, `--speed: found "0", expected how many times faster than recorded (0.000001 to 1000000), such as 10, or max`},
		{[]string{path, "--speed", "Inf"}, `--speed: found "Inf", expected`},
		{[]string{path, "--speed", "2,5"}, `--speed: found "2,5", expected`},
		{[]string{path, "--qps", "20", "--burst", "0"}, "--burst: found 0, expected at least 1 beside a QPS of 20"},
		{[]string{path, "--qps", "-1"}, "--qps: found -1, expected 0 or more"},
		{[]string{path, "--service-mode", "nap"}, `--service-mode: found "nap", expected sleep or cpu`},
		{[]string{path, "--by", "luck"}, `--by: found "luck", expected one of cpu`},
		{[]string{path, "--two-queues"}, "the load has no nodes"},
		{[]string{path, "--precision", "2%"}, "--precision: a single drive compares nothing, expected several variants of a part, or --rounds"},
		{[]string{path, "--metrics-addr", "nowhere"}, `--metrics-addr: found "nowhere", expected HOST:PORT or :PORT`},
		{[]string{path, "--rounds", "2", "--metrics-addr", ":0"}, "--metrics-addr: a comparison runs many drives"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "result")
			code, _, stderr := benchrun(t, append([]string{"drive", "--out", dir}, test.args...)...)
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, test.want)
			last := strings.Split(strings.TrimSpace(stderr), "\n")
			assert.True(t, strings.HasPrefix(last[len(last)-1], "error: "), stderr)
			assert.NoDirExists(t, dir, "nothing half-written")
		})
	}
}

// A recording that can't be driven leaves no folder, its own or one around it, and
// nothing is announced before.
func TestDriveOfABadRecordingLeavesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bad.jsonl", []byte(`{"ts":"2026-01-01T00:00:00Z","resource":"pods","type":"ADDED","object":{"kind":"Pod/x"}}`), 0o666))
	pod := `{"ts":"2026-01-01T00:00:00Z","resource":"pods","type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"}}}` + "\n"
	require.NoError(t, os.WriteFile("late.jsonl", []byte(pod+"{}\n"), 0o666))
	require.NoError(t, os.WriteFile("pods.jsonl", []byte(pod), 0o666))
	require.NoError(t, os.Mkdir("empty", 0o777))
	require.NoError(t, os.WriteFile("none.jsonl", []byte(strings.Replace(pod, "ADDED", "BOOKMARK", 1)), 0o666))
	require.NoError(t, os.WriteFile("two.jsonl", []byte(strings.NewReplacer("Pod", "Foo", "v1", "x.io/v1").Replace(pod)+strings.NewReplacer("Pod", "Foo", "v1", "x.io/v2").Replace(pod)), 0o666))
	for _, args := range [][]string{{"bad.jsonl", "bad.jsonl:1"}, {"late.jsonl", "late.jsonl:2"}, {"none.jsonl", "none.jsonl: no events but bookmarks"}, {"two.jsonl", "two.jsonl: found Foo of version v2 after v1"}, {"pods.jsonl", "the load has no nodes", "--two-queues", "--out", "empty", "--metrics-addr", ":0"}} {
		code, _, stderr := benchrun(t, append([]string{"drive", args[0]}, args[2:]...)...)
		assert.Equal(t, 2, code)
		assert.Regexp(t, "^error: .*"+args[1]+".*\n$", stderr)
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 6, "%v", entries)
}

// A trigger calls then when a word is written.
type trigger struct {
	strings.Builder
	word string
	then func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Builder.Write(p)
}

// Ctrl-C ends the load and keeps what was seen.
func TestDriveInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := workloadFile(t, strings.Replace(smallWorkload, "count: 300", "count: 100000", 1))
	dir := filepath.Join(t.TempDir(), "result")
	var stdout strings.Builder
	stderr := trigger{word: " load: ", then: cancel}
	code := testSuite().Main(ctx, []string{"drive", path, "--out", dir}, &stdout, &stderr)
	require.Equal(t, 0, code, stderr.String())
	assert.Contains(t, stdout.String(), "interrupted: what was seen until then is shown")
	r := driveResult(t, filepath.Join(dir, "drive", "client-go", "0.json"))
	assert.Equal(t, drive.Interrupted, r.Stopped)
	assert.Less(t, r.Accounting.Sent, 100_000)
}

func TestServeMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "drives_total", Help: "Drives."})
	registry.MustRegister(counter)
	address, stop, err := serveMetrics(":0", registry)
	require.NoError(t, err)
	defer stop()
	assert.True(t, strings.HasPrefix(address, "127.0.0.1:"), "loopback by default: %s", address)
	response, err := http.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "drives_total 0")
	live, err := http.Get("http://" + address + "/debug/pprof/")
	require.NoError(t, err)
	defer live.Body.Close()
	assert.Equal(t, http.StatusOK, live.StatusCode)
}

func TestDriveScreen(t *testing.T) {
	var out strings.Builder
	s := &driveScreen{w: &out, title: "drive small: ring", terminal: 40}
	p := drive.Progress{Phase: "load", Elapsed: 3 * time.Second, Of: 10 * time.Second, Sent: 30, Seen: 29,
		Tick: drive.Tick{Sent: 10, Depth: 4, Settled99: 1_234_567}}
	s.show(p)
	first := out.String()
	assert.Contains(t, first, "drive small: ring")
	assert.Contains(t, first, "3s of 10s, load")
	assert.Contains(t, first, "█")
	for line := range strings.SplitSeq(first, "\n") {
		assert.Less(t, len([]rune(strings.TrimPrefix(line, "\r\x1b[K"))), 40, "no line wraps")
	}
	out.Reset()
	s.show(p)
	assert.True(t, strings.HasPrefix(out.String(), fmt.Sprintf("\x1b[%dA", strings.Count(first, "\n"))), "written over")
	out.Reset()
	s.clear()
	assert.Contains(t, out.String(), "\x1b[J")
	assert.Contains(t, plainLine(p), "3s of 10s load: sent 30 (10/s), seen 29")
}

// What takes minutes refuses a directory that it could not write to at its end,
// and leaves no trace in one that it could.
func TestUsable(t *testing.T) {
	dir := t.TempDir()
	for _, good := range []string{"", dir, filepath.Join(dir, "new", "newer")} {
		require.NoError(t, usable(good), good)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	require.ErrorContains(t, usable(dir), "is not empty (it holds file)")
	require.Error(t, usable(file))
	require.Error(t, usable(filepath.Join(file, "new")))
	if runtime.GOOS == "linux" {
		require.ErrorContains(t, usable("/proc/self/new"), "/proc/self can't be written to: ")
	}
}

// Default directories are made as they are named: of many at once no two are one.
func TestResultDirsAreApart(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 20
	dirs := make(chan string, n)
	for i := range n {
		go func() {
			dir, err := resultDir("", []string{"drive", "quick"}[i%2])
			assert.NoError(t, err)
			dirs <- dir
		}()
	}
	seen := map[string]bool{}
	for range n {
		dir := <-dirs
		assert.False(t, seen[dir], dir)
		assert.DirExists(t, dir)
		seen[dir] = true
	}
}
