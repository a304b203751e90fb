package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
)

// traceRun runs "benchrun trace" and returns what it printed.
func traceRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return Default().printed(t.Context(), append([]string{"trace"}, args...)...)
}

// sampleFile writes the first records of the embedded recording as lines.
func sampleFile(t *testing.T, n int) string {
	t.Helper()
	records, err := trace.Sample()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "pods.jsonl")
	f, err := os.Create(path)
	require.NoError(t, err)
	lines := trace.NewJSON(f)
	for range n {
		record, err := records.NextRecord()
		require.NoError(t, err)
		require.NoError(t, lines.Write(record))
	}
	require.NoError(t, lines.Close())
	require.NoError(t, f.Close())
	return path
}

func TestTraceCommands(t *testing.T) {
	lines := sampleFile(t, 200)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }

	code, _, stderr := traceRun(t, "import", lines, "--out", in("a.ibt"))
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "a.ibt: 200 events, ")
	code, stdout, stderr := traceRun(t, "convert", in("a.ibt"))
	require.Zero(t, code, stderr)
	want, err := os.ReadFile(lines)
	require.NoError(t, err)
	require.Equal(t, string(want), stdout, "there and back")

	code, before, stderr := traceRun(t, "info", in("a.ibt"))
	require.Zero(t, code, stderr)
	require.Contains(t, before, "200 events in ")
	require.Contains(t, before, "changes of objects that existed before, taken as additions")
	code, _, stderr = traceRun(t, "anonymize", in("a.ibt"), "--out", in("hidden.jsonl.part"))
	require.Zero(t, code, stderr)
	code, after, stderr := traceRun(t, "info", in("hidden.jsonl.part"))
	require.Zero(t, code, stderr)
	require.Equal(t, before, after, "info says the same of what is anonymized")

	var s summary.Summary
	code, stdout, stderr = traceRun(t, "info", in("a.ibt"), "-o", "json", "--resource", "pods")
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	require.Equal(t, 200, s.All.Events)

	code, stdout, stderr = traceRun(t, "fit", in("a.ibt"), "--out", in("like.yaml"))
	require.Zero(t, code, stderr)
	for _, figure := range []string{"events/s", "added", "top 1%", "dispersion", "peak/s", "bytes"} {
		require.Contains(t, stdout, figure)
	}
	spec, err := loadgen.ReadSpec(in("like.yaml"))
	require.NoError(t, err)
	require.Equal(t, "like", spec.Name)

	code, stdout, stderr = traceRun(t, "replay", in("a.ibt"), "--speed", "max")
	require.Zero(t, code, stderr)
	require.Equal(t, string(want), stdout)
	require.Contains(t, stderr, "200 events in ")
}

// Rates of events without times are not known, which is not 0.
func TestTraceWithoutTimes(t *testing.T) {
	untimed := trafficTable(summary.Summary{Resources: []summary.Traffic{{Resource: "pods", Events: 3}}}, false)
	for _, column := range []string{"/s", "peak/s", "dispersion"} {
		assert.Equal(t, "-", untimed.rows[0][slices.Index(untimed.header, column)], column)
	}
}

// What is wrong is said in one line, and nothing half-written is left.
func TestTraceBadInput(t *testing.T) {
	lines, brief := sampleFile(t, 20), sampleFile(t, 1)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.ibt")
	bad := filepath.Join(dir, "bad.jsonl")
	data, err := os.ReadFile(lines)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(bad, []byte(string(data)+"{\"type\":\"UPDATED\",\"object\":{\"kind\":\"Pod\"}}\n"), 0o600))
	for args, want := range map[string]string{
		"info":                                          "benchrun trace info: found 0 arguments, expected at least one RECORDING",
		"info nowhere":                                  "open nowhere: no such file or directory",
		"info BAD":                                      `BAD:21: document 21: type: unknown value "UPDATED", expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`,
		"import BAD":                                    "--out: missing, expected the file to write",
		"import BAD --out OUT":                          `BAD:21: document 21: type: unknown value`,
		"convert BAD --format xml":                      `--format: found "xml", expected one of compact, jsonl`,
		"convert BAD --format compact":                  "--out: the compact format goes to a file, expected --out FILE or --format jsonl",
		"fit BRIEF --out OUT":                           "BRIEF: found events of 0s in all, expected them of a second or more",
		"convert LINES --out DIR":                       "--out: DIR is a directory, expected a file",
		"convert BAD --out BAD":                         "--out: found BAD, which is read, expected another file",
		"convert LINES --resource jobs --out OUT":       `resource "jobs": found no events of it, but of pods`,
		"convert LINES --from 5s --to 1s":               "the part from 5s to 1s is empty, expected an end after its start",
		"anonymize LINES --out OUT --key-file BAD.none": "--key-file: open BAD.none: no such file or directory",
		"replay LINES --speed fast":                     `--speed: found "fast", expected how many times faster`,
		"record":                                        "--out: missing, expected the file to write",
		"record --out OUT --kubeconfig nowhere":         "kubeconfig: ",
		"record extra --out OUT":                        `benchrun trace record takes no arguments, found "extra"`,
		"fit LINES":                                     "--out: missing, expected the file to write",
		"recrod":                                        `unknown command "recrod", expected one of`,
	} {
		fields := strings.Fields(strings.NewReplacer("BAD", bad, "OUT", out, "LINES", lines, "BRIEF", brief, "DIR", dir).Replace(args))
		code, _, stderr := traceRun(t, fields...)
		require.Equal(t, 2, code, args)
		require.Contains(t, stderr, strings.NewReplacer("BAD", bad, "BRIEF", brief, "DIR", dir).Replace(want), args)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, left, 1, "%s: %v", args, left)
	}
}

