package reports

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served has two runs, a folder that is none, a link out of it and a profile.
func served(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for name, day := range map[string]string{"old": "01", "new & <b>": "02"} {
		write(name+"/run.json", `{"schema": 1, "started": "2026-11-`+day+`T10:00:00Z", "plan": {"profile": "quick", "cases": [{"component": "queue", "name": "op=x", "baseline": "client-go"}]}}`)
		write(name+"/stats.json", `{"schema": 1, "decision": "Use <script>alert(1)</script>."}`)
		write(name+"/report.html", "<!doctype html>report of "+name)
		write(name+"/raw.txt", "BenchmarkX 1 1 ns/op\n")
	}
	write("dead/run.json", `{"schema": 1}`)
	write("torn/run.json", `{"sche`)
	write("notes/secret.txt", "hidden content")
	write("secret.txt", "hidden content")
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(dir, "old", "link.txt")))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "old", "passwd.txt")))
	write("old/profiles/queue_op=x/ring/heap.pb.gz", "not a profile")
	// ring's time is all in hot, client-go's half in hot and half in cold.
	for variant, functions := range map[string][]string{"ring": {"main.hot"}, "client-go": {"main.hot", "main.cold"}} {
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
		for i, name := range functions {
			f := &profile.Function{ID: uint64(i + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{int64(time.Second)}})
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "old/profiles/queue_op=x", variant), 0o777))
		out, err := os.Create(filepath.Join(dir, "old/profiles/queue_op=x", variant, "cpu.pb.gz"))
		require.NoError(t, err)
		require.NoError(t, p.Write(out))
		require.NoError(t, out.Close())
	}
	return dir
}

func serving(t *testing.T, dir string) func(path string) (int, string) {
	t.Helper()
	s, err := NewServer(dir)
	require.NoError(t, err)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.Close()
		assert.NoError(t, s.Close())
	})
	return func(path string) (int, string) {
		r, err := http.Get(h.URL + path)
		require.NoError(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(b)
	}
}

func TestServeIndex(t *testing.T) {
	get := serving(t, served(t))
	code, page := get("/")
	require.Equal(t, 200, code)
	assert.Less(t, strings.Index(page, "new &amp; &lt;b&gt;"), strings.Index(page, "<h2>old"), "newest first")
	assert.NotContains(t, page, "<script>")
	assert.NotContains(t, page, "notes")
	assert.Contains(t, page, `href="/runs/new%20&amp;%20%3Cb%3E/report.html"`)
	assert.Contains(t, page, `href="/pprof/old/profiles/queue_op=x/ring/cpu.pb.gz/flamegraph"`)
	assert.Contains(t, page, "no report yet")
	assert.Contains(t, page, "torn/run.json: unexpected end of JSON input")

	code, page = get("/runs/new%20&%20%3Cb%3E/report.html")
	assert.Equal(t, 200, code)
	assert.Contains(t, page, "report of new")
	code, page = get("/runs/old/raw.txt")
	assert.Equal(t, 200, code)
	assert.Equal(t, "BenchmarkX 1 1 ns/op\n", page)
	_, page = get("/runs/old/")
	assert.Contains(t, page, "report of old")
}

// The report is written after the statistics: who looks in between finds it later.
func TestServeReportThatComesLater(t *testing.T) {
	dir := served(t)
	report := filepath.Join(dir, "old", "report.html")
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	require.NoError(t, os.Remove(report))
	get := serving(t, dir)
	_, page := get("/")
	assert.NotContains(t, page, `href="/runs/old/report.html"`)
	require.NoError(t, os.WriteFile(report, text, 0o666))
	_, page = get("/")
	assert.Contains(t, page, `href="/runs/old/report.html"`)
}

