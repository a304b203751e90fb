package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// nameOf is what upstream calls a handler in the names of its checkers: its type,
// or for cache.ResourceEventHandlerFuncs, which are of one type, where the
// functions are defined.
func nameOf(target cache.ResourceEventHandler) (name string) {
	switch t := reflect.TypeOf(target); f := target.(type) {
	case cache.ResourceEventHandlerFuncs:
		name = nameOfFuncs(f)
	case *cache.ResourceEventHandlerFuncs:
		if f != nil {
			name = nameOfFuncs(*f)
		}
	case nil:
	default:
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.PkgPath() != "" {
			name = t.PkgPath() + "." + t.Name()
		}
	}
	if name == "" {
		name = fmt.Sprintf("%T", target)
	}
	return name
}

// nameOfFuncs is the common qualifier of the functions, or all of their names; ""
// if there are none.
func nameOfFuncs(f cache.ResourceEventHandlerFuncs) string {
	var names, qualifiers []string
	for _, fn := range []any{f.AddFunc, f.UpdateFunc, f.DeleteFunc} {
		if v := reflect.ValueOf(fn); !v.IsNil() {
			name := runtime.FuncForPC(v.Pointer()).Name()
			names = append(names, name)
			qualifiers = append(qualifiers, name[:max(0, strings.LastIndexByte(name, '.'))])
		}
	}
	for _, q := range qualifiers {
		if q != qualifiers[0] {
			return strings.Join(names, "+")
		}
	}
	return strings.Join(qualifiers[:min(1, len(qualifiers))], "")
}
