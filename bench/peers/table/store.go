// Package table has client-go's indexer over containers that others have written: a Table, or
// a Tree that one is made of.
package table

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

	"github.com/informerbench/informerbench/impl/indexer"
)

// A Table is what a peer stores: objects by key and by the values of their
// indices. Everything but Get, Each and Having is called by one goroutine at a
// time; these three run beside it and see no change in the middle.
type Table interface {
	Get(key string) (obj any, exists bool)
	Each(visit func(key string, obj any))
	Having(index, value string, visit func(key string, obj any))
	Write(txns []cache.ThreadSafeStoreTransaction)
	// Reset makes items the contents, and indexers the indices.
	Reset(indexers cache.Indexers, items map[string]any)
}

// A store is upstream's thread-safe store over a table.
type store struct {
	Table
	writing  sync.Mutex
	indexers atomic.Pointer[cache.Indexers]
	version  atomic.Pointer[string]
}

var _ cache.ThreadSafeStoreWithTransaction = (*store)(nil)

// Indexer is the constructor of an indexer over a table, as client-go's NewIndexer is.
func Indexer(newTable func() Table) func(cache.KeyFunc, cache.Indexers) cache.Indexer {
	return func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
		s := &store{Table: newTable()}
		s.Bookmark("")
		indexers = maps.Clone(indexers)
		s.Table.Reset(indexers, nil)
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
	s.Table.Write(txns)
	if last := txns[len(txns)-1].Object; last != nil {
		if m, err := meta.Accessor(last); err == nil {
			s.Bookmark(m.GetResourceVersion())
		}
	}
}

func (s *store) Replace(items map[string]any, resourceVersion string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.Table.Reset(*s.indexers.Load(), items)
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
	s.Each(func(key string, obj any) { items[key] = obj })
	s.Table.Reset(all, items)
	s.indexers.Store(&all) // last: who finds an index finds its entries
	return nil
}

func (s *store) List() []any {
	objs := []any{}
	s.Each(func(_ string, obj any) { objs = append(objs, obj) })
	return objs
}

func (s *store) ListKeys() []string {
	keys := []string{}
	s.Each(func(key string, _ any) { keys = append(keys, key) })
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
		s.Having(name, value, func(key string, obj any) {
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
	s.Having(name, value, func(_ string, obj any) { objs = append(objs, obj) })
	return objs, nil
}

func (s *store) IndexKeys(name, value string) ([]string, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	keys := []string{}
	s.Having(name, value, func(key string, _ any) { keys = append(keys, key) })
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues runs the index function on every object: no table has to
// know its values, and no case measures this.
func (s *store) ListIndexFuncValues(name string) []string {
	all := sets.Set[string]{}
	if fn, err := s.indexFunc(name); err == nil {
		s.Each(func(_ string, obj any) {
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

// ValuesOf are obj's values by index, none if it is deleted. An index function's
// error is upstream's panic, before anything has changed.
func ValuesOf(indexers cache.Indexers, key string, obj any) map[string][]string {
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

// A Change is a transaction and what its object has and had in the indices.
type Change struct {
	Key       string
	Obj       any // nil to delete
	Had, Have map[string][]string
}

// Changes is what txns change in a table that holds what get finds. One that
// comes twice had the values that it got before.
func Changes(txns []cache.ThreadSafeStoreTransaction, indexers cache.Indexers, get func(string) (any, bool)) []Change {
	changes := make([]Change, len(txns))
	for i, txn := range txns {
		c := Change{Key: txn.Key, Obj: txn.Object}
		if txn.Type == cache.TransactionTypeDelete {
			c.Obj = nil
		}
		before := slices.IndexFunc(changes[:i], func(c Change) bool { return c.Key == txn.Key })
		if before >= 0 {
			for j := i - 1; j >= before; j-- {
				if changes[j].Key == txn.Key {
					c.Had = changes[j].Have
					break
				}
			}
		} else if old, exists := get(txn.Key); exists {
			c.Had = ValuesOf(indexers, txn.Key, old)
		}
		c.Have = ValuesOf(indexers, txn.Key, c.Obj)
		changes[i] = c
	}
	return changes
}
