// Package objectkey makes the keys of objects without making strings: a Maker
// writes a key into its caller's buffer, which can lie on the stack.
package objectkey

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Len is the length of a buffer for common keys. Longer ones make append
// allocate.
const Len = 128

// A Maker makes keys as a key function does. It knows upstream's usual key
// functions by sight.
type Maker struct {
	Func cache.KeyFunc
	// meta: Func is MetaNamespaceKeyFunc, or differs from it only for tombstones.
	meta bool
}

// New makes a Maker for a key function, which is not nil.
func New(fn cache.KeyFunc) Maker {
	is := func(known cache.KeyFunc) bool {
		return reflect.ValueOf(fn).Pointer() == reflect.ValueOf(known).Pointer()
	}
	return Maker{Func: fn, meta: is(cache.MetaNamespaceKeyFunc) || is(cache.DeletionHandlingMetaNamespaceKeyFunc)}
}

// Append appends the key of obj to dst, exactly as Func makes it, or returns
// Func's error.
func (m Maker) Append(dst []byte, obj any) ([]byte, error) {
	if m.meta {
		switch obj.(type) {
		case cache.DeletedFinalStateUnknown, cache.ExplicitKey: // Func knows
		default:
			if object, err := meta.Accessor(obj); err == nil {
				namespace, name := object.GetNamespace(), object.GetName()
				if n := len(namespace) + 1 + len(name); n > cap(dst) && len(dst) == 0 {
					dst = make([]byte, 0, n) // once, and no longer than need be
				}
				if namespace != "" {
					dst = append(dst, namespace...)
					dst = append(dst, '/')
				}
				return append(dst, name...), nil
			}
		}
	}
	key, err := m.Func(obj)
	return append(dst, key...), err
}
