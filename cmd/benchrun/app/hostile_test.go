package app

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// hostileName is a name that a cluster or a file may hold: commands to terminals,
// overrides of the writing direction, HTML, Markdown, a spreadsheet's formula and a
// CI system's command.
const hostileName = "=x\x1b]0;title\a\x1b[31m\u202egnp\u2066\u200b\u0085\u2028<script>alert(1)</script>|`$(id)`::error::y"

// ownBenchrun is benchrun as users have it.
func ownBenchrun(args ...string) (code int, stdout, stderr string) {
	return Default().printed(context.Background(), args...)
}

// harmless fails where a text holds a character that is a command.
func harmless(t *testing.T, text, where string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s: %q in %q", where, r, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
	for line := range strings.Lines(text) {
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::error::y"), "%s: a line of its own", where)
	}
}

// valid fails where a document can't be read as what it is.
func valid(t *testing.T, text, format, where string) {
	t.Helper()
	var v any
	var err error
	switch format {
	case "json":
		err = json.Unmarshal([]byte(text), &v)
	case "jsonl":
		for line := range strings.Lines(text) {
			if err == nil {
				err = json.Unmarshal([]byte(line), &v)
			}
		}
	case "yaml":
		err = yaml.Unmarshal([]byte(text), &v)
	case "csv":
		_, err = csv.NewReader(strings.NewReader(text)).ReadAll()
	case "xml":
		err = xml.Unmarshal([]byte(text), new(struct{ XMLName xml.Name }))
	}
	assert.NoError(t, err, where)
}

// hostileFiles are inputs of every kind that hold the name wherever one may stand.
func hostileFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		files[name] = path
	}
	spaceless := strings.ReplaceAll(strings.ReplaceAll(hostileName, "\u0085", ""), "\u2028", "")
	for name, ns := range map[string]int{"old.txt": 100, "new.txt": 200} {
		var s strings.Builder
		for _, machine := range []string{"a", "b"} {
			fmt.Fprintf(&s, "cpu: %s%s\n", machine, hostileName)
			for i := range 10 {
				fmt.Fprintf(&s, "BenchmarkX%s-2\t1\t%d ns/op\t%d %s\n", spaceless, ns+i, ns, spaceless)
			}
		}
		write(name, s.String())
	}
	write("fail.txt", "BenchmarkX-2\t1\t5 ns/op\npanic: "+hostileName+"\n")
	name, err := json.Marshal(hostileName)
	require.NoError(t, err)
	var events strings.Builder
	for i := range 20 {
		fmt.Fprintf(&events, `{"ts": "2026-01-01T00:00:%02dZ", "resource": %s, "type": "ADDED", "object": {"apiVersion": "v1", "kind": %[2]s, "metadata": {"name": %[2]s, "namespace": %[2]s, "uid": "u%[1]d", "resourceVersion": "%[1]d", "labels": {%[2]s: %[2]s}, "managedFields": [{"manager": %[2]s, "operation": "Update"}]}}}`+"\n", i+1, name)
	}
	write("trace.jsonl", events.String()) // no API server has such objects
	write("valid.jsonl", fmt.Sprintf(`{"ts": "2026-01-01T00:00:00Z", "resource": "pods", "type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1", "annotations": {"a": %s}}}}`+"\n", name))
	write("bad.jsonl", `{"ts": `+string(name)+"}\n")
	write("workload.yaml", "name: "+string(name)+"\n"+string(name)+": 1\n")
	return files
}

// However a hostile name goes in, and whatever comes out of a command, it gives no
// commands to the reader, and documents stay documents.
func TestHostileNamesAtEveryBoundary(t *testing.T) {
	files := hostileFiles(t)
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	compare := []string{"compare", files["old.txt"], files["new.txt"]}
	trace := files["trace.jsonl"]
	commands := [][]string{
		append(compare, "--fail-on", "time>5%", "--annotate", "github", "--markdown", out("summary.md"), "--junit", out("junit.xml"), "--history", out("history.jsonl"), "--label", hostileName),
		append(compare, "--fail-on", hostileName+">5"),
		append(compare, "--filter", "cpu:none"+hostileName),
		append(compare, "--ignore", hostileName),
		{"compare", files["old.txt"], files["fail.txt"]},
		{"compare", files["fail.txt"], files["fail.txt"], "--annotate", "github"},
		{"compare", hostileName, hostileName},
		{"trend", out("history.jsonl"), files["old.txt"], "--html", out("trend.html")},
		{"trend", files["old.txt"], "--match", hostileName + "("},
		{"report", hostileName}, {"serve", hostileName}, {"merge", hostileName}, {"releases", hostileName + "@v1", "a@v2"},
		{"list", hostileName}, {hostileName}, {"run", "--" + hostileName}, {"run", "--component", hostileName}, {"run", "--trace", files["bad.jsonl"], "--component", "pipeline"},
		{"schema", hostileName}, {"calibrate", "--out", hostileName, "--runs", "0"}, {"verify", "--component", hostileName},
		{"workload", "check", files["workload.yaml"]}, {"workload", "show", files["workload.yaml"]}, {"workload", "explain", files["workload.yaml"]},
		{"trace", "info", trace}, {"trace", "info", files["bad.jsonl"]}, {"trace", "fit", trace},
		{"trace", "convert", trace, "--out", out("refused.jsonl"), "--format", "jsonl"}, {"trace", "info", files["valid.jsonl"]},
		{"trace", "convert", files["valid.jsonl"], "--out", out("converted.jsonl"), "--format", "jsonl"},
	}
	run := func(args []string, format string) {
		where := fmt.Sprintf("%q", args)
		code, stdout, stderr := ownBenchrun(args...)
		harmless(t, stdout, where+" on stdout")
		harmless(t, stderr, where+" on stderr")
		if format != "" && code < exitUsage {
			valid(t, stdout, format, where)
		}
	}
	for _, args := range commands {
		run(args, "")
		if args[0] == "compare" || args[0] == "trend" || args[0] == "trace" && args[1] == "info" {
			for _, format := range []string{"json", "yaml", "csv"} {
				run(append(args[:len(args):len(args)], "-o", format), format)
			}
		}
	}
	run(append(compare, "--fail-on", "time>5%", "--annotate", "gitlab"), "json")
	run([]string{"trace", "convert", files["valid.jsonl"], "--out", "-", "--format", "jsonl"}, "jsonl")

	written := map[string]string{"summary.md": "", "junit.xml": "xml", "history.jsonl": "jsonl", "trend.html": "", "converted.jsonl": "jsonl"}
	for name, format := range written {
		b, err := os.ReadFile(out(name))
		require.NoError(t, err)
		if name != "converted.jsonl" { // data, as it came
			harmless(t, string(b), name)
		}
		valid(t, string(b), format, name)
	}
}

