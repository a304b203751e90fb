package swap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/internal/gocommand"
	"golang.org/x/tools/go/packages"
)

// A target is the program as its author has it.
type target struct {
	folder   string // where the command was given
	pkg      string // import path of main
	source   string // its folder
	module   string // that it is in
	root     string // that module's folder
	work     string // the go.work in force, or ""
	modules  map[string]upstream
	versions map[string]string       // of all modules that the program is linked from
	hooks    []hooked                // those whose package the program has
	kept     []string                // those that its version is too old for, in words
	types    map[string][]types.Type // of the hooked constructors, by full name
}

// An upstream module that the program is built with.
type upstream struct {
	Path, Version string
	Dir           string // of its source: in the module cache, vendored, staging or a replacement
	Cached        bool   // in the module cache, which go build does not let be overlaid
}

// Minors of upstream that are supported, the newest last.
var supported = map[string][2]int{clientGo: {34, 37}, controllerRuntime: {22, 25}}

// look reads the program at a pattern such as ./cmd/manager.
func look(ctx context.Context, folder, pattern string) (*target, error) {
	t := &target{folder: folder, modules: map[string]upstream{}, versions: map[string]string{}}
	if err := t.findMain(ctx, pattern); err != nil {
		return nil, err
	}
	out, err := gocommand.In(ctx, folder, nil, "env", "GOWORK", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	work, cache, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\n")
	if t.work = work; work == "off" {
		t.work = ""
	}
	deps, err := t.dependencies(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range []hooked{workqueueHooks, cacheHooks, priorityHooks} {
		p, ok := deps[h.module+"/"+h.path]
		if !ok {
			continue
		}
		u := upstream{Path: h.module, Dir: strings.TrimSuffix(p.Dir, filepath.FromSlash("/"+h.path))}
		if p.Module != nil {
			u.Version = p.Module.Version
		}
		inside, err := filepath.Rel(cache, u.Dir)
		u.Cached = err == nil && filepath.IsLocal(inside)
		if u.Version, err = versionOf(u); err != nil {
			return nil, err
		}
		minor, err := minorOf(u)
		if err != nil {
			return nil, err
		}
		t.modules[h.module] = u
		if minor < h.since {
			t.kept = append(t.kept, fmt.Sprintf("%s/%s is left as it is, because our informers need v0.%d of it", h.module, h.path, h.since))
			continue
		}
		t.hooks = append(t.hooks, h)
	}
	if len(t.hooks) == 0 {
		return nil, fmt.Errorf("%s has no work queue and no informer of client-go: there is nothing to swap", t.pkg)
	}
	return t, t.findTypes(ctx, deps)
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Name, Dir string
	Imports               []string
	Module                *struct {
		Path, Version, Dir string
		Main               bool
	}
	Error *struct{ Err, Pos string }
}

func (t *target) list(ctx context.Context, args ...string) ([]listed, error) {
	out, err := gocommand.In(ctx, t.folder, nil, append([]string{"list", "-e", "-json=ImportPath,Name,Dir,Imports,Module,Error"}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s can't be built: %s", p.ImportPath, strings.Join(strings.Fields(strings.TrimPrefix(p.Error.Pos+": "+p.Error.Err, ": ")), " "))
		}
		all = append(all, p)
	}
}

func (t *target) findMain(ctx context.Context, pattern string) error {
	all, err := t.list(ctx, "--", pattern)
	if err != nil {
		return err
	}
	var mains []string
	for _, p := range all {
		if p.Name == "main" {
			mains = append(mains, p.ImportPath)
			t.pkg, t.source = p.ImportPath, p.Dir
			if p.Module != nil && p.Module.Main {
				t.module, t.root = p.Module.Path, p.Module.Dir
			}
		}
	}
	switch {
	case len(mains) == 0:
		return fmt.Errorf("%s: found no main package, expected one, as in ./cmd/manager", pattern)
	case len(mains) > 1:
		return fmt.Errorf("%s: found %d main packages, %s, expected one", pattern, len(mains), strings.Join(mains, " and "))
	case t.module == "":
		return fmt.Errorf("%s is in no module of yours: expected a package of the module or workspace around %s", t.pkg, t.folder)
	}
	return nil
}

func (t *target) dependencies(ctx context.Context) (map[string]listed, error) {
	all, err := t.list(ctx, "-deps", "--", t.pkg)
	if err != nil {
		return nil, err
	}
	deps := map[string]listed{}
	for _, p := range all {
		deps[p.ImportPath] = p
		if p.Module != nil {
			t.versions[p.Module.Path] = p.Module.Version
		}
	}
	return deps, nil
}

// versionOf is the module's version. Staging folders and replacements have none: the
// API says which minor they are of.
func versionOf(u upstream) (string, error) {
	if strings.HasPrefix(u.Version, "v0.") && u.Version != "v0.0.0" {
		return u.Version, nil
	}
	if u.Path != clientGo {
		return "", fmt.Errorf("%s in %s has no version: expected one, so that it is known whether it is supported", u.Path, u.Dir)
	}
	text, err := os.ReadFile(filepath.Join(u.Dir, "tools", "cache", "shared_informer.go"))
	if err != nil {
		return "", err
	}
	for _, told := range []struct{ name, version string }{ // what each minor has added
		{"func NewTypedSharedIndexInformer[", "v0.37.0-staging"}, {"InformerMetricsProvider", "v0.36.0-staging"}, {"", "v0.35.0-staging"},
	} {
		if strings.Contains(string(text), told.name) {
			return told.version, nil
		}
	}
	return "", nil // the last is in every text
}

func minorOf(u upstream) (int, error) {
	minors := supported[u.Path]
	parts := strings.Split(u.Version, ".")
	if len(parts) >= 3 && parts[0] == "v0" {
		if minor, err := strconv.Atoi(parts[1]); err == nil && minor >= minors[0] && minor <= minors[1] {
			return minor, nil
		}
	}
	return 0, fmt.Errorf("%s %s is not supported: expected v0.%d to v0.%d", u.Path, u.Version, minors[0], minors[1])
}

// findTypes type-checks the packages that reach a hooked one, the others being read
// from what the compiler says of them.
func (t *target) findTypes(ctx context.Context, deps map[string]listed) error {
	reach := map[string]bool{}
	var constructors []string
	for _, h := range t.hooks {
		reach[h.module+"/"+h.path] = true
		for _, a := range h.anchors {
			constructors = append(constructors, h.module+"/"+h.path+"."+a.name)
		}
	}
	for grown := true; grown; {
		grown = false
		for name, p := range deps {
			if !reach[name] && slices.ContainsFunc(p.Imports, func(i string) bool { return reach[i] }) {
				reach[name], grown = true, true
			}
		}
	}
	var roots []string
	for name := range reach {
		roots = append(roots, name)
	}
	slices.Sort(roots)
	all, err := packages.Load(&packages.Config{
		Context: ctx, Dir: t.folder,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
	}, roots...)
	if err != nil {
		return fmt.Errorf("%s: %w", t.pkg, err)
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return fmt.Errorf("%s can't be built: %s", t.pkg, t.why(ctx, p.Errors[0]))
		}
	}
	t.types = findInstances(all, constructors)
	return nil
}

// heading names the package that the next lines of the go command are of.
var heading = regexp.MustCompile(`(?m)^# .*$`)

// why is what is wrong with a program, on one line.
func (t *target) why(ctx context.Context, e packages.Error) string {
	if strings.Contains(e.Msg, "could not import C") { // go build knows what is missing
		if _, err := gocommand.In(ctx, t.folder, nil, "build", "-o", os.DevNull, t.pkg); err != nil {
			return err.Error()
		}
	}
	text := strings.TrimPrefix(e.Pos, "-") + ": " + heading.ReplaceAllString(e.Msg, "")
	return strings.Join(strings.Fields(strings.TrimPrefix(text, ": ")), " ")
}

// generated is the folder of the module, which is there for go build alone, that
// holds our packages.
func (t *target) generated() string { return path.Join(t.module, generatedPrefix+"swap") }

// generatedPrefix begins the names of files and folders that are overlaid.
const generatedPrefix = "informerbench_"
