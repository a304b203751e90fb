package fifo

import (
	"github.com/informerbench/informerbench/impl/internal/objectkey"
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

// orMeta is the default of Config.KeyFunc.
func orMeta(fn cache.KeyFunc) cache.KeyFunc {
	if fn == nil {
		return cache.MetaNamespaceKeyFunc
	}
	return fn
}

// A keyer makes keys in the caller's buffer.
type keyer struct{ objectkey.Maker }

func newKeyer(fn cache.KeyFunc) keyer { return keyer{objectkey.New(orMeta(fn))} }

// appendKeyOf is keyOf that appends to dst.
func (k keyer) appendKeyOf(dst []byte, obj any) ([]byte, error) {
	switch obj.(type) {
	case cache.DeletedFinalStateUnknown, cache.Deltas:
		key, err := keyOf(k.Func, obj)
		return append(dst, key...), err
	}
	return k.Append(dst, obj)
}
