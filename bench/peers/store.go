package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/indexer"
)

// A table is what a peer stores: objects by key and by the values of their
// indices. Everything but get, list and having is called by one goroutine at a
// time; these three run beside it and see no change in the middle.
type table interface {
	get(key string) (obj any, exists bool)
	list(visit func(key string, obj any))
	having(index, value string, visit func(key string, obj any))
	write(txns []cache.ThreadSafeStoreTransaction)
	// reset makes items the contents, and indexers the indices.
	reset(indexers cache.Indexers, items map[string]any)
}

// A store is upstream's thread-safe store over a table.
type store struct {
	table
	writing  sync.Mutex
	indexers atomic.Pointer[cache.Indexers]
	version  atomic.Pointer[string]
}

var _ cache.ThreadSafeStoreWithTransaction = (*store)(nil)

// newIndexer is the catalogue's constructor of an indexer over a peer's table.
func newIndexer(newTable func() table) impl.NewIndexer {
	return func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
		s := &store{table: newTable()}
		s.Bookmark("")
		indexers = maps.Clone(indexers)
		s.reset(indexers, nil)
		s.indexers.Store(&indexers)
		return indexer.New(keyFunc, s)
	}
}

func (s *store) Add(key string, obj any)    { s.one(cache.TransactionTypeAdd, key, obj) }
func (s *store) Update(key string, obj any) { s.one(cache.TransactionTypeUpdate, key, obj) }
func (s *store) Delete(key string)          { s.one(cache.TransactionTypeDelete, key, nil) }
func (s *store) DeleteWithObject(key string, obj any) {
	s.one(cache.TransactionTypeDelete, key, obj)
}

func (s *store) one(kind cache.TransactionType, key string, obj any) {
	s.Transaction(cache.ThreadSafeStoreTransaction{Key: key, Transaction: cache.Transaction{Type: kind, Object: obj}})
}

func (s *store) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.write(txns)
	if last := txns[len(txns)-1].Object; last != nil {
		if m, err := meta.Accessor(last); err == nil {
			s.Bookmark(m.GetResourceVersion())
		}
	}
}

func (s *store) Replace(items map[string]any, resourceVersion string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.reset(*s.indexers.Load(), items)
	s.Bookmark(resourceVersion)
}

func (s *store) AddIndexers(added cache.Indexers) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	all := maps.Clone(*s.indexers.Load())
	if all == nil {
		all = cache.Indexers{}
	}
	for name, fn := range added {
		if _, taken := all[name]; taken {
			return fmt.Errorf("indexer conflict: %v", sets.New(name))
		}
		all[name] = fn
	}
	items := map[string]any{}
	s.list(func(key string, obj any) { items[key] = obj })
	s.reset(all, items)
	s.indexers.Store(&all) // last: who finds an index finds its entries
	return nil
}

func (s *store) Get(key string) (any, bool) { return s.get(key) }

func (s *store) List() []any {
	objs := []any{}
	s.list(func(_ string, obj any) { objs = append(objs, obj) })
	return objs
}

func (s *store) ListKeys() []string {
	keys := []string{}
	s.list(func(key string, _ any) { keys = append(keys, key) })
	return keys
}

func (s *store) indexFunc(name string) (cache.IndexFunc, error) {
	fn, ok := (*s.indexers.Load())[name]
	if !ok {
		return nil, fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // upstream's words
	}
	return fn, nil
}

func (s *store) Index(name string, obj any) ([]any, error) {
	fn, err := s.indexFunc(name)
	if err != nil {
		return nil, err
	}
	values, err := fn(obj)
	if err != nil {
		return nil, err
	}
	objs, seen := []any{}, sets.Set[string]{}
	for _, value := range values {
		s.having(name, value, func(key string, obj any) {
			if len(values) > 1 && seen.Has(key) {
				return
			}
			seen.Insert(key)
			objs = append(objs, obj)
		})
	}
	return objs, nil
}

func (s *store) ByIndex(name, value string) ([]any, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	objs := []any{}
	s.having(name, value, func(_ string, obj any) { objs = append(objs, obj) })
	return objs, nil
}

func (s *store) IndexKeys(name, value string) ([]string, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	keys := []string{}
	s.having(name, value, func(key string, _ any) { keys = append(keys, key) })
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues runs the index function on every object: no table has to
// know its values, and no case measures this.
func (s *store) ListIndexFuncValues(name string) []string {
	all := sets.Set[string]{}
	if fn, err := s.indexFunc(name); err == nil {
		s.list(func(_ string, obj any) {
			values, _ := fn(obj) // it had none when obj was stored
			all.Insert(values...)
		})
	}
	return all.UnsortedList()
}

func (s *store) GetIndexers() cache.Indexers { return maps.Clone(*s.indexers.Load()) }
func (s *store) Resync() error               { return nil }
func (s *store) Bookmark(rv string)          { s.version.Store(&rv) }

func (s *store) LastStoreSyncResourceVersion() string {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return "" // as upstream's
	}
	return *s.version.Load()
}

// valuesOf are obj's values by index, none if it is deleted. An index function's
// error is upstream's panic, before anything has changed.
func valuesOf(indexers cache.Indexers, key string, obj any) map[string][]string {
	if obj == nil || len(indexers) == 0 {
		return nil
	}
	all := make(map[string][]string, len(indexers))
	for name, fn := range indexers {
		values, err := fn(obj)
		if err != nil {
			panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", key, name, err))
		}
		all[name] = values
	}
	return all
}

// A change is a transaction and what its object has and had in the indices.
type change struct {
	key       string
	obj       any // nil to delete
	had, have map[string][]string
}

// changesOf is what txns change in a table that holds what get finds. One that
// comes twice had the values that it got before.
func changesOf(txns []cache.ThreadSafeStoreTransaction, indexers cache.Indexers, get func(string) (any, bool)) []change {
	changes := make([]change, len(txns))
	for i, txn := range txns {
		c := change{key: txn.Key, obj: txn.Object}
		if txn.Type == cache.TransactionTypeDelete {
			c.obj = nil
		}
		before := slices.IndexFunc(changes[:i], func(c change) bool { return c.key == txn.Key })
		if before >= 0 {
			for j := i - 1; j >= before; j-- {
				if changes[j].key == txn.Key {
					c.had = changes[j].have
					break
				}
			}
		} else if old, exists := get(txn.Key); exists {
			c.had = valuesOf(indexers, txn.Key, old)
		}
		c.have = valuesOf(indexers, txn.Key, c.obj)
		changes[i] = c
	}
	return changes
}
