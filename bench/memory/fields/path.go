// Package fields names parts of API objects, takes them away and prints the Go
// code that does so:
//
//  1. [Parse] reads a [Path]: metadata.managedFields, metadata.annotations[a/b],
//     spec.containers[].env.
//  2. [Path.Drop] takes it out of an object, be it typed or a tree of JSON.
//  3. [Interner] makes equal strings of many objects one.
//  4. [Transform] prints a function for SetTransform that does the same.
package fields

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Path is the way from an object to one of its parts. The zero value is the
// object itself.
type Path struct{ steps []step }

// A step leads to the field of that name, to each item of a list where the name
// is everyItem, or to the entry of a map with that key.
type step struct {
	name string
	key  bool
}

const everyItem = "[]"

// Parse reads a path. Names are those of JSON, dots in a map's key need brackets.
func Parse(text string) (Path, error) {
	var p Path
	fail := func() (Path, error) {
		return Path{}, fmt.Errorf("found %q, expected a path such as status.images, spec.containers[].env or metadata.annotations[example.com/key]", text)
	}
	for rest := text; rest != ""; {
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			key, after, closed := strings.Cut(inside, "]")
			if !closed || len(p.steps) == 0 {
				return fail()
			}
			if key = strings.Trim(key, `"'`); key == "" {
				p.steps = append(p.steps, step{name: everyItem})
			} else {
				p.steps = append(p.steps, step{key, true})
			}
			rest = after
			continue
		}
		name, dotted := strings.CutPrefix(rest, ".")
		if dotted == (len(p.steps) == 0) {
			return fail()
		}
		rest = name
		end := strings.IndexAny(rest, ".[]")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return fail()
		}
		p.steps = append(p.steps, step{name: rest[:end]})
		rest = rest[end:]
	}
	if len(p.steps) == 0 || p.steps[len(p.steps)-1].name == everyItem {
		return fail()
	}
	switch p.String() {
	case "metadata", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "kind", "apiVersion":
		return Path{}, fmt.Errorf("found %s, expected a part that a cache can do without", text)
	}
	return p, nil
}

// ParseAll is [Parse] of each.
func ParseAll(texts ...string) ([]Path, error) {
	var paths []Path
	for _, text := range texts {
		p, err := Parse(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// String is what Parse reads.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p.steps {
		switch {
		case s.key:
			b.WriteString("[" + s.name + "]")
		case s.name == everyItem:
			b.WriteString(everyItem)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// Drop takes the part out of an object, a pointer to a typed one, an
// *unstructured.Unstructured or a tree of JSON. An object without it stays as it is.
func (p Path) Drop(object any) {
	switch o := object.(type) {
	case map[string]any:
		dropTree(o, p.steps)
	case *unstructured.Unstructured:
		dropTree(o.Object, p.steps)
	default:
		dropTyped(reflect.ValueOf(object), p.steps)
	}
}

func dropTree(value any, steps []step) {
	switch v := value.(type) {
	case map[string]any:
		if len(steps) == 1 {
			delete(v, steps[0].name)
			return
		}
		dropTree(v[steps[0].name], steps[1:])
	case []any:
		if steps[0].name == everyItem {
			for _, item := range v {
				dropTree(item, steps[1:])
			}
		}
	}
}

func dropTyped(v reflect.Value, steps []step) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if len(steps) == 0 {
		if v.CanSet() {
			v.SetZero()
		}
		return
	}
	switch s := steps[0]; {
	case v.Kind() == reflect.Struct && !s.key:
		f, ok := fieldOf(v, s.name)
		switch {
		case !ok:
		case len(steps) == 1:
			f.SetZero()
		default:
			dropTyped(f, steps[1:])
		}
	case v.Kind() == reflect.Slice && s.name == everyItem:
		for i := range v.Len() {
			dropTyped(v.Index(i), steps[1:])
		}
	case v.Kind() == reflect.Map && len(steps) == 1 && v.Type().Key().Kind() == reflect.String && !v.IsNil():
		v.SetMapIndex(reflect.ValueOf(s.name).Convert(v.Type().Key()), reflect.Value{})
	}
}

// fieldOf is a struct's field by its name in JSON; embedded structs without a
// name belong to the struct.
func fieldOf(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch {
		case tag == name:
			return v.Field(i), true
		case tag == "" && v.Type().Field(i).Anonymous && v.Field(i).Kind() == reflect.Struct:
			if f, ok := fieldOf(v.Field(i), name); ok {
				return f, true
			}
		}
	}
	return reflect.Value{}, false
}
