package conformance

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLibraryIsSafeGo holds the library to safe, portable Go: code that a
// maintainer of Kubernetes could merge, and that -race runs as production does.
func TestLibraryIsSafeGo(t *testing.T) {
	for _, v := range unsafeGo(t, os.DirFS("..")) {
		t.Errorf("impl/%s:%d: %s\n\trule %s: %s", v.file, v.line, v.what, v.rule.name, v.rule.reason)
	}
}

// A safetyRule is something that code of the library must not do.
type safetyRule struct{ name, reason string }

var (
	ruleLanguage    = safetyRule{"go-only", "assembly and C can't be reviewed as Go, are not checked by -race and tie the library to processors"}
	ruleImports     = safetyRule{"safe-imports", "what looks into memory, the kernel or a test is no business of a queue or a cache"}
	ruleDirectives  = safetyRule{"no-directives", "a directive reaches into the compiler or another package's private names"}
	ruleConstraints = safetyRule{"one-build", "-race and every platform must run the code of production"}
	ruleScheduling  = safetyRule{"no-yielding", "who yields or sleeps in place of waiting for an event wins a benchmark and loses a busy machine"}
	ruleDetection   = safetyRule{"no-detection", "code must not tell a test or a synctest bubble from production"}
	ruleKernel      = safetyRule{"no-kernel-files", "files of the kernel exist on one platform and in some containers"}
	rulePrivate     = safetyRule{"no-private-fields", "another module's unexported fields change without notice"}
	ruleUpstream    = safetyRule{"own-types", "a variant that returns upstream's type is upstream's, whatever its name says, and never returns where a program has that constructor make ours"}
)

// Imports that the library must not have.
var forbiddenImports = regexp.MustCompile(`^(unsafe|C|syscall|plugin|runtime/cgo|golang\.org/x/sys(/.*)?|(.*/)?linkname)$`)

// Calls that the library must not make, by import path and name.
var forbiddenCalls = []struct {
	pkg  string
	name *regexp.Regexp
	rule safetyRule
}{
	{"runtime", regexp.MustCompile(`^(Gosched|LockOSThread)$`), ruleScheduling},
	{"time", regexp.MustCompile(`^Sleep$`), ruleScheduling},
	{"runtime", regexp.MustCompile(`^(Stack|Callers?|CallersFrames)$`), ruleDetection},
	{"reflect", regexp.MustCompile(`^NewAt$`), rulePrivate},
	{"k8s.io/client-go/util/workqueue", regexp.MustCompile(`^(New(Typed|Named|Delaying|RateLimiting)?(|Queue.*|WithConfig|Delaying.*|RateLimiting.*)|DefaultQueue|Default(Typed)?ControllerRateLimiter)$`), ruleUpstream},
	{"k8s.io/client-go/tools/cache", regexp.MustCompile(`^New(Indexer|Store|ThreadSafeStore|FIFO|DeltaFIFO.*|RealFIFO.*|SharedInformer.*|SharedIndexInformer.*)$`), ruleUpstream},
	{"k8s.io/client-go/tools/leaderelection", regexp.MustCompile(`^(NewLeaderElector|RunOrDie)$`), ruleUpstream},
	{"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue", regexp.MustCompile(`^New$`), ruleUpstream},
}

// Methods of reflect.Value that reach unexported fields or memory.
var privateMethods = []string{"FieldByName", "FieldByNameFunc", "FieldByIndex", "UnsafeAddr", "UnsafePointer"}

// A violation is one place that breaks a rule.
type violation struct {
	file string
	line int
	what string
	rule safetyRule
}

// unsafeGo lists what breaks a rule in a tree. Tests and the suites of impltest
// may do as they like, but for assembly and directives; the root package is the
// catalogue, which makes upstream's types for its peers.
func unsafeGo(t *testing.T, tree fs.FS) []violation {
	var all []violation
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch path.Ext(name) {
		case ".s", ".S", ".c", ".h", ".cc", ".syso":
			all = append(all, violation{name, 1, "found a file that is not Go", ruleLanguage})
		case ".go":
			src, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			found, err := unsafeFile(name, src)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	}))
	return all
}

