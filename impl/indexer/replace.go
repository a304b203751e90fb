package indexer

import (
	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

// Replace makes items the contents, in one moment.
func (s *SnapshotStore) Replace(items map[string]any, resourceVersion string) {
	_ = s.exchange(resourceVersion, func(sc *schema) (*contents, error) {
		b := newBuilder(sc, len(items))
		for key, obj := range items {
			b.put(s.hash(key), key, obj)
		}
		return b.d, nil
	})
}

// replaceList is Replace by objects; of equal keys the last counts. After a
// cache.KeyError nothing has changed. As upstream's, it reports an object without
// a key rather than an index function's panic.
func (s *SnapshotStore) replaceList(keys objectkey.Maker, objs []any, resourceVersion string) error {
	return s.exchange(resourceVersion, func(sc *schema) (*contents, error) {
		b := newBuilder(sc, len(objs))
		return b.d, b.putAll(&s.keys, keys, objs)
	})
}

// exchange builds contents outside the locks, where nobody waits for it, and
// makes them the store's.
func (s *SnapshotStore) exchange(rv string, build func(*schema) (*contents, error)) error {
	var d *contents
	var err error
	s.write(func(sc *schema) { d, err = build(sc) })
	if err == nil {
		s.data.Store(d)
		s.rv = rv
	}
	s.end()
	return err
}

// sharing is how many keys of a list lie in one string: an allocation for all of
// them, which stays until the last of them goes.
const sharing = 16

// putAll puts objs under their keys.
func (b *builder) putAll(hash *keyHash, keys objectkey.Maker, objs []any) (err error) {
	var unnamed []any // while index functions run
	defer func() {
		for _, obj := range unnamed {
			if _, keyErr := keys.Func(obj); keyErr != nil {
				_ = recover()
				err = cache.KeyError{Obj: obj, Err: keyErr}
				return
			}
		}
	}()
	var room [4 * objectkey.Len]byte
	buf := room[:0]
	for begin := 0; begin < len(objs); begin += sharing {
		some := objs[begin:min(begin+sharing, len(objs))]
		var ends [sharing]int
		buf = buf[:0]
		for i, obj := range some {
			if buf, err = keys.Append(buf, obj); err != nil {
				return cache.KeyError{Obj: obj, Err: err}
			}
			ends[i] = len(buf)
		}
		named, at := string(buf), 0
		var hashes [sharing]uint64
		for i := range some {
			hashes[i] = hash.of(named[at:ends[i]])
			at = ends[i]
		}
		b.warm(hashes[:len(some)])
		unnamed, at = objs[begin+len(some):], 0
		for i, obj := range some {
			b.put(hashes[i], named[at:ends[i]], obj)
			at = ends[i]
		}
		unnamed = nil
	}
	return nil
}
