package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const library = "github.com/informerbench/informerbench/impl"

var (
	queuePackages = []string{"queue", "delay", "ratelimit", "election"}
	cachePackages = []string{"fifo", "indexer", "informer"}
)

// Whoever imports one of our packages keeps the versions that they chose: the library
// requires nothing newer than the oldest supported Kubernetes minor does. The lowest
// patch of each minor is the strictest.
func TestImportLiftsNothing(t *testing.T) {
	for _, minor := range []struct {
		clientGo, controllerRuntime string
		packages                    []string
	}{
		{"v0.34.0", "v0.22.0", queuePackages},
		{"v0.35.0", "v0.23.0", queuePackages},
		{"v0.36.0", "v0.24.0", slices.Concat(queuePackages, cachePackages)},
		{"v0.37.0", "v0.25.0", slices.Concat(queuePackages, cachePackages)},
	} {
		t.Run(minor.clientGo, func(t *testing.T) {
			t.Parallel()
			plain := newProgram(t, minor.clientGo, "")
			before := plain.versions()
			for _, name := range minor.packages {
				plain.write("ours.go", library+"/"+name)
				plain.assertUnchanged(name, before)
				assert.NotContains(t, plain.packages(), "sigs.k8s.io/controller-runtime", "packages that %s links into a client-go program", name)
			}
			manager := newProgram(t, minor.clientGo, minor.controllerRuntime)
			before = manager.versions()
			manager.write("ours.go", library+"/priority")
			manager.assertUnchanged("priority", before)
		})
	}
}

// The rate limiting queue brings client-go's work queue, what that needs, x/time, and
// our own packages into a program: nothing else.
func TestWeight(t *testing.T) {
	p := newProgram(t, "v0.34.0", "")
	p.write("main.go", "k8s.io/client-go/util/workqueue")
	theirs := p.packages()
	p.write("main.go", library+"/ratelimit")
	for _, dep := range strings.Fields(p.packages()) {
		known := slices.Contains(strings.Fields(theirs), dep) || strings.HasPrefix(dep, library+"/") || dep == "golang.org/x/time/rate"
		assert.True(t, known || !strings.Contains(dep, "."), "impl/ratelimit brings %s into a program", dep)
	}
}

// A program is a module that uses client-go at a version, and no newer Go than that does.
type program struct {
	t   *testing.T
	dir string
}

func newProgram(t *testing.T, clientGo, controllerRuntime string) *program {
	p := &program{t: t, dir: t.TempDir()}
	folder, err := filepath.Abs("..")
	require.NoError(t, err)
	mod := "module example.com/controller\n\ngo 1.25.0\n\n"
	for _, name := range []string{"api", "apimachinery", "client-go"} {
		mod += fmt.Sprintf("require k8s.io/%s %s\n", name, clientGo)
	}
	imports := []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/leaderelection", "k8s.io/client-go/util/workqueue"}
	if controllerRuntime != "" {
		mod += fmt.Sprintf("require sigs.k8s.io/controller-runtime %s\n", controllerRuntime)
		imports = append(imports, "sigs.k8s.io/controller-runtime")
	}
	mod += fmt.Sprintf("replace %s => %s\n", library, folder)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.mod"), []byte(mod), 0o644))
	p.write("main.go", imports...)
	return p
}

// write replaces a file of the program by one that imports packages.
func (p *program) write(name string, imports ...string) {
	source := "package main\n\n"
	for _, path := range imports {
		source += fmt.Sprintf("import _ %q\n", path)
	}
	if name == "main.go" {
		source += "\nfunc main() {}\n"
	}
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(source), 0o644))
}

// run runs the go command in the program's folder, which may add to its go.mod what an
// import needs.
func (p *program) run(args ...string) []byte {
	cmd := exec.CommandContext(p.t.Context(), "go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && offline(stderr.String()) {
		p.t.Skipf("skipped: the modules can't be had here: %s", stderr.String())
	}
	require.NoError(p.t, err, "go %s: %s%s", strings.Join(args, " "), stderr.String(), out)
	return out
}

// offline reports whether the go command failed for want of a module proxy.
func offline(stderr string) bool {
	return slices.ContainsFunc([]string{"dial tcp", "no such host", "module lookup disabled", "i/o timeout", "403 Forbidden"}, func(sign string) bool {
		return strings.Contains(stderr, sign)
	})
}

func (p *program) packages() string {
	return string(p.run("list", "-deps", "-f", "{{.ImportPath}}", "."))
}

// versions returns the version of each module of the program, once everything that it
// imports is in its go.mod.
func (p *program) versions() map[string]string {
	p.packages()
	versions := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(p.run("list", "-m", "-json", "all"))); decoder.More(); {
		var module struct{ Path, Version string }
		require.NoError(p.t, decoder.Decode(&module))
		versions[module.Path] = module.Version
	}
	require.Contains(p.t, versions, "k8s.io/client-go")
	return versions
}

func (p *program) assertUnchanged(name string, before map[string]string) {
	after := p.versions()
	for module, version := range before {
		assert.Equal(p.t, version, after[module], "version of %s once impl/%s is imported", module, name)
	}
}