// A line end in the name of a queue or a file begins no line of its own.
func TestLineEndsInNames(t *testing.T) {
	const scrape = `workqueue_adds_total{name="a\n::error::y"} %[1]d00
workqueue_queue_duration_seconds_bucket{name="a\n::error::y",le="0.1"} %[1]d0
workqueue_queue_duration_seconds_bucket{name="a\n::error::y",le="+Inf"} %[1]d00
workqueue_queue_duration_seconds_sum{name="a\n::error::y"} %[1]d
workqueue_queue_duration_seconds_count{name="a\n::error::y"} %[1]d00
workqueue_work_duration_seconds_bucket{name="a\n::error::y",le="0.1"} %[1]d0
workqueue_work_duration_seconds_bucket{name="a\n::error::y",le="+Inf"} %[1]d00
workqueue_work_duration_seconds_sum{name="a\n::error::y"} %[1]d
workqueue_work_duration_seconds_count{name="a\n::error::y"} %[1]d00
`
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	begin, end := write("b.txt", fmt.Sprintf(scrape, 1)), write("e\n::error::y.txt", fmt.Sprintf(scrape, 9))
	code, stdout, stderr := ownBenchrun("tune", "--metrics", begin, end, "--interval", "5m", "--out", filepath.Join(dir, "tune"))
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stdout, "with --queue a?::error::y and")
	assert.Contains(t, stdout, "From b.txt to e?::error::y.txt,")
	harmless(t, stdout+stderr, "tune")

	const event = `{"ts": "2026-01-01T00:00:00Z", "resource": "pods", "type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1"}}}`
	code, stdout, stderr = ownBenchrun("drive", write("f\n::error::y\x1b[31m.jsonl", event), "--out", filepath.Join(dir, "drive"))
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "f?::error::y?[31m, ")
	harmless(t, stdout+stderr, "drive")
}

// The reports of a run whose record is hostile.
func TestHostileResultDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../bench/experiment/verdict/testdata/result")))
	path := filepath.Join(dir, "run.json")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var run experiment.Run
	require.NoError(t, json.Unmarshal(b, &run))
	run.Plan.Workload, run.Environment.CPU = hostileName, hostileName
	run.Versions = map[string]string{hostileName: hostileName}
	run.Command = append(run.Command, hostileName)
	run.Warnings = append(run.Warnings, experiment.Warn(hostileName, "%s", hostileName))
	for i := range run.Plan.Cases {
		run.Plan.Cases[i].Summary = hostileName
		for j := range run.Plan.Cases[i].Arms {
			run.Plan.Cases[i].Arms[j].Summary, run.Plan.Cases[i].Arms[j].Relaxes = hostileName, []string{hostileName}
		}
	}
	b, err = json.Marshal(run)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o666))
	for _, format := range []string{"table", "json", "yaml", "csv"} {
		code, stdout, stderr := ownBenchrun("report", dir, "-o", format)
		require.Zero(t, code, stderr)
		harmless(t, stdout+stderr, format)
		valid(t, stdout, format, format)
	}
	for _, name := range []string{"report.md", "report.html", "stats.csv", "stats.json"} {
		text, err := fs.ReadFile(os.DirFS(dir), name)
		require.NoError(t, err)
		harmless(t, string(text), name)
		if name == "report.html" {
			assert.NotContains(t, string(text), "<script>alert(1)")
		}
		valid(t, string(text), strings.TrimPrefix(filepath.Ext(name), "."), name)
	}
}
