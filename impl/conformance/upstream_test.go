package conformance

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/impl"
)

// An adaptation is a package of upstream whose own tests are run on our variants.
// They are read from the module cache, made a package of ours in memory and
// compiled; what can't be compiled without upstream's private names is left out.
type adaptation struct {
	module, folder string
	shim           string              // in testdata: the constructors that the tests call
	variants       map[string][]string // by the test file that is about them, without "_test.go"
	private        []string            // the tests that are left out
	differ         map[string]string   // the tests that a variant fails, as "variant/test", and why
}

func upstreamQueues() adaptation {
	return adaptation{
		module: "k8s.io/client-go", folder: "util/workqueue", shim: "workqueue.go.txt",
		variants: map[string][]string{
			"queue":                 dropIns(impl.Queues[string]()),
			"delaying_queue":        dropIns(impl.DelayingQueues[string]()),
			"rate_limiting_queue":   dropIns(impl.RateLimitingQueues[string]()),
			"default_rate_limiters": {"map", "compact"},
			"metrics":               nil,
		},
		private: []string{
			"TestMetricShutdown", "TestMetrics", "TestRateLimitingQueue",
		},
	}
}

func upstreamCaches() adaptation {
	return adaptation{
		module: "k8s.io/client-go", folder: "tools/cache", shim: "cache.go.txt",
		variants: map[string][]string{
			"fifo":            dropIns(impl.FIFOs()),
			"delta_fifo":      dropIns(impl.DeltaFIFOs()),
			"the_real_fifo":   dropIns(impl.InOrderFIFOs()),
			"store":           dropIns(impl.Indexers()),
			"index":           dropIns(impl.Indexers()),
			"shared_informer": dropIns(impl.Informers()),
			"util":            nil,
		},
		private: []string{
			"TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue", "TestDeltaFIFO_DeleteExistingNonPropagated",
			"TestDeltaFIFO_KeyOf", "TestDeltaFIFO_Resync", "TestDeltaFIFO_ResyncNonExisting", "TestDeltaFIFO_addReplace",
			"TestDeltaFIFO_addUpdate", "TestDeltaFIFO_enqueueingNoLister", "TestDeltaFIFO_enqueueingWithLister",
			"TestDeltaFIFO_transformer", "TestFIFOCache", "TestFIFO_addReplace", "TestFIFO_addUpdate",
			"TestListenerResyncPeriods", "TestListenerResyncPeriodsDelayed",
			"TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue", "TestRealFIFO_DeleteExistingNonPropagated",
			"TestRealFIFO_KeyOf", "TestRealFIFO_PopBrokenItemsInBatch", "TestRealFIFO_PopMultipleDeltaInBatch",
			"TestRealFIFO_ReplaceAtomic", "TestRealFIFO_ReplaceAtomicPop", "TestRealFIFO_Resync", "TestRealFIFO_ResyncAtomic",
			"TestRealFIFO_ResyncNonExisting", "TestRealFIFO_addReplace", "TestRealFIFO_addUpdate",
			"TestRealFIFO_enqueueingNoLister", "TestRealFIFO_enqueueingWithLister", "TestRealFIFO_replaceWithDeleteDeltaIn",
			"TestRealFIFO_transformer", "TestResyncCheckPeriod", "TestSharedInformerWatchDisruption",
			"TestWithStoreMetricsDefaulting",
		},
		differ: map[string]string{
			"locked/TestCacheWithTransformer":   noStoreOptions,
			"sharded/TestCacheWithTransformer":  noStoreOptions,
			"snapshot/TestCacheWithTransformer": noStoreOptions,
		},
	}
}

// The variants have the constructor of cache.NewIndexer, not that of cache.NewStore.
const noStoreOptions = "cache.NewIndexer takes no transformer, and informers transform before the store"

// dropIns are the variants that claim to be one, given a MetricsProvider.
func dropIns[New any](list []impl.Variant[New]) (names []string) {
	for _, v := range list {
		if !v.Peer && !slices.ContainsFunc(v.Relaxes, func(clause string) bool { return clause != impl.ExplicitProvider }) {
			names = append(names, v.Name)
		}
	}
	return names
}

func TestUpstreamQueueTests(t *testing.T) { upstreamQueues().test(t) }
func TestUpstreamCacheTests(t *testing.T) { upstreamCaches().test(t) }

func (a adaptation) test(t *testing.T) {
	t.Parallel()
	dir := moduleDir(t, a.module)
	p := &adapted{t: t, a: a, dir: t.TempDir(), overlay: map[string]string{}, names: map[string]bool{}}
	p.read(filepath.Join(dir, filepath.FromSlash(a.folder)))
	binary := p.compile()
	assert.ElementsMatch(t, a.private, p.left, "tests that can't be compiled without upstream's private names")
	failed := map[string]bool{}
	for file, variants := range a.variants {
		tests := slices.DeleteFunc(declared(p.files[file+"_test.go"]), func(s string) bool { return !strings.HasPrefix(s, "Test") })
		for _, variant := range variants {
			if len(tests) == 0 {
				continue
			}
			cmd := exec.Command(binary, "-test.v", "-test.timeout=60s", "-test.run=^("+strings.Join(tests, "|")+")$")
			cmd.Env = append(os.Environ(), "ADAPTED_VARIANT="+variant)
			cmd.Dir = p.dir
			out, _ := cmd.CombinedOutput()
			for _, test := range tests {
				name := variant + "/" + test
				if regexp.MustCompile(`(?m)^--- (PASS|SKIP): ` + test + ` `).Match(out) {
					continue
				}
				failed[name] = true
				if a.differ[name] == "" {
					t.Errorf("%s of %s fails on %s:\n%s", test, a.folder, variant, out)
				}
			}
		}
	}
	for name, reason := range a.differ {
		assert.True(t, failed[name], "%s passes now, so remove it from the list (%s)", name, reason)
	}
}

