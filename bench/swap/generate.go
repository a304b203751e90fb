package swap

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// generate returns the files that register what our arm has for each type that
// occurs, by path: one beside main, and one in each package of the author's whose key
// types only it can name.
func (t *target) generate(o *outside) (map[string][]byte, []Unnamed, error) {
	files := map[string]*registration{t.source: {pkg: t.pkg, name: "main", imports: map[string]string{}}}
	main := files[t.source]
	var left []Unnamed
	for _, h := range t.hooks {
		switch h.path {
		case cacheHooks.path:
			main.line("%s.SwapInformer = %s.New", main.use(clientGo+"/tools/cache"), main.use(t.generated()+"/informer"))
			main.line("%s.SwapIndexer = func(k %[1]s.KeyFunc, i %[1]s.Indexers) %[1]s.Indexer { return %s.NewSnapshot(k, i) }",
				main.use(clientGo+"/tools/cache"), main.use(t.generated()+"/indexer"))
			if o != nil && o.indexer {
				main.line("%s.OutsideIndexer = %s.%s", main.use(clientGo+"/tools/cache"), main.use(o.importPath(t)), outsideIndexer)
			}
			continue
		}
		for _, key := range t.keysOf(h) {
			in, why := t.nameable(key)
			if why != "" {
				left = append(left, Unnamed{types.TypeString(key, nil), why})
				continue
			}
			if files[in.dir] == nil {
				files[in.dir] = &registration{pkg: in.path, name: in.name, imports: map[string]string{}}
			}
			files[in.dir].register(h, t.generated(), key)
			if o != nil && o.storage && h.path == workqueueHooks.path {
				files[in.dir].registerStorage(h, o.importPath(t), key)
			}
		}
	}
	main.line("%s.Serve()", main.use(t.generated()+"/probe"))
	texts := map[string][]byte{}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		text, err := files[dir].text()
		if err != nil {
			return nil, nil, err
		}
		texts[filepath.Join(dir, generatedPrefix+"register.go")] = text
	}
	return texts, left, nil
}

// keysOf lists the key types of a hooked package's constructors, any always among
// those of work queues: it stands for what can't be named.
func (t *target) keysOf(h hooked) []types.Type {
	byText := map[string]types.Type{}
	if h.path == workqueueHooks.path {
		byText["any"] = types.Universe.Lookup("any").Type()
	}
	for _, a := range h.anchors {
		for _, key := range t.types[h.module+"/"+h.path+"."+a.name] {
			if text := types.TypeString(key, nil); !hasParams(key) && text != "interface{}" {
				byText[text] = key
			}
		}
	}
	var keys []types.Type
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		keys = append(keys, byText[text])
	}
	return keys
}

// place is a package that a type can be named in.
type place struct{ path, name, dir string }

// nameable returns the package that registers a type: main, or the author's package
// that has it for itself; or why there is none.
func (t *target) nameable(key types.Type) (place, string) {
	main := place{t.pkg, "main", t.source}
	own := main
	for _, n := range namedIn(key) {
		o := n.Obj()
		if o.Pkg() == nil {
			continue
		}
		if o.Parent() != o.Pkg().Scope() {
			return place{}, "it is declared in a function"
		}
		path := o.Pkg().Path()
		if path == t.pkg || o.Exported() && path != "main" && importable(path, t.pkg) {
			continue
		}
		dir, ok := t.owns(path)
		switch {
		case !ok:
			return place{}, "it is private to " + path
		case own != main && own.path != path:
			return place{}, fmt.Sprintf("it is made of types that are private to %s and %s", own.path, path)
		}
		own = place{path, o.Pkg().Name(), dir}
	}
	return own, ""
}

// owns returns the folder of a package of the module that main is in.
func (t *target) owns(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, t.module+"/")
	return filepath.Join(t.root, filepath.FromSlash(rest)), ok
}

// importable reports whether the rule on internal folders lets one package import another.
func importable(path, from string) bool {
	before, _, internal := strings.Cut("/"+path+"/", "/internal/")
	before = strings.TrimPrefix(before, "/")
	return !internal || from == before || strings.HasPrefix(from, before+"/")
}

// namedIn lists the named types that a type's text names.
func namedIn(t types.Type) []*types.Named {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return namedIn(t.Elem())
	case *types.Array:
		return namedIn(t.Elem())
	case *types.Named:
		list := []*types.Named{t}
		for a := range t.TypeArgs().Types() {
			list = append(list, namedIn(a)...)
		}
		return list
	case *types.Struct:
		var list []*types.Named
		for f := range t.Fields() {
			list = append(list, namedIn(f.Type())...)
		}
		return list
	}
	return nil
}

// A registration is one generated file.
type registration struct {
	pkg, name string
	imports   map[string]string // path → name
	lines     []string
}

func (r *registration) line(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// use is the name that a package has in the file.
func (r *registration) use(path string) string {
	if r.imports[path] == "" {
		r.imports[path] = fmt.Sprintf("swap%d", len(r.imports)+1)
	}
	return r.imports[path]
}

// keyText is a key's type in the file.
func (r *registration) keyText(key types.Type) string {
	return types.TypeString(key, func(p *types.Package) string {
		if p.Path() == r.pkg || p.Name() == "main" {
			return ""
		}
		return r.use(p.Path())
	})
}

func (r *registration) registerStorage(h hooked, outside string, key types.Type) {
	r.line("%s.OutsideRegister(%s.%s[%s])", r.use(h.module+"/"+h.path), r.use(outside), outsideStorage, r.keyText(key))
}

func (r *registration) register(h hooked, ours string, key types.Type) {
	k := r.keyText(key)
	hooks := r.use(h.module + "/" + h.path)
	if h.module == controllerRuntime {
		r.line("%s.SwapRegister(%s.New[%s])", hooks, r.use(ours+"/priority"), k)
		return
	}
	limits := r.use(ours + "/ratelimit")
	r.line("%s.SwapRegister(%s.NewFusedQueue[%s], %s.NewHeap4[%[3]s], func() %[1]s.TypedRateLimiter[%[3]s] { return %[2]s.NewDefault[%[3]s]() })",
		hooks, limits, k, r.use(ours+"/delay"))
}

func (r *registration) text() ([]byte, error) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "%s\npackage %s\n\nimport (\n", header, r.name)
	for _, path := range slices.Sorted(maps.Keys(r.imports)) {
		fmt.Fprintf(&w, "\t%s %q\n", r.imports[path], path)
	}
	fmt.Fprintf(&w, ")\n\nfunc init() {\n\t%s\n}\n", strings.Join(r.lines, "\n\t"))
	return format.Source(w.Bytes())
}

// header begins the files that are generated.
const header = "//go:build go1.25\n\n// Code generated by benchrun swap. DO NOT EDIT.\n"