// Standard input is read as a file is, in each format.
// A device is written to and never replaced: as root that would take /dev/null
// from the whole machine. Here a link stands for it.
func TestTraceOutputIsNoFile(t *testing.T) {
	lines := sampleFile(t, 600)
	device := filepath.Join(t.TempDir(), "null")
	require.NoError(t, os.Symlink(os.DevNull, device))
	for _, args := range [][]string{
		{"fit", lines, "--out", device},
		{"convert", lines, "--format", "jsonl", "--out", device},
		{"convert", lines, "--format", "compact", "--out", device},
	} {
		code, _, stderr := traceRun(t, args...)
		if args[3] == "compact" {
			require.Equal(t, 2, code)
			require.Contains(t, stderr, "null is a device or a pipe, expected a file")
		} else if args[0] == "fit" {
			require.NotEqual(t, 2, code, stderr) // 1 says that it is far off
		} else {
			require.Zero(t, code, stderr)
		}
		left, err := os.ReadDir(filepath.Dir(device))
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.Equal(t, os.ModeSymlink, left[0].Type(), args)
	}
}

func TestTraceStandardInput(t *testing.T) {
	lines := sampleFile(t, 20)
	compact := filepath.Join(t.TempDir(), "pods.ibt")
	code, _, stderr := traceRun(t, "import", lines, "--out", compact)
	require.Zero(t, code, stderr)
	for _, path := range []string{lines, compact} {
		_, want, _ := traceRun(t, "convert", path)
		f, err := os.Open(path)
		require.NoError(t, err)
		cmd := traceCommand()
		var out bytes.Buffer
		cmd.SetIn(f)
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"convert", "-"})
		require.NoError(t, cmd.ExecuteContext(t.Context()))
		require.NoError(t, f.Close())
		require.Equal(t, want, out.String())
	}
}

// A recording that was cut is used as far as it goes, with a warning.
func TestTraceCut(t *testing.T) {
	lines := sampleFile(t, 20)
	whole := filepath.Join(t.TempDir(), "whole.ibt")
	w, err := trace.Create(whole)
	require.NoError(t, err)
	recording, err := trace.Open(lines)
	require.NoError(t, err)
	defer recording.Close()
	for i := range 20 {
		record, err := recording.NextRecord()
		require.NoError(t, err)
		require.NoError(t, w.Write(record))
		if i == 14 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Flush()) // and never closed
	code, stdout, stderr := traceRun(t, "info", whole)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "20 events in ")
	require.Equal(t, "warning: "+whole+": the file ends after block 2, without its end: cut short; what comes before is used\n", stderr)
	info, err := os.Stat(whole)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(whole, info.Size()-10))
	code, stdout, stderr = traceRun(t, "convert", whole)
	require.Zero(t, code, stderr)
	require.Equal(t, 15, strings.Count(stdout, "\n"))
	require.Contains(t, stderr, "block 2: the file ends within it: cut short; what comes before is used")
}

