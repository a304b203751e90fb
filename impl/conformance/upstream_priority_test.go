package conformance

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// priorityTests are controller-runtime's tests that are left out, and why.
var priorityTests = map[string]string{
	"de-duplicates items": "reads a private field",
	"TestHighPriorityItemThatBecameReadyIsReturnedBeforeLowPriorityItem":  "waits until a private field is called",
	"TestItemCloneCopiesAllFields":                                        "is about a private type",
	"TestItemCloneDoesNotShareMemoryWithOriginal":                         "is about a private type",
	"TestPriorityQueueLogStateDoesNotRaceOnReadyAt":                       "is about the queue's log, which ours has not",
	"TestWhenAddingMultipleItemsWithRatelimitTrueTheyDontAffectEachOther": "sets private fields",
}

// priorityParts are what the shim has, and what only the tests above need.
var priorityParts = []string{"newQueue", "newQueueWithTimeForwarder", "btreeInteractionValidator", "newItemFiller",
	"BenchmarkAddGetDone", "BenchmarkAddOnly", "BenchmarkAddLockContended"}

// TestUpstreamPriorityTests runs controller-runtime's tests on our priority queue: in a
// copy of its module, as they use packages that are internal to it.
func TestUpstreamPriorityTests(t *testing.T) {
	t.Parallel()
	p := newProgram(t, moduleVersion(t, "k8s.io/client-go"), moduleVersion(t, controllerRuntime))
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(moduleDir(t, controllerRuntime))))
	mod, err := os.OpenFile(filepath.Join(p.dir, "go.mod"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = mod.WriteString("replace " + controllerRuntime + " => " + copied + "\n")
	require.NoError(t, err)
	require.NoError(t, mod.Close())

	folder := filepath.Join(copied, "pkg", "controller", "priorityqueue")
	left := map[string]bool{}
	for _, name := range []string{"priorityqueue_test.go", "metrics_test.go", "priorityqueue_suite_test.go"} {
		rewritePriorityTest(t, filepath.Join(folder, name), left)
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(priorityTests)), slices.Collect(maps.Keys(left)), "tests that are left out")
	shim, err := os.ReadFile(filepath.Join("testdata", "upstream", "priority.go.txt"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shim_test.go"), shim, 0o644))
	p.write("main.go", library+"/priority")
	out := p.run("test", "-count=1", "-vet=off", "-v", controllerRuntime+"/pkg/controller/priorityqueue")
	assert.Contains(t, string(out), "--- PASS: TestControllerWorkqueue", "%s", out)
}

// rewritePriorityTest makes a test of the package one from outside, without what is left out.
func rewritePriorityTest(t *testing.T, path string, left map[string]bool) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	drop := func(name string) bool {
		if priorityTests[name] != "" {
			left[name] = true
		}
		return priorityTests[name] != "" || slices.Contains(priorityParts, name)
	}
	file.Name.Name = "priorityqueue_test"
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv != nil {
			star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
			return ok && drop(star.X.(*ast.Ident).Name)
		}
		g, isType := d.(*ast.GenDecl)
		return ok && drop(f.Name.Name) || isType && g.Tok == token.TYPE && drop(g.Specs[0].(*ast.TypeSpec).Name.Name)
	})
	ast.Inspect(file, func(n ast.Node) bool {
		if body, ok := n.(*ast.BlockStmt); ok {
			body.List = slices.DeleteFunc(body.List, func(s ast.Stmt) bool {
				name, ok := specName(s)
				return ok && drop(name) || setsTick(s)
			})
		}
		return true
	})
	var text bytes.Buffer
	require.NoError(t, format.Node(&text, set, file))
	src := strings.ReplaceAll(text.String(), `New[string]("`, `newOurs("`)
	if strings.Contains(src, "AddOpts") {
		src = strings.Replace(src, "import (", "import (\n\t. \""+controllerRuntime+"/pkg/controller/priorityqueue\"", 1)
	}
	for _, unused := range []string{`"github.com/go-logr/logr/funcr"`, `"github.com/google/go-cmp/cmp"`, `"k8s.io/client-go/util/workqueue"`, `"sigs.k8s.io/randfill"`, `"reflect"`, `"math"`, `"k8s.io/utils/ptr"`} {
		pkg := filepath.Base(strings.Trim(unused, `"`))
		if !strings.Contains(src, pkg+".") {
			src = strings.Replace(src, unused, "_ "+unused, 1)
		}
	}
	require.NoError(t, os.WriteFile(path, []byte(src), 0o644))
}

// specName is the name of a spec: It("name", …).
func specName(s ast.Stmt) (string, bool) {
	expr, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", false
	}
	call, ok := expr.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if f, isName := call.Fun.(*ast.Ident); !ok || !isName || f.Name != "It" {
		return "", false
	}
	name, err := strconv.Unquote(lit.Value)
	return name, err == nil
}

// setsTick tells whether a statement reads or sets the private field tick, to see for how
// long the queue sleeps. What a test says of the queue's results stays.
func setsTick(s ast.Stmt) bool {
	assign, ok := s.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(slices.Concat(assign.Lhs, assign.Rhs), func(e ast.Expr) bool {
		field, ok := e.(*ast.SelectorExpr)
		return ok && field.Sel.Name == "tick"
	})
}

// moduleDir is where the source of a module is that the suite pins.
func moduleDir(t *testing.T, module string) string { return listModule(t, "{{.Dir}}", module) }

func moduleVersion(t *testing.T, module string) string {
	return listModule(t, "{{.Version}}", module)
}

func listModule(t *testing.T, format, module string) string {
	out, err := exec.Command("go", "list", "-m", "-f", format, module).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil || text == "" {
		t.Skipf("the source of %s can't be had: %v\n%s", module, err, out)
	}
	return text
}
