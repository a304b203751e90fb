package indexer

import (
	"hash/maphash"
	"iter"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

// A Snapshot is an Indexer over a SnapshotStore. Objects are found by keys that are
// made on the stack; only an object that is new gets a string.
type Snapshot struct {
	*Indexer
	store *SnapshotStore
	keys  objectkey.Maker
}

var _ cache.Indexer = (*Snapshot)(nil)

// NewSnapshot makes an indexer whose readers copy outside the writer's lock.
func NewSnapshot(keyFunc cache.KeyFunc, indexers cache.Indexers) *Snapshot {
	requireKeyFunc(keyFunc)
	store := NewSnapshotStore(indexers)
	return &Snapshot{New(keyFunc, store), store, objectkey.New(keyFunc)}
}

// Add stores obj under its key. The error is a cache.KeyError.
func (x *Snapshot) Add(obj any) error { return x.Update(obj) }

// Update stores obj under its key. The error is a cache.KeyError.
func (x *Snapshot) Update(obj any) error {
	var buf [objectkey.Len]byte
	key, err := x.keys.Append(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	update(x.store, maphash.Bytes(x.store.seed, key), key, obj)
	return nil
}

// Delete removes what is stored under obj's key. The store's resource version
// becomes obj's, if it has one. The error is a cache.KeyError.
func (x *Snapshot) Delete(obj any) error {
	var buf [objectkey.Len]byte
	key, err := x.keys.Append(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	deleteWithObject(x.store, maphash.Bytes(x.store.seed, key), key, obj)
	return nil
}

// Get returns what is stored under obj's key. The error is a cache.KeyError.
func (x *Snapshot) Get(obj any) (item any, exists bool, err error) {
	var buf [objectkey.Len]byte
	key, err := x.keys.Append(buf[:0], obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	item, exists = get(x.store, maphash.Bytes(x.store.seed, key), key)
	return item, exists, nil
}

// Replace makes list the contents, in one moment. Of several objects with one key
// the last stays. When an object has no key, the error is a cache.KeyError and
// nothing changes.
func (x *Snapshot) Replace(list []any, resourceVersion string) error {
	keys := make([]string, len(list))
	for i, obj := range list {
		var err error
		if keys[i], err = x.keyFunc(obj); err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
	}
	x.store.replace(resourceVersion, len(list), func(put func(string, any)) {
		for i, obj := range list {
			put(keys[i], obj)
		}
	})
	return nil
}

// GetByKey returns what is stored under key; its error is always nil.
func (x *Snapshot) GetByKey(key string) (item any, exists bool, err error) {
	item, exists = get(x.store, x.store.hash(key), key)
	return item, exists, nil
}

// All is SnapshotStore's.
func (x *Snapshot) All() iter.Seq[any] { return x.store.All() }

// AllByIndex is SnapshotStore's.
func (x *Snapshot) AllByIndex(name, value string) (iter.Seq[any], error) {
	return x.store.AllByIndex(name, value)
}