// A whole recording, from the kubeconfig to the file, and its continuation.
func TestTraceRecord(t *testing.T) {
	version, listed := "5", func() {}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, ok := map[string]string{
			"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
			"/apis":   `{"kind":"APIGroupList","groups":[]}`,
			"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod"}]}`,
		}[r.URL.Path]
		switch {
		case ok:
			_, _ = w.Write([]byte(answer))
		case r.URL.Path != "/api/v1/pods":
			http.NotFound(w, r)
		case r.URL.Query().Get("watch") != "":
			listed() // ends the recording, as Ctrl-C does
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","resourceVersion":"` + version + `"}}]}`))
		}
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	dir := t.TempDir()
	config, path := filepath.Join(dir, "config"), filepath.Join(dir, "pods.ibt")
	require.NoError(t, os.WriteFile(config, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "+server.URL+"}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"), 0o600))
	record := func(more ...string) (int, string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		listed = cancel
		code, _, stderr := Default().printed(ctx, append([]string{"trace", "record", "--kubeconfig", config, "--out", path}, more...)...)
		return code, stderr
	}
	code, stderr := record()
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, path+": 1 event (1 of them existing objects), 0 bookmarks\n")
	code, stderr = record()
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--out: found "+path+", expected a new file, or --append to go on with it")
	version = "7"
	code, stderr = record("--append")
	require.Zero(t, code, stderr)
	code, stdout, stderr := traceRun(t, "convert", path)
	require.Zero(t, code, stderr)
	require.Regexp(t, `^{"ts":".*","resource":"pods.v1.","type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"}}}
{"ts":".*","resource":"pods.v1.","type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}}
$`, stdout)
	code, stderr = record("--resource", "widgets", "--append")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, `resource "widgets": the server has no such resource`)
}

// Ctrl-C keeps what was written, but puts no part in the place of a whole file.
func TestInterruptedImport(t *testing.T) {
	lines, path := sampleFile(t, 200), filepath.Join(t.TempDir(), "a.ibt")
	run := func() error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := &cobra.Command{}
		cmd.SetContext(ctx)
		cmd.SetErr(io.Discard)
		read := 0
		return copyTraces(cmd, &traceInput{}, []string{lines}, path, "compact", func(*trace.Record) error {
			if read++; read == 50 {
				cancel()
			}
			return nil
		})
	}
	require.EqualError(t, run(), "interrupted: "+path+" has the 50 events until then")
	code, stdout, stderr := traceRun(t, "info", path)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "50 events in ")
	require.EqualError(t, run(), "interrupted")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no part is left behind")
}

// cutFile packs lines and leaves out the end.
func cutFile(t *testing.T, lines string) string {
	t.Helper()
	cut := filepath.Join(t.TempDir(), "cut.jsonl.gz")
	text, err := os.ReadFile(lines)
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(cut, packed.Bytes()[:packed.Len()/2], 0o600))
	return cut
}

// Every command that takes a recording uses what a cut one holds.
func TestCutRecordingIsUsed(t *testing.T) {
	cut := cutFile(t, sampleFile(t, 200))
	warning := cut + ": the gzip data is cut short; what comes before is used"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"trace", "info", cut}, "warning: " + warning},
		{[]string{"sim", cut, "--service", "1ms", "--replicas", "1"}, "warning: " + warning},
		{[]string{"tune", "--trace", cut, "--service", "1ms", "--budget", "0"}, "warning: " + warning},
		{[]string{"run", "--trace", cut, "--rounds", "1", "--variant", "fast"}, "warning: " + warning},
		{[]string{"drive", cut, "--speed", "max", "--rounds", "2"}, "warning: " + warning},
		{[]string{"drive", cut, "--speed", "max"}, "warning: " + warning},
	} {
		if name := c.args[0]; name != "trace" && name != "sim" {
			c.args = append(c.args, "--out", filepath.Join(t.TempDir(), "result"))
		}
		suite := testSuite()
		suite.Check = bench.Options.Validate
		var stdout, stderr bytes.Buffer
		require.Zero(t, suite.Main(t.Context(), c.args, &stdout, &stderr), "%v: %s", c.args, &stderr)
		require.Equal(t, 1, strings.Count(stdout.String()+stderr.String(), c.want), "%v: %s%s", c.args, &stdout, &stderr)
	}
}

// A recording that is cut short ends none of those that are read beside it.
func TestCutRecordingBesideAnother(t *testing.T) {
	lines := sampleFile(t, 200)
	cut := cutFile(t, lines)
	for _, args := range [][]string{{cut, lines}, {lines, cut}} {
		code, stdout, stderr := traceRun(t, append([]string{"convert"}, args...)...)
		require.Zero(t, code, stderr)
		require.GreaterOrEqual(t, strings.Count(stdout, "\n"), 200)
		require.Equal(t, 1, strings.Count(stderr, "warning: "+cut), stderr)
	}
}
