package fifo

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// keyOf is the key of what a delta queue may be given: an object, a tombstone
// or Deltas.
func keyOf(fn cache.KeyFunc, obj any) (string, error) {
	if deltas, ok := obj.(cache.Deltas); ok {
		if len(deltas) == 0 {
			return "", cache.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return fn(obj)
}

// A keyer makes keys. It knows upstream's usual key functions by sight and then
// writes the key into the caller's buffer instead of making a string.
type keyer struct {
	fn cache.KeyFunc
	// meta: fn is MetaNamespaceKeyFunc, or differs from it only for tombstones.
	meta bool
}

func newKeyer(fn cache.KeyFunc) keyer {
	fn = orMeta(fn)
	is := func(known cache.KeyFunc) bool {
		return reflect.ValueOf(fn).Pointer() == reflect.ValueOf(known).Pointer()
	}
	return keyer{fn: fn, meta: is(cache.MetaNamespaceKeyFunc) || is(cache.DeletionHandlingMetaNamespaceKeyFunc)}
}

// orMeta is the default of Config.KeyFunc.
func orMeta(fn cache.KeyFunc) cache.KeyFunc {
	if fn == nil {
		return cache.MetaNamespaceKeyFunc
	}
	return fn
}

// appendKeyOf is keyOf that appends to dst.
func (k keyer) appendKeyOf(dst []byte, obj any) ([]byte, error) {
	switch obj.(type) {
	case cache.DeletedFinalStateUnknown, cache.Deltas:
		key, err := keyOf(k.fn, obj)
		return append(dst, key...), err
	}
	return k.appendKey(dst, obj)
}

// appendKey appends the key of obj to dst, exactly as fn makes it.
func (k keyer) appendKey(dst []byte, obj any) ([]byte, error) {
	if k.meta {
		switch obj.(type) {
		case cache.DeletedFinalStateUnknown, cache.ExplicitKey: // fn knows
		default:
			if m, err := meta.Accessor(obj); err == nil {
				if namespace := m.GetNamespace(); namespace != "" {
					dst = append(dst, namespace...)
					dst = append(dst, '/')
				}
				return append(dst, m.GetName()...), nil
			}
		}
	}
	key, err := k.fn(obj)
	return append(dst, key...), err
}
