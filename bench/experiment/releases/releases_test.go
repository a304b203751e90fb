package releases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	got, err := Parse([]string{"client-go@v0.36.3", "k8s.io/client-go@latest"})
	require.NoError(t, err)
	assert.Equal(t, []Release{{Module: "k8s.io/client-go", Version: "v0.36.3"}, {Module: "k8s.io/client-go", Version: "latest"}}, got)
	for args, want := range map[string]string{
		"":                                    "found 0 releases, expected two or more",
		"client-go@v1":                        "found 1 release, expected two or more",
		"client-go v1":                        `found "client-go", expected MODULE@VERSION`,
		"client-go@ client-go@v1":             `found "client-go@", expected MODULE@VERSION`,
		"clientgo@v1 client-go@v1":            `clientgo@v1: unknown module "clientgo", expected client-go or controller-runtime`,
		"client-go@v1 controller-runtime@v1":  "found k8s.io/client-go and sigs.k8s.io/controller-runtime, expected versions of one module",
		"client-go@v1 k8s.io/client-go@v1":    "found k8s.io/client-go@v1 twice, expected different versions",
		"client-go@v1 client-go@v2 --x/../@y": `unknown module "--x/../"`,
	} {
		_, err := Parse(strings.Fields(args))
		assert.ErrorContains(t, err, want, args)
	}
}

// Without a network what the module cache holds still builds: this module's own
// versions, wherever its tests run.
func TestBuildWithoutNetwork(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOSUMDB", "off")
	_, err := Resolve(t.Context(), Release{Module: "k8s.io/client-go", Version: "v0.0.7"})
	assert.ErrorContains(t, err, "k8s.io/client-go@v0.0.7: go list: go: k8s.io/client-go@v0.0.7: module lookup disabled by GOPROXY=off")

	pinned := map[string]string{}
	mod, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) >= 2 {
			pinned[f[0]] = f[1]
		}
	}
	for _, module := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"} {
		t.Run(module, func(t *testing.T) { buildAndList(t, Release{Module: module, Version: pinned[module]}) })
	}
}

// What needs a newer Go is refused before anything is built, with what to set.
func TestReleaseOfANewerGo(t *testing.T) {
	proxy := t.TempDir()
	versions := filepath.Join(proxy, "k8s.io", "client-go", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o777))
	for version, mod := range map[string]string{"v0.98.0": "module k8s.io/client-go\n\ngo 1.25.0\n", "v0.99.0": "module k8s.io/client-go\n\ngo 1.99.1\n", "v0.1.0": "module k8s.io/client-go\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, version+".info"), []byte(`{"Version": "`+version+`"}`), 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(versions, version+".mod"), []byte(mod), 0o666))
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	for _, toolchain := range []string{"local", "auto"} {
		t.Setenv("GOTOOLCHAIN", toolchain)
		for _, version := range []string{"v0.1.0", "v0.98.0"} {
			r, err := Resolve(t.Context(), Release{Module: "k8s.io/client-go", Version: version})
			require.NoError(t, err)
			assert.Equal(t, version, r.Version)
		}
		_, err := Resolve(t.Context(), Release{Module: "k8s.io/client-go", Version: "v0.99.0"})
		assert.ErrorContains(t, err, "k8s.io/client-go@v0.99.0 needs Go 1.99.1, and this is go1.")
		assert.ErrorContains(t, err, "set GOTOOLCHAIN=go1.99.1")
	}
}

func buildAndList(t *testing.T, r Release) {
	require.NotEmpty(t, r.Version)
	program, err := Build(t.Context(), r, filepath.Join(t.TempDir(), "module"))
	if err != nil && strings.Contains(err.Error(), "GOPROXY=off") {
		t.Skipf("the module cache does not hold all that a module of %s alone needs: %v", r.Module, err)
	}
	require.NoError(t, err)
	cases, err := Cases(t.Context(), []Release{r, {Module: r.Module, Version: "v9.9.9"}}, []string{program, program})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(cases), 10)
	components := map[string]bool{}
	for _, c := range cases {
		components[c.Component] = true
		assert.Equal(t, []string{r.Version, "v9.9.9"}, c.Variants)
		assert.Equal(t, r.Version, c.Baseline)
		assert.NotEmpty(t, c.Unit)
	}
	assert.Equal(t, r.Module == "sigs.k8s.io/controller-runtime", components["priority-queue"])
}

func TestBuildFailureNamesTheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := Build(t.Context(), Release{Module: "k8s.io/client-go", Version: "v0"}, filepath.Join(file, "x"))
	assert.ErrorContains(t, err, "not a directory")
}