func unsafeFile(name string, src []byte) ([]violation, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []violation
	add := func(at token.Pos, rule safetyRule, format string, args ...any) {
		all = append(all, violation{name, files.Position(at).Line, fmt.Sprintf(format, args...), rule})
	}
	production := !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "impltest/")
	for _, group := range file.Comments {
		for _, c := range group.List {
			switch {
			case constraint.IsGoBuild(c.Text) && production:
				add(c.Pos(), ruleConstraints, "found %q, expected no build constraint", c.Text)
			case strings.HasPrefix(c.Text, "//go:") && !constraint.IsGoBuild(c.Text) && !harmless.MatchString(c.Text):
				add(c.Pos(), ruleDirectives, "found %q", c.Text)
			}
		}
	}
	if !production {
		return all, nil
	}
	if platform := platformName.FindString(strings.TrimSuffix(path.Base(name), ".go")); platform != "" {
		add(file.Pos(), ruleConstraints, "found a file for %s alone", platform[1:])
	}
	imported := map[string]string{} // package by the file's name for it
	for _, spec := range file.Imports {
		pkg, _ := strconv.Unquote(spec.Path.Value)
		local := path.Base(pkg)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imported[local] = pkg
		switch {
		case forbiddenImports.MatchString(pkg):
			add(spec.Pos(), ruleImports, "found import %q", pkg)
		case (pkg == "testing" || strings.HasPrefix(pkg, "testing/")) && !strings.HasPrefix(name, "conformance/"):
			add(spec.Pos(), ruleDetection, "found import %q", pkg)
		case local == "." || local == "_":
			add(spec.Pos(), ruleImports, "found import %s %q, expected a named one", local, pkg)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && kernelFile.MatchString(n.Value) {
				add(n.Pos(), ruleKernel, "found %s", n.Value)
			}
		case *ast.SelectorExpr:
			if imported["reflect"] != "" && slices.Contains(privateMethods, n.Sel.Name) {
				add(n.Pos(), rulePrivate, "found reflection by %s", n.Sel.Name)
			}
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			for _, call := range forbiddenCalls {
				if imported[x.Name] == call.pkg && call.name.MatchString(n.Sel.Name) && (call.rule != ruleUpstream || strings.Contains(name, "/")) {
					add(n.Pos(), call.rule, "found %s.%s", x.Name, n.Sel.Name)
				}
			}
		}
		return true
	})
	return all, nil
}

var (
	harmless     = regexp.MustCompile(`^//go:(generate|embed|noinline|fix)\b`)
	kernelFile   = regexp.MustCompile("^[\"`]/(proc|sys|dev)(/|[\"`])")
	platformName = regexp.MustCompile(`_(linux|darwin|windows|freebsd|unix|amd64|arm64|386|arm|race)$`)
)

