package indexer

import (
	"k8s.io/client-go/tools/cache"
)

// An Indexer is a cache.Indexer over a thread-safe store: it names objects with
// its KeyFunc and leaves the rest to the store, as cache.NewIndexer's does.
type Indexer struct {
	cache.ThreadSafeStoreWithTransaction
	keyFunc cache.KeyFunc
}

var (
	_ cache.Indexer          = (*Indexer)(nil)
	_ cache.TransactionStore = (*Indexer)(nil)
)

// New makes an Indexer over any store.
func New(keyFunc cache.KeyFunc, store cache.ThreadSafeStoreWithTransaction) *Indexer {
	if store == nil {
		panic("indexer: store is nil, expected one, such as indexer.NewSnapshotStore")
	}
	requireKeyFunc(keyFunc)
	return &Indexer{store, keyFunc}
}

// requireKeyFunc panics where the indexer is made, not where it is first used.
func requireKeyFunc(keyFunc cache.KeyFunc) {
	if keyFunc == nil {
		panic("indexer: keyFunc is nil, expected one, such as cache.MetaNamespaceKeyFunc")
	}
}

// Add stores obj under its key. The error is a cache.KeyError.
func (x *Indexer) Add(obj any) error { return x.Update(obj) }

// Update stores obj under its key. The error is a cache.KeyError.
func (x *Indexer) Update(obj any) error {
	key, err := x.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	x.ThreadSafeStoreWithTransaction.Update(key, obj)
	return nil
}

// Delete removes what is stored under obj's key. The store's resource version
// becomes obj's, if it has one. The error is a cache.KeyError.
func (x *Indexer) Delete(obj any) error {
	key, err := x.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	x.DeleteWithObject(key, obj)
	return nil
}

// Get returns what is stored under obj's key. The error is a cache.KeyError.
func (x *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey returns what is stored under key; its error is always nil.
func (x *Indexer) GetByKey(key string) (item any, exists bool, err error) {
	item, exists = x.ThreadSafeStoreWithTransaction.Get(key)
	return item, exists, nil
}

// Replace makes list the contents of the store, in one moment. Of several
// objects with one key the last stays. When an object has no key, the error is a
// cache.KeyError and nothing changes.
func (x *Indexer) Replace(list []any, resourceVersion string) error {
	items := make(map[string]any, len(list))
	for _, obj := range list {
		key, err := x.keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		items[key] = obj
	}
	x.ThreadSafeStoreWithTransaction.Replace(items, resourceVersion)
	return nil
}

// Transaction applies all txns whose object has a key, in order and in one
// moment, and reports the others; nil means that there were none.
func (x *Indexer) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	keyed := make([]cache.ThreadSafeStoreTransaction, 0, len(txns))
	successful := make([]int, 0, len(txns))
	var errs []error
	for i, txn := range txns {
		key, err := x.keyFunc(txn.Object)
		if err != nil {
			errs = append(errs, cache.KeyError{Obj: txn.Object, Err: err})
			continue
		}
		keyed = append(keyed, cache.ThreadSafeStoreTransaction{Transaction: txn, Key: key})
		successful = append(successful, i)
	}
	x.ThreadSafeStoreWithTransaction.Transaction(keyed...)
	if len(errs) == 0 {
		return nil
	}
	return &cache.TransactionError{
		SuccessfulIndices: successful,
		TotalTransactions: len(txns),
		Errors:            errs,
	}
}