// adapted is a package in the making.
type adapted struct {
	t       *testing.T
	a       adaptation
	dir     string
	overlay map[string]string // file of the module → file with its text
	names   map[string]bool   // of the package's own declarations
	files   map[string]*ast.File
	set     *token.FileSet
	left    []string
}

// own is where the package seems to be.
const own = "adapted"

// read reads the tests and the shim and makes every name that is upstream's a
// name of an imported package.
func (p *adapted) read(dir string) {
	p.set, p.files = token.NewFileSet(), map[string]*ast.File{}
	exported := map[string]bool{}
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(p.t, err)
	for _, path := range sources {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(p.set, path, nil, parser.SkipObjectResolution)
			require.NoError(p.t, err)
			for _, name := range declared(file) {
				exported[name] = ast.IsExported(name)
			}
		}
	}
	shim, err := parser.ParseFile(p.set, filepath.Join("testdata", "upstream", p.a.shim), nil, parser.ParseComments)
	require.NoError(p.t, err)
	for name := range p.a.variants {
		file, err := parser.ParseFile(p.set, filepath.Join(dir, name+"_test.go"), nil, 0)
		require.NoError(p.t, err)
		p.files[name+"_test.go"] = file
	}
	shimmed := map[string]bool{}
	for _, name := range declared(shim) {
		shimmed[name], p.names[name] = true, true
	}
	for _, file := range p.files {
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Recv == nil && shimmed[f.Name.Name] // the shim has another
		})
		for _, name := range declared(file) {
			p.names[name] = true
		}
	}
	for _, file := range p.files {
		p.qualify(file, exported, shimmed)
	}
	p.files["shim_test.go"] = shim
}

// declared are the names of a file's package-level declarations.
func declared(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// qualify rewrites a test of the package itself, which says Interface, and one
// from outside, which says workqueue.New, alike.
func (p *adapted) qualify(file *ast.File, exported, shimmed map[string]bool) {
	path := p.a.module + "/" + p.a.folder
	pkg := filepath.Base(p.a.folder)
	imported := false
	for _, i := range file.Imports {
		imported = imported || i.Path.Value == strconv.Quote(path)
	}
	keys := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := kv.Key.(*ast.Ident); ok {
						keys[id] = true
					}
				}
			}
		}
		return true
	})
	for _, id := range file.Unresolved {
		if exported[id.Name] && !p.names[id.Name] && !keys[id] {
			id.Name = pkg + "." + id.Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && imported {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg && shimmed[s.Sel.Name] {
				x.Name = own // cut off when printed
			}
		}
		return true
	})
	file.Name.Name = own
	if !imported {
		spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
		file.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}}, file.Decls...)
	}
}

var compileError = regexp.MustCompile(`(?m)^[^\s:]*?([a-z_]+_test\.go):(\d+):\d+: (.*)$`)

// compile builds the tests, and leaves out what does not compile until the rest
// does.
func (p *adapted) compile() string {
	root, err := filepath.Abs("..")
	require.NoError(p.t, err)
	binary := filepath.Join(p.dir, "tests")
	for range 12 {
		lines := map[string]*ast.File{}
		for name := range p.files {
			lines[name] = p.write(root, name)
		}
		overlay, err := json.Marshal(map[string]any{"Replace": p.overlay})
		require.NoError(p.t, err)
		file := filepath.Join(p.dir, "overlay.json")
		require.NoError(p.t, os.WriteFile(file, overlay, 0o644))
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", file, "-o", binary, "./"+own)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err == nil {
			slices.Sort(p.left)
			return binary
		}
		found := compileError.FindAllStringSubmatch(string(out), -1)
		if found == nil {
			p.t.Fatalf("the tests of %s can't be built: %v\n%s", p.a.folder, err, out)
		}
		for _, m := range found {
			line, _ := strconv.Atoi(m[2])
			if m[1] == "shim_test.go" || lines[m[1]] == nil {
				p.t.Fatalf("%s", m[0])
			}
			p.leaveOut(lines[m[1]], line, m[3])
		}
		for name, f := range lines {
			p.files[name] = f
		}
	}
	p.t.Fatalf("no end of compile errors")
	return ""
}

// write prints a file and reads it again, for its lines.
func (p *adapted) write(root, name string) *ast.File {
	var text bytes.Buffer
	require.NoError(p.t, format.Node(&text, p.set, p.files[name]))
	src := bytes.ReplaceAll(text.Bytes(), []byte(own+"."), nil)
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, os.WriteFile(path, src, 0o644))
	p.overlay[filepath.Join(root, own, name)] = path
	file, err := parser.ParseFile(p.set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(p.t, err)
	return file
}

// leaveOut removes the declaration, or the import, that has the line.
func (p *adapted) leaveOut(file *ast.File, line int, why string) {
	within := func(n ast.Node) bool {
		return p.set.Position(n.Pos()).Line <= line && line <= p.set.Position(n.End()).Line
	}
	for i, d := range file.Decls {
		if !within(d) {
			continue
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
			g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return within(s) })
			return
		}
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && f.Recv == nil {
			p.left = append(p.left, f.Name.Name)
			p.t.Logf("%s: %s", f.Name.Name, why)
		}
		var comments []*ast.CommentGroup
		for _, c := range file.Comments {
			if c.Pos() < d.Pos() || c.End() > d.End() {
				comments = append(comments, c)
			}
		}
		file.Comments = comments
		file.Decls = slices.Delete(file.Decls, i, i+1)
		return
	}
}
