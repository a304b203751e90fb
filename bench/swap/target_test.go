package swap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// newTiny writes a module with a client-go of one function, so that go list and the type
// checker take no time.
func newTiny(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
	write(t, filepath.Join(dir, "go.mod"), "module example.com/tiny\n\ngo 1.25\n\nrequire k8s.io/client-go "+version+"\n\nreplace k8s.io/client-go => ./staging\n")
	write(t, filepath.Join(dir, "staging/go.mod"), "module k8s.io/client-go\n\ngo 1.25\n")
	write(t, filepath.Join(dir, "staging/util/workqueue/queue.go"), "package workqueue\n\nfunc New() {}\n")
	const manager = "package main\n\nimport \"k8s.io/client-go/util/workqueue\"\n\nfunc main() { workqueue.New() }\n"
	for _, name := range []string{"cmd/manager", "cmd/other"} {
		write(t, filepath.Join(dir, name, "main.go"), manager)
	}
	write(t, filepath.Join(dir, "cmd/library/library.go"), "package library\n")
	write(t, filepath.Join(dir, "cmd/plain/main.go"), "package main\n\nfunc main() {}\n")
	write(t, filepath.Join(dir, "cmd/broken/main.go"), strings.Replace(manager, "New()", "New(1)", 1))
	write(t, filepath.Join(dir, "cmd/syntax/main.go"), strings.Replace(manager, ".New() }", ".New()\n", 1))
	write(t, filepath.Join(dir, "cmd/missing/main.go"), "package main\n\nimport _ \"example.com/tiny/none\"\n\nfunc main() {}\n")
	write(t, filepath.Join(dir, "cmd/withc/main.go"), strings.Replace(manager, "import", "import \"C\"\nimport", 1))
	return dir
}

func TestBadPrograms(t *testing.T) {
	dir := newTiny(t, "v0.37.0")
	before := hashOf(t, dir)
	_, err := look(t.Context(), dir, "./cmd/manager")
	require.NoError(t, err)
	for pattern, want := range map[string]string{
		"./cmd/m*":      "./cmd/m*",
		"./cmd/...":     "./cmd/...: found 7 main packages, ",
		"./cmd/library": "./cmd/library: found no main package, expected one, as in ./cmd/manager",
		"./cmd/plain":   "example.com/tiny/cmd/plain has no work queue and no informer of client-go: there is nothing to swap",
		"./cmd/broken":  "example.com/tiny/cmd/broken can't be built: ",
		"./cmd/syntax":  "cmd/syntax can't be built: cmd/syntax/main.go:7:1: ",
		"./cmd/missing": "example.com/tiny/none",
		"fmt":           "fmt: found no main package",
		"cmd/addr2line": "cmd/addr2line is in no module of yours",
	} {
		_, err := look(t.Context(), dir, pattern)
		if assert.Error(t, err, pattern) {
			assert.Contains(t, err.Error(), want)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
	for _, name := range []string{"broken", "syntax", "missing", "withc"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "cmd", name)))
	}
	_, err = look(t.Context(), dir, "./...")
	assert.EqualError(t, err, "./...: found 3 main packages, example.com/tiny/cmd/manager and example.com/tiny/cmd/other and example.com/tiny/cmd/plain, expected one")
	assert.NotEqual(t, before, hashOf(t, dir), "it tells when files change")
}

// A program with C code on a machine without a compiler for it can't be built.
func TestCgoMissing(t *testing.T) {
	dir := newTiny(t, "v0.37.0")
	t.Setenv("CC", filepath.Join(dir, "no-compiler"))
	for enabled, want := range map[string]string{"1": "no-compiler", "0": "build constraints exclude all Go files"} {
		t.Setenv("CGO_ENABLED", enabled)
		_, err := look(t.Context(), dir, "./cmd/withc")
		assert.ErrorContains(t, err, "cmd/withc can't be built: ", enabled)
		assert.ErrorContains(t, err, want)
	}
}

func TestMinors(t *testing.T) {
	for version, want := range map[string]string{
		"v0.33.9": "k8s.io/client-go v0.33.9 is not supported: expected v0.34 to v0.37",
		"v0.99.0": "k8s.io/client-go v0.99.0 is not supported: expected v0.34 to v0.37",
	} {
		_, err := look(t.Context(), newTiny(t, version), "./cmd/manager")
		assert.EqualError(t, err, want)
	}
	for version, want := range map[string]int{"v0.34.0": 34, "v0.37.2": 37, "v0.36.0-staging": 36} {
		minor, err := minorOf(upstream{Path: clientGo, Version: version})
		require.NoError(t, err)
		assert.Equal(t, want, minor)
	}
	for version, want := range map[string]string{"v12.0.0+incompatible": "v12.0.0", "v0.x.1": "v0.x.1", "": "expected v0.22 to v0.25"} {
		_, err := minorOf(upstream{Path: controllerRuntime, Version: version})
		assert.ErrorContains(t, err, want)
	}
}

// What is given to go build stands beside the author's files, which stay as they are.
func TestReplacements(t *testing.T) {
	dir := newTiny(t, "v0.37.0")
	write(t, filepath.Join(dir, "go.sum"), "")
	before := hashOf(t, dir)
	other := t.TempDir()
	var l layout
	copies := map[string]string{clientGo: "/copy/of/client-go"}
	require.NoError(t, l.replace(&target{root: dir}, other, copies))
	assert.Equal(t, []string{"-modfile=" + filepath.Join(other, "go.mod")}, l.flags)
	text, err := os.ReadFile(filepath.Join(other, "go.mod"))
	require.NoError(t, err)
	mod, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	require.Len(t, mod.Replace, 1, "its own replacement is gone")
	assert.Equal(t, "/copy/of/client-go", mod.Replace[0].New.Path)

	work := filepath.Join(dir, "go.work")
	write(t, work, "go 1.25\n\nuse .\n\nuse ./staging\n\nreplace example.com/x => ./x\n\nreplace k8s.io/client-go => ./staging\n")
	l, other = layout{}, t.TempDir()
	require.NoError(t, l.replace(&target{root: dir, work: work}, other, copies))
	assert.Equal(t, []string{"GOWORK=" + filepath.Join(other, "go.work")}, l.env)
	assert.Empty(t, l.flags)
	if text, err = os.ReadFile(filepath.Join(other, "go.work")); assert.NoError(t, err) {
		assert.Equal(t, 2, strings.Count(string(text), dir+"/staging")+strings.Count(string(text), dir+"/x"), "%s", text)
		assert.Equal(t, 1, strings.Count(string(text), "/copy/of/client-go"), "%s", text)
	}
	require.NoError(t, os.Remove(work))
	assert.Equal(t, before, hashOf(t, dir), "the author's files")
}

// Files outside of the module cache are overlaid where they are, as those of a vendor
// folder.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	var l layout
	l.overlay = map[string]string{}
	require.NoError(t, l.put(dir, map[string][]byte{"/vendor/a/queue.go": []byte("a"), "/vendor/b/queue.go": []byte("b")}))
	for path, want := range map[string]string{"/vendor/a/queue.go": "a", "/vendor/b/queue.go": "b"} {
		text, err := os.ReadFile(l.overlay[path])
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}
