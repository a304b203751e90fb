// Package releases builds the same cases against several versions of a
// dependency, so that they can be sampled in turns:
//
//	parse     client-go@v0.36.3 is k8s.io/client-go, version v0.36.3
//	resolve   what the go command makes of the version: v0.36 is its last patch
//	build     the embedded program, in a temporary module of each version
//	cases     what every one of the programs has
//
// It runs the go command, which downloads modules as it is set up to.
package releases

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/internal/gocommand"
	"github.com/informerbench/informerbench/impl"
)

//go:embed program/*.go
var program embed.FS

// modules that can be compared, by short name.
var modules = map[string]string{
	"client-go":          "k8s.io/client-go",
	"controller-runtime": "sigs.k8s.io/controller-runtime",
}

// A Release is one version of a module.
type Release struct {
	Module  string // "k8s.io/client-go"
	Version string // "v0.37.2", or the pseudo-version of a commit
	Subject string // what that commit's message begins with
}

// ErrNotBuilt is why a release can't be asked about.
var ErrNotBuilt = errors.New("can't be built")

// Parse reads MODULE@VERSION, where client-go and controller-runtime will do
// for the module's path. All have to be of one module, each version once.
func Parse(args []string) ([]Release, error) {
	var releases []Release
	for _, arg := range args {
		name, version, ok := strings.Cut(arg, "@")
		if !ok || version == "" {
			return nil, fmt.Errorf("found %q, expected MODULE@VERSION, as in client-go@v0.36.3", arg)
		}
		r := Release{Module: cmp.Or(modules[name], name), Version: version}
		if r.Module != modules["client-go"] && r.Module != modules["controller-runtime"] {
			return nil, fmt.Errorf("%s: unknown module %q, expected client-go or controller-runtime", arg, name)
		}
		releases = append(releases, r)
	}
	if n := len(releases); n < 2 {
		return nil, fmt.Errorf("found %s, expected two or more, as in client-go@v0.36.3 client-go@v0.37.2", wording.Count(n, "release"))
	}
	for i, r := range releases {
		if r.Module != releases[0].Module {
			return nil, fmt.Errorf("found %s and %s, expected versions of one module", releases[0].Module, r.Module)
		}
		if slices.Contains(releases[:i], r) {
			return nil, fmt.Errorf("found %s@%s twice, expected different versions", r.Module, r.Version)
		}
	}
	return releases, nil
}

// Resolve replaces a version such as v0.36 or latest by the one it stands for.
func Resolve(ctx context.Context, r Release) (Release, error) {
	out, err := gocommand.Run(ctx, os.TempDir(), "list", "-m", "-json", r.Module+"@"+r.Version)
	if err != nil {
		return r, fmt.Errorf("%s@%s: %w", r.Module, r.Version, err)
	}
	var found struct{ Version, GoMod string }
	if err := json.Unmarshal(out, &found); err != nil {
		return r, fmt.Errorf("%s@%s: go list: %w", r.Module, r.Version, err)
	}
	r.Version = found.Version
	return r, oldEnough(ctx, r, found.GoMod)
}

var goLine = regexp.MustCompile(`(?m)^go\s+(\S+)`)

// oldEnough refuses a release that this Go can't build. One that the go command
// fetched for it would build the other releases by another compiler.
func oldEnough(ctx context.Context, r Release, mod string) error {
	text, err := os.ReadFile(mod)
	needs := goLine.FindStringSubmatch(string(text))
	if err != nil || needs == nil {
		return err
	}
	out, err := gocommand.Run(ctx, os.TempDir(), "env", "GOVERSION")
	if err != nil {
		return err
	}
	is, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if version.Compare("go"+needs[1], is) > 0 {
		return fmt.Errorf("%s@%s needs Go %s, and this is %s: set GOTOOLCHAIN=go%[3]s, which builds all versions with that", r.Module, r.Version, needs[1], is)
	}
	return nil
}

// Build makes the program of a release in dir, which it makes, and returns the
// program's path. The error of a program that does not compile ends with the
// compiler's first line.
func Build(ctx context.Context, r Release, dir string) (string, error) {
	if err := writeModule(r, dir); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "cases")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if _, err := gocommand.Run(ctx, dir, "build", "-mod=mod", "-trimpath", "-o", binary, "."); err != nil {
		return "", fmt.Errorf("%s@%s %w: %w", r.Module, r.Version, cmp.Or(ctx.Err(), ErrNotBuilt), err)
	}
	return binary, nil
}

func writeModule(r Release, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mod := fmt.Sprintf("module informerbench.example/releases\n\ngo 1.25.0\n\nrequire %s %s\n", r.Module, r.Version)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o666); err != nil {
		return err
	}
	files, err := fs.Glob(program, "program/*.go")
	if err != nil {
		return err
	}
	for _, name := range files {
		file := path.Base(name)
		if strings.HasSuffix(file, "_test.go") || file == "priority.go" && r.Module != modules["controller-runtime"] {
			continue
		}
		text, err := program.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Cases are those that the programs of all releases have; the variants of each
// are the releases' versions, the first being the baseline.
func Cases(ctx context.Context, releases []Release, programs []string) ([]bench.Case, error) {
	var cases []bench.Case
	for i, program := range programs {
		out, err := exec.CommandContext(ctx, program, "list").Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", releases[i].Version, err)
		}
		var listed []bench.Case
		if err := json.Unmarshal(out, &listed); err != nil {
			return nil, fmt.Errorf("%s: %w", releases[i].Version, err)
		}
		if i == 0 {
			cases = listed
		}
		cases = slices.DeleteFunc(cases, func(c bench.Case) bool {
			return !slices.ContainsFunc(listed, func(l bench.Case) bool { return l.Component == c.Component && l.Name == c.Name })
		})
	}
	for i := range cases {
		c := &cases[i]
		c.Quick, c.Baseline = true, releases[0].Version
		for _, r := range releases {
			c.Variants = append(c.Variants, r.Version)
			c.About = append(c.About, impl.Variant[any]{Name: r.Version, Summary: r.Module + " " + r.Version, Peer: true})
		}
	}
	return cases, nil
}
