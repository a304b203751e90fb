package informer

import (
	"github.com/informerbench/informerbench/impl/indexer"
	"k8s.io/client-go/tools/cache"
)

// A keyedStore is what the informer writes to: each key is made once.
type keyedStore interface {
	Get(key string) (obj any, exists bool)
	Update(key string, obj any)
	DeleteWithObject(key string, obj any)
	Transaction(...cache.ThreadSafeStoreTransaction)
}

// storeOf is the store under an indexer.
func storeOf(x cache.Indexer) keyedStore {
	switch x := x.(type) {
	case *indexer.Indexer:
		return x.ThreadSafeStoreWithTransaction
	case *indexer.Snapshot:
		return x.ThreadSafeStoreWithTransaction
	}
	return foreign{x}
}

// A foreign indexer makes the keys itself. It fails for objects without a key,
// and these have one.
type foreign struct{ indexer cache.Indexer }

func (f foreign) Get(key string) (any, bool) {
	obj, exists, err := f.indexer.GetByKey(key)
	return obj, exists && err == nil
}

func (f foreign) Update(_ string, obj any)           { _ = f.indexer.Update(obj) }
func (f foreign) DeleteWithObject(_ string, obj any) { _ = f.indexer.Delete(obj) }

// Transaction applies txns one by one if the indexer takes no transactions.
func (f foreign) Transaction(keyed ...cache.ThreadSafeStoreTransaction) {
	txns := make([]cache.Transaction, len(keyed))
	for i := range keyed {
		txns[i] = keyed[i].Transaction
	}
	if store, ok := f.indexer.(cache.TransactionStore); ok {
		_ = store.Transaction(txns...)
		return
	}
	for _, txn := range txns {
		if txn.Type == cache.TransactionTypeDelete {
			f.DeleteWithObject("", txn.Object)
		} else {
			f.Update("", txn.Object)
		}
	}
}
