package fields

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Transform prints a Go file with a function that takes the paths out of the
// objects of one kind, to be given to SetTransform or to controller-runtime's
// cache.Options. Typed says that the informer holds client-go's type of the kind,
// where there is one. A path that the type does not have is left out.
func Transform(gvk schema.GroupVersionKind, typed bool, paths []Path) (string, error) {
	g := generator{imports: map[string]string{}}
	var object runtime.Object
	if typed && scheme.Scheme.Recognizes(gvk) {
		var err error
		if object, err = scheme.Scheme.New(gvk); err != nil {
			return "", err
		}
	}
	t := reflect.TypeOf(object)
	for _, p := range paths {
		switch {
		case p.String() == "metadata.managedFields":
			g.statements = append(g.statements, "o.SetManagedFields(nil)")
		case object == nil:
			g.tree("o.Object", p.steps, 0)
		default:
			g.typed("o", t.Elem(), p.steps, 0)
		}
	}
	name := "*unstructured.Unstructured"
	if object != nil {
		name = "*" + g.name(t.Elem())
	} else {
		g.imports["k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"] = ""
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "package transforms\n\nimport (\n")
	for _, imported := range slices.Sorted(maps.Keys(g.imports)) {
		fmt.Fprintf(&b, "%s %q\n", g.imports[imported], imported)
	}
	fmt.Fprintf(&b, ")\n\n// Slim%s leaves out what the controller does not read.\nfunc Slim%[1]s(object any) (any, error) {\nif o, ok := object.(%s); ok {\n%s\n}\nreturn object, nil\n}\n",
		gvk.Kind, name, strings.Join(g.statements, "\n"))
	text, err := format.Source(b.Bytes())
	return string(text), err
}

type generator struct {
	imports    map[string]string // by path: the name
	statements []string
}

// name is a type's name with its package, such as corev1.Pod.
func (g *generator) name(t reflect.Type) string {
	imported := t.PkgPath()
	alias := path.Base(path.Dir(imported)) + path.Base(imported) // core/v1 is corev1
	if strings.HasSuffix(imported, "/apis/meta/v1") {
		alias = "metav1"
	}
	g.imports[imported] = alias
	return alias + "." + t.Name()
}

func (g *generator) typed(expression string, t reflect.Type, steps []step, depth int) {
	if t.Kind() == reflect.Pointer && len(steps) > 0 {
		before := g.statements
		g.statements = nil
		g.typed(expression, t.Elem(), steps, depth)
		if inner := g.statements; len(inner) > 0 {
			g.statements = append(before, fmt.Sprintf("if %s != nil {\n%s\n}", expression, strings.Join(inner, "\n")))
		} else {
			g.statements = before
		}
		return
	}
	if len(steps) == 0 {
		g.statements = append(g.statements, expression+" = "+g.zero(t))
		return
	}
	switch s := steps[0]; {
	case t.Kind() == reflect.Struct && !s.key:
		if f, ok := structField(t, s.name); ok {
			g.typed(expression+"."+f.Name, f.Type, steps[1:], depth)
		}
	case t.Kind() == reflect.Slice && s.name == everyItem:
		i := string(rune('i' + depth))
		before := g.statements
		g.statements = nil
		g.typed(fmt.Sprintf("%s[%s]", expression, i), t.Elem(), steps[1:], depth+1)
		if inner := g.statements; len(inner) > 0 {
			before = append(before, fmt.Sprintf("for %s := range %s {\n%s\n}", i, expression, strings.Join(inner, "\n")))
		}
		g.statements = before
	case t.Kind() == reflect.Map && len(steps) == 1:
		g.statements = append(g.statements, fmt.Sprintf("delete(%s, %q)", expression, s.name))
	}
}

func (g *generator) zero(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return g.name(t) + "{}"
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return "nil"
	}
	return "0"
}

func structField(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == name:
			return f, true
		case tag == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			if inner, ok := structField(f.Type, name); ok {
				return inner, true
			}
		}
	}
	return reflect.StructField{}, false
}

// tree prints the same for an object that is a tree of JSON.
func (g *generator) tree(expression string, steps []step, depth int) {
	var names []string
	every := slices.IndexFunc(steps, func(s step) bool { return s.name == everyItem })
	until := steps
	if every >= 0 {
		until = steps[:every]
	}
	for _, s := range until {
		names = append(names, fmt.Sprintf("%q", s.name))
	}
	arguments := strings.Join(append([]string{expression}, names...), ", ")
	if every < 0 {
		g.statements = append(g.statements, fmt.Sprintf("unstructured.RemoveNestedField(%s)", arguments))
		return
	}
	list, item := string(rune('a'+depth)), string(rune('i'+depth))
	before := g.statements
	g.statements = nil
	g.tree(item, steps[every+1:], depth+1)
	g.statements = append(before, fmt.Sprintf(`if %[1]s, ok, _ := unstructured.NestedFieldNoCopy(%[2]s); ok {
		if %[1]s, ok := %[1]s.([]any); ok {
			for _, %[3]s := range %[1]s {
				if %[3]s, ok := %[3]s.(map[string]any); ok {
					%[4]s
				}
			}
		}
	}`, list, arguments, item, strings.Join(g.statements, "\n")))
}

//go:embed intern.go
var internSource string

// InternerSource is the Go file of [Interner], ready to paste.
func InternerSource() string {
	return strings.Replace(internSource, "package fields", "package transforms", 1)
}
