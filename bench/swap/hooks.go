package swap

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed hooks/*.txt
var hookFiles embed.FS

//go:embed probe/*.go
var probeFiles embed.FS

// An anchor is a constructor of upstream's that is hooked: the function is renamed,
// and one of its old name and signature calls the hook. Only what it takes to
// recognise the function is kept here, no text of upstream's.
type anchor struct {
	file  string // in the package's folder
	name  string
	first string // how its first statement begins
	// hook is the call that the new function returns; %s stands for the parameters.
	hook string
}

// A hooked is a package of upstream's with hooks.
type hooked struct {
	module, path string
	since        int // the oldest minor of the module whose constructors can be replaced
	files        []string
	anchors      []anchor
}

// The packages with hooks, by the module that has them.
var (
	workqueueHooks = hooked{
		module: clientGo, path: "util/workqueue", since: 34, files: []string{"workqueue", "metrics"},
		anchors: []anchor{
			{"rate_limiting_queue.go", "NewTypedRateLimitingQueueWithConfig", "if config.Clock == nil", "swapRateLimiting(%s)"},
			{"delaying_queue.go", "NewTypedDelayingQueueWithConfig", "logger := klog.Background()", "swapDelaying(%s)"},
			{"queue.go", "NewTypedWithConfig", "return newQueueWithConfig(config, ", "swapQueue(%s)"},
			{"default_rate_limiters.go", "DefaultTypedControllerRateLimiter", "return NewTypedMaxOfRateLimiter(", "swapLimiter[T](%s)"},
		},
	}
	cacheHooks = hooked{
		module: clientGo, path: "tools/cache", since: 36, files: []string{"cache"},
		anchors: []anchor{
			{"shared_informer.go", "NewSharedIndexInformerWithOptions", "realClock := &clock.RealClock{}", "swapInformer(%s)"},
			{"store.go", "NewIndexer", "c := &cache{", "swapIndexer(keyFunc, indexers, func() Indexer { return UnhookedNewIndexer(%s) })"},
		},
	}
	priorityHooks = hooked{
		module: controllerRuntime, path: "pkg/controller/priorityqueue", since: 22, files: []string{"priorityqueue"},
		anchors: []anchor{{"priorityqueue.go", "New", "opts := &Opts[T]{", "swapNew(%s)"}},
	}
)

const (
	clientGo          = "k8s.io/client-go"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	// unhooked begins the name of a constructor as it was, for variants that need
	// upstream's own type.
	unhooked = "Unhooked"
)

// edit returns the files of a package with its hooks, by path. A constructor that
// is no longer what it was is an error.
func (h hooked) edit(folder, version, probe string) (map[string][]byte, error) {
	edited := map[string][]byte{}
	for _, a := range h.anchors {
		path := filepath.Join(folder, filepath.FromSlash(h.path), a.file)
		text, ok := edited[path]
		if !ok {
			var err error
			if text, err = os.ReadFile(path); err != nil {
				return nil, fmt.Errorf("%s %s: no hook for %s: %w", h.module, version, a.name, err)
			}
		}
		text, err := a.apply(path, text, h.names())
		if err != nil {
			return nil, fmt.Errorf("%s %s: %s/%s: %w", h.module, version, h.path, a.file, err)
		}
		edited[path] = text
	}
	for _, name := range h.files {
		text, err := hookFiles.ReadFile("hooks/" + name + ".go.txt")
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, filepath.FromSlash(h.path), generatedPrefix+name+".go")
		edited[path] = bytes.ReplaceAll(text, []byte("PROBE"), []byte(probe))
	}
	return edited, nil
}

func (h hooked) names() []string {
	var names []string
	for _, a := range h.anchors {
		names = append(names, a.name)
	}
	return names
}

// apply renames the constructor and puts one in its place that calls the hook. Calls
// of hooked constructors within it go to the unhooked ones: what upstream builds
// inside of a queue is no queue of the program's.
func (a anchor) apply(path string, text []byte, hookedNames []string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == a.name
	})
	if i < 0 {
		return nil, fmt.Errorf("no function %s, which is hooked: this version is not supported yet", a.name)
	}
	f := file.Decls[i].(*ast.FuncDecl)
	at := func(p token.Pos) int { return files.Position(p).Offset }
	found := "nothing"
	if f.Body != nil && len(f.Body.List) > 0 {
		found, _, _ = strings.Cut(string(text[at(f.Body.List[0].Pos()):at(f.Body.List[0].End())]), "\n")
	}
	if !strings.HasPrefix(found, a.first) {
		return nil, fmt.Errorf("line %d: %s begins with %q, expected %q: this version is not supported yet", files.Position(f.Body.Pos()).Line, a.name, found, a.first)
	}
	signature := string(text[at(f.Pos()):at(f.Body.Pos())])
	if f.Doc != nil {
		signature = string(text[at(f.Type.Func):at(f.Body.Pos())])
	}
	// From the end, so that offsets stay right.
	renamed := []int{at(f.Name.Pos())}
	elsewhere := map[*ast.Ident]bool{} // btree.New is none of this package's
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			elsewhere[n.Sel] = true
		case *ast.Ident:
			if slices.Contains(hookedNames, n.Name) && !elsewhere[n] {
				renamed = append(renamed, at(n.Pos()))
			}
		}
		return true
	})
	slices.Sort(renamed)
	edited := slices.Clone(text)
	for _, offset := range slices.Backward(renamed) {
		edited = slices.Insert(edited, offset, []byte(unhooked)...)
	}
	edited = fmt.Appendf(edited, "\n%s{ return %s }\n", signature, fmt.Sprintf(a.hook, strings.Join(arguments(f.Type.Params), ", ")))
	return format.Source(edited)
}

// arguments pass on what a function was given.
func arguments(params *ast.FieldList) []string {
	var list []string
	for _, field := range params.List {
		for _, name := range field.Names {
			argument := name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				argument += "..."
			}
			list = append(list, argument)
		}
	}
	return list
}
