package main

import (
	"sync/atomic"

	"github.com/informerbench/informerbench/bench/peers/table"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	watchcache "k8s.io/apiserver/pkg/storage/cacher/store"
	"k8s.io/client-go/tools/cache"
)

// A watchTable is the store of the API server's watch cache: a B-tree and index
// maps behind one lock. It stores elements, which hold objects.
type watchTable struct {
	store atomic.Pointer[watchcache.Indexer] // another one where indices are added
}

func newWatchTable() table.Table { return &watchTable{} }

func (t *watchTable) current() watchcache.Indexer { return *t.store.Load() }

func (t *watchTable) Get(key string) (any, bool) {
	found, exists, err := t.current().GetByKey(key)
	if err != nil || !exists {
		return nil, false
	}
	return held(found), true
}

func (t *watchTable) Each(visit func(string, any)) { visitAll(t.current().List(), visit) }

func (t *watchTable) Having(index, value string, visit func(string, any)) {
	found, err := t.current().ByIndex(index, value)
	must(err) // the store has every index that it was made with
	visitAll(found, visit)
}

func visitAll(found []any, visit func(string, any)) {
	for _, f := range found {
		visit(f.(*watchcache.Element).Key, held(f))
	}
}

func (t *watchTable) Write(txns []cache.ThreadSafeStoreTransaction) {
	for _, txn := range txns {
		e := element(txn.Key, txn.Object)
		var err error
		if txn.Type == cache.TransactionTypeDelete {
			if _, exists := t.Get(txn.Key); exists { // it has an error for what is not there
				err = t.current().Delete(e)
			}
		} else {
			err = t.current().Update(e)
		}
		must(err) // every element has its key
	}
}

func (t *watchTable) Reset(indexers cache.Indexers, items map[string]any) {
	held := cache.Indexers{}
	for name, fn := range indexers {
		held[name] = func(obj any) ([]string, error) { return fn(unboxed(obj)) }
	}
	fresh := watchcache.NewIndexer(&held)
	elements := make([]any, 0, len(items))
	for key, obj := range items {
		elements = append(elements, element(key, obj))
	}
	must(fresh.Replace(elements, "")) // likewise
	t.store.Store(&fresh)
}

func element(key string, obj any) *watchcache.Element {
	if o, ok := obj.(runtime.Object); ok {
		return &watchcache.Element{Key: key, Object: o}
	}
	return &watchcache.Element{Key: key, Object: boxed{obj}}
}

func held(found any) any { return unboxed(found.(*watchcache.Element).Object) }

func unboxed(obj any) any {
	if b, ok := obj.(boxed); ok {
		return b.obj
	}
	return obj
}

// boxed makes an object of what is none, such as a tombstone.
type boxed struct{ obj any }

func (b boxed) DeepCopyObject() runtime.Object { return b }
func (boxed) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
