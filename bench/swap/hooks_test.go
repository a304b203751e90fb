package swap

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// Every version of upstream on this machine whose minor is supported has all anchors.
func TestAnchors(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	for _, h := range []hooked{workqueueHooks, cacheHooks, priorityHooks} {
		folders, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(h.module)+"@v0.*"))
		require.NoError(t, err)
		edited := 0
		for _, folder := range folders {
			_, version, _ := strings.Cut(filepath.Base(folder), "@")
			minor, err := minorOf(upstream{Path: h.module, Version: version})
			if err != nil || minor < h.since {
				t.Logf("%s %s: not hooked in %s", h.module, version, h.path)
				continue
			}
			files, err := h.edit(folder, version, "example.com/probe")
			require.NoError(t, err)
			for name, text := range files {
				_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.AllErrors)
				assert.NoError(t, err)
			}
			edited++
		}
		assert.Positive(t, edited, "versions of %s, of which go.mod has one", h.module)
	}
}

func TestAnchorIsInserted(t *testing.T) {
	a := anchor{name: "New", first: "return newOf(", hook: "swapNew(%s)"}
	const source = `package p

// New makes one.
func New[T comparable](name string, o ...int) int {
	return newOf(Other[T](name), tree.New, o...)
}
`
	text, err := a.apply("p.go", []byte(source), []string{"New", "Other"})
	require.NoError(t, err)
	assert.Equal(t, `package p

// New makes one.
func UnhookedNew[T comparable](name string, o ...int) int {
	return newOf(UnhookedOther[T](name), tree.New, o...)
}

func New[T comparable](name string, o ...int) int { return swapNew(name, o...) }
`, string(text))

	for changed, want := range map[string]string{
		strings.Replace(source, "func New[", "func Make[", 1):          "no function New, which is hooked: this version is not supported yet",
		strings.Replace(source, "return newOf(", "return madeOf(", 1):  `line 4: New begins with "return madeOf(Other[T](name), tree.New, o...)", expected "return newOf("`,
		strings.Replace(source, "return newOf(Other[T](name),", "", 1): "expected",
	} {
		_, err := a.apply("p.go", []byte(changed), nil)
		assert.ErrorContains(t, err, want)
	}
	_, err = workqueueHooks.edit(t.TempDir(), "v0.37.0", "probe")
	assert.ErrorContains(t, err, "k8s.io/client-go v0.37.0: no hook for NewTypedRateLimitingQueueWithConfig: open ")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// checked type-checks a package of one file, which imports nothing.
func checked(t *testing.T, path, source string) *packages.Package {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path+".go", source, 0)
	require.NoError(t, err)
	p := &packages.Package{Syntax: []*ast.File{file}, TypesInfo: &types.Info{
		Instances: map[*ast.Ident]types.Instance{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	p.Types, err = (&types.Config{Importer: importer.Default()}).Check(path, files, p.Syntax, p.TypesInfo)
	require.NoError(t, err)
	return p
}

// What a constructor is made for is found through generic functions and types.
func TestInstances(t *testing.T) {
	p := checked(t, "example.com/q", `package q

type Queue[T comparable] struct{ made int }
type wrapped[T comparable] struct{ q Queue[T] }
type pair[A, B comparable] struct{ a A; b B }
type key string

func New[T comparable]() Queue[T] { return Queue[T]{} }
func typed[T comparable]() { New[T](); New[*T]() }
func (w wrapped[T]) again() { New[pair[T, bool]]() }
func deeper[T any]() { New[*T]() }
func unused[T comparable]() { New[[2]T]() }

var global = New[int64]()

func main() {
	New[string]()
	typed[key]()
	var w wrapped[int]
	w.again()
	deeper[uint8]()
}
`)
	var found []string
	for _, x := range findInstances([]*packages.Package{p}, []string{"example.com/q.New"})["example.com/q.New"] {
		found = append(found, types.TypeString(x, func(*types.Package) string { return "" }))
	}
	for _, want := range []string{"string", "key", "*key", "pair[int, bool]", "int64", "*uint8"} {
		assert.Contains(t, found, want)
	}
	assert.NotContains(t, found, "T", "a parameter that nobody chose")
	assert.NotContains(t, strings.Join(found, " "), "[2]", "of a function that nobody calls")
}