// TestSafeGoIsHeld plants one breach of each kind.
func TestSafeGoIsHeld(t *testing.T) {
	body := func(imports, code string) string { return "package x\n\nimport (\n" + imports + "\n)\n\n" + code }
	for name, plant := range map[string]struct {
		file, src string
		rule      safetyRule
	}{
		"assembly":             {"queue/lock_amd64.s", "TEXT", ruleLanguage},
		"assembly of a test":   {"queue/lock_test.s", "TEXT", ruleLanguage},
		"unsafe":               {"queue/x.go", body(`"unsafe"`, "var p unsafe.Pointer"), ruleImports},
		"unsafe renamed":       {"queue/x.go", body(`u "unsafe"`, "var p u.Pointer"), ruleImports},
		"cgo":                  {"queue/x.go", body(`"C"`, ""), ruleImports},
		"system calls":         {"queue/x.go", body(`"golang.org/x/sys/cpu"`, "var _ = cpu.X86"), ruleImports},
		"dot import":           {"queue/x.go", body(`. "runtime"`, "func f() { Gosched() }"), ruleImports},
		"linkname":             {"queue/x.go", "package x\n\n//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64\n", ruleDirectives},
		"linkname in a test":   {"queue/x_test.go", "package x\n\n//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64\n", ruleDirectives},
		"norace":               {"queue/x.go", "package x\n\n//go:norace\nfunc f() {}\n", ruleDirectives},
		"race tag":             {"queue/x.go", "//go:build !race\n\npackage x\n", ruleConstraints},
		"platform tag":         {"queue/x.go", "//go:build amd64\n\npackage x\n", ruleConstraints},
		"platform file":        {"queue/x_amd64.go", "package x\n", ruleConstraints},
		"yield":                {"queue/x.go", body(`"runtime"`, "func f() { runtime.Gosched() }"), ruleScheduling},
		"yield renamed":        {"queue/x.go", body(`rt "runtime"`, "var yield = rt.Gosched"), ruleScheduling},
		"sleep":                {"queue/x.go", body(`"time"`, "func f() { time.Sleep(1) }"), ruleScheduling},
		"synctest":             {"queue/x.go", body(`"testing/synctest"`, "func f() { synctest.Wait() }"), ruleDetection},
		"testing":              {"queue/x.go", body(`"testing"`, "var b = testing.Testing()"), ruleDetection},
		"stack":                {"queue/x.go", body(`"runtime"`, "func f(b []byte) { runtime.Stack(b, false) }"), ruleDetection},
		"proc":                 {"queue/x.go", "package x\n\nconst f = \"/proc/cpuinfo\"\n", ruleKernel},
		"sys":                  {"queue/x.go", "package x\n\nconst f = `/sys/devices`\n", ruleKernel},
		"private field":        {"queue/x.go", body(`"reflect"`, `func f(v any) any { return reflect.ValueOf(v).Elem().FieldByName("provider") }`), rulePrivate},
		"memory by reflection": {"queue/x.go", body(`"reflect"`, "func f(v reflect.Value) { reflect.NewAt(v.Type(), nil) }"), rulePrivate},
		"upstream's queue": {"queue/x.go", body(`"k8s.io/client-go/util/workqueue"`, "var _ = workqueue.NewTyped[string]"),
			ruleUpstream},
		"upstream's delaying queue": {"delay/x.go", body(`wq "k8s.io/client-go/util/workqueue"`, "var _ = wq.NewTypedDelayingQueueWithConfig[string]"),
			ruleUpstream},
		"upstream's indexer": {"indexer/x.go", body(`"k8s.io/client-go/tools/cache"`, "var _ = cache.NewIndexer"), ruleUpstream},
		"upstream's informer": {"informer/x.go", body(`"k8s.io/client-go/tools/cache"`, "var _ = cache.NewSharedIndexInformerWithOptions"),
			ruleUpstream},
		"upstream's priority queue": {"priority/x.go", body(`"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"`, "var _ = priorityqueue.New[string]"),
			ruleUpstream},
		"upstream's elector": {"election/x.go", body(`"k8s.io/client-go/tools/leaderelection"`, "var _ = leaderelection.NewLeaderElector"), ruleUpstream},
	} {
		t.Run(name, func(t *testing.T) {
			found := unsafeGo(t, fstest.MapFS{plant.file: {Data: []byte(plant.src)}})
			require.Len(t, found, 1)
			assert.Equal(t, plant.rule, found[0].rule, found[0].what)
			assert.Equal(t, plant.file, found[0].file)
		})
	}
	allowed := fstest.MapFS{
		"queue/x_test.go":    {Data: []byte(body(`"time"`+"\n"+`"testing/synctest"`, "func f() { time.Sleep(1); synctest.Wait() }"))},
		"impltest/x.go":      {Data: []byte(body(`"testing"`+"\n"+`"unsafe"`, "var p unsafe.Pointer; func f(*testing.T) {}"))},
		"workqueues.go":      {Data: []byte(body(`"k8s.io/client-go/util/workqueue"`, "var _ = workqueue.NewTyped[string]"))},
		"ratelimit/x.go":     {Data: []byte(body(`"k8s.io/client-go/util/workqueue"`, "type l = workqueue.TypedRateLimiter[string]"))},
		"queue/generated.go": {Data: []byte("package x\n\n//go:generate stringer\n//go:noinline\nconst f = \"https://example.org/proc/x\"\n")},
	}
	assert.Empty(t, unsafeGo(t, allowed), "what is allowed")
}
