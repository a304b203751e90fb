package indexer

import (
	"iter"
	"strings"
	"unsafe"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

// A Snapshot is an Indexer over a SnapshotStore. Objects are found by keys that
// are made on the stack; only an object that is new gets a string.
type Snapshot struct {
	*Indexer
	store *SnapshotStore
	keys  objectkey.Maker
}

var _ cache.Indexer = (*Snapshot)(nil)

// NewSnapshot makes an indexer whose readers copy outside the writer's lock.
func NewSnapshot(keyFunc cache.KeyFunc, indexers cache.Indexers) *Snapshot {
	// Many controllers keep small stores: one allocation for the three.
	x := &struct {
		snapshot Snapshot
		indexer  Indexer
		store    SnapshotStore
	}{}
	x.store.init(indexers)
	x.indexer = Indexer{&x.store, keyFunc}
	x.snapshot = Snapshot{&x.indexer, &x.store, objectkey.New(keyFunc)}
	return &x.snapshot
}

// lent is key as a string that is valid for as long as key is.
func lent(key []byte) string { return unsafe.String(unsafe.SliceData(key), len(key)) }

// Add stores obj under its key. The error is a cache.KeyError.
func (x *Snapshot) Add(obj any) error { return x.Update(obj) }

// Update stores obj under its key. The error is a cache.KeyError.
func (x *Snapshot) Update(obj any) error {
	var buf [objectkey.Len]byte
	b, err := x.keys.Append(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	key := lent(b)
	x.store.update(key, obj, func() string { return strings.Clone(key) })
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
	x.store.DeleteWithObject(lent(key), obj)
	return nil
}

// Get returns what is stored under obj's key. The error is a cache.KeyError.
func (x *Snapshot) Get(obj any) (item any, exists bool, err error) {
	var buf [objectkey.Len]byte
	key, err := x.keys.Append(buf[:0], obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	item, exists = x.store.Get(lent(key))
	return item, exists, nil
}

// Replace makes list the contents, in one moment. Of several objects with one key
// the last stays. When an object has no key, the error is a cache.KeyError and
// nothing changes.
func (x *Snapshot) Replace(list []any, resourceVersion string) error {
	return x.store.replaceList(x.keys, list, resourceVersion)
}

// GetByKey returns what is stored under key; its error is always nil.
func (x *Snapshot) GetByKey(key string) (item any, exists bool, err error) {
	item, exists = x.store.Get(key)
	return item, exists, nil
}

// All is SnapshotStore's.
func (x *Snapshot) All() iter.Seq[any] { return x.store.All() }

// AllByIndex is SnapshotStore's.
func (x *Snapshot) AllByIndex(name, value string) (iter.Seq[any], error) {
	return x.store.AllByIndex(name, value)
}