// What tune, election and memory write is listed too, and folders that reports link to.
func TestServeAdviceAndFolders(t *testing.T) {
	dir := served(t)
	for name, text := range map[string]string{"new-tune/tune.json": "{}", "new-tune/report.html": "raise", "old/drive/a<b/0.json": "{}"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	get := serving(t, dir)
	_, page := get("/")
	assert.Contains(t, page, "Recommended settings, written ")
	assert.Contains(t, page, `href="/runs/new-tune/report.html"`)
	_, page = get("/runs/new-tune/")
	assert.Contains(t, page, "raise")
	_, page = get("/runs/old/drive")
	assert.Contains(t, page, `<a href="./a%3cb/">a&lt;b/</a>`)
	_, page = get("/runs/old/drive/a%3Cb/")
	assert.Contains(t, page, `<a href="./0.json">`)
	code, _ := get("/runs/old/drive/none/")
	assert.Equal(t, 404, code)
}

func TestServeOneRun(t *testing.T) {
	get := serving(t, filepath.Join(served(t), "old"))
	_, page := get("/")
	assert.Contains(t, page, `href="/runs/old/report.html"`)
	code, _ := get("/runs/old/report.html")
	assert.Equal(t, 200, code)
	code, _ = get("/runs/new/report.html")
	assert.Equal(t, 404, code)
	code, _ = get("/pprof/old/profiles/queue_op=x/ring/cpu.pb.gz/flamegraph")
	assert.Equal(t, 200, code)
}

func TestServePprof(t *testing.T) {
	get := serving(t, served(t))
	const at = "/pprof/old/profiles/queue_op=x/ring/"
	for _, page := range []string{"flamegraph", "top", "peek?f=hot", ""} {
		code, text := get(at + "cpu.pb.gz/" + page)
		assert.Equal(t, 200, code, page)
		assert.Contains(t, text, "main.hot", page)
	}
	_, text := get("/")
	assert.Contains(t, text, `href="`+at+`cpu.pb.gz/flamegraph?base=profiles%2fqueue_op%3dx%2fclient-go%2fcpu.pb.gz"`)
	code, text := get(at + "cpu.pb.gz/top?base=profiles/queue_op=x/client-go/cpu.pb.gz")
	assert.Equal(t, 200, code)
	assert.Regexp(t, `"main.hot","InlineLabel":"","Flat":1000000000,`, text)
	assert.Regexp(t, `"main.cold","InlineLabel":"","Flat":-1000000000,`, text)
	code, text = get(at + "cpu.pb.gz/top") // pprof remembers what it was asked before
	assert.Equal(t, 200, code)
	assert.NotContains(t, text, "main.cold")
	code, _ = get(at + "cpu.pb.gz/top?base=profiles/queue_op=x/none/cpu.pb.gz")
	assert.Equal(t, 404, code)
	code, _ = get(at + "cpu.pb.gz/top?base=../../secret.txt")
	assert.Equal(t, 404, code)
	code, text = get(at + "cpu.pb.gz/top?base=profiles/queue_op=x/ring/heap.pb.gz")
	assert.Equal(t, 422, code, text)
	code, _ = get(at + "cpu.pb.gz/download")
	assert.Equal(t, 200, code)
	for _, page := range []string{"source?f=hot", "disasm?f=hot", "graph", "saveconfig?config=x", "x"} {
		code, _ = get(at + "cpu.pb.gz/" + page)
		assert.Equal(t, 404, code, page)
	}
	code, text = get(at + "heap.pb.gz/top")
	assert.Equal(t, 422, code)
	assert.Contains(t, text, "profiles/queue_op=x/ring/heap.pb.gz: ")
}

// A link of the report to a profile opens pprof's page; tools get the file.
func TestServeProfileLinks(t *testing.T) {
	s, err := NewServer(served(t))
	require.NoError(t, err)
	defer s.Close()
	for accept, want := range map[string]int{"text/html,*/*": http.StatusFound, "*/*": http.StatusOK} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/runs/old/profiles/queue_op=x/ring/cpu.pb.gz", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, accept)
		if want == http.StatusFound {
			assert.Equal(t, "/pprof/old/profiles/queue_op=x/ring/cpu.pb.gz/flamegraph", w.Header().Get("Location"))
		}
	}
}

func TestServeNothingElse(t *testing.T) {
	s, err := NewServer(served(t))
	require.NoError(t, err)
	defer s.Close()
	ask := func(host, path string) int {
		r := httptest.NewRequest(http.MethodGet, "http://x/", nil)
		r.URL.Path, r.URL.RawPath, r.Host = path, "", host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.NotContains(t, w.Body.String(), "hidden content", path)
		assert.NotContains(t, w.Body.String(), "root:", path)
		return w.Code
	}
	for _, path := range []string{
		"/secret.txt", "/runs/notes/secret.txt", "/runs/../secret.txt", "/runs/old/../secret.txt", "/runs/old/../../secret.txt", "/runs/old//etc/passwd",
		"/runs/./secret.txt", "/runs/old/link.txt", "/runs/old/passwd.txt", "/runs/old/none", "/runs/old/profiles/queue_op=x", "/pprof/old/raw.txt/top", "/pprof/../x.pb.gz/top",
	} {
		code := ask("localhost", path)
		assert.NotEqual(t, 200, code, path)
		assert.Less(t, code, 500, path)
	}
	for host, want := range map[string]int{"127.0.0.1:80": 200, "[::1]:80": 200, "[::1]": 200, "localhost": 200, "evil.example": 403, "evil.example:80": 403, "10.0.0.1": 403, "": 403} {
		assert.Equal(t, want, ask(host, "/"), host)
	}
	_, err = NewServer(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
