package indexer

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// lockedStore is the reference: one RWMutex around a map and index sets.
type lockedStore struct {
	mu   sync.RWMutex
	data plain
	rv   string
}

// NewLocked makes the plain reference: one RWMutex around a map and index sets.
func NewLocked(keyFunc cache.KeyFunc, indexers cache.Indexers) *Indexer {
	return New(keyFunc, NewLockedStore(indexers))
}

// NewLockedStore makes the store of NewLocked.
func NewLockedStore(indexers cache.Indexers) cache.ThreadSafeStoreWithTransaction {
	return &lockedStore{data: newPlain(newSchema(indexers))}
}

func (s *lockedStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	vals := make([][][]string, len(txns))
	for i, txn := range txns {
		if txn.Type != cache.TransactionTypeDelete {
			vals[i] = s.data.schema.values(nil, txn.Key, txn.Object)
		}
	}
	for i, txn := range txns {
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			s.data.put(txn.Key, txn.Object, vals[i])
		case cache.TransactionTypeDelete:
			s.data.remove(txn.Key)
		}
	}
	s.observe(txns[len(txns)-1].Object)
}

func (s *lockedStore) Add(key string, obj any) { s.Update(key, obj) }

func (s *lockedStore) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var few [4][]string
	s.data.put(key, obj, s.data.schema.values(few[:0], key, obj))
	s.observe(obj)
}

func (s *lockedStore) Delete(key string) { s.DeleteWithObject(key, nil) }

func (s *lockedStore) DeleteWithObject(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data.remove(key)
	s.observe(obj)
}

// observe takes over obj's resource version, if it has one.
func (s *lockedStore) observe(obj any) {
	if rv, ok := resourceVersion(obj); ok {
		s.rv = rv
	}
}

func (s *lockedStore) Replace(items map[string]any, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = plainOf(items, s.data.schema)
	s.rv = resourceVersion
}

func (s *lockedStore) Bookmark(rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rv = rv
}

func (s *lockedStore) LastStoreSyncResourceVersion() string {
	if !tellsResourceVersion() {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rv
}

func (s *lockedStore) Get(key string) (item any, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	item, exists = s.data.items[key]
	return item, exists
}

func (s *lockedStore) List() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]any, 0, len(s.data.items)), maps.Values(s.data.items))
}

func (s *lockedStore) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]string, 0, len(s.data.items)), maps.Keys(s.data.items))
}

func (s *lockedStore) Index(name string, obj any) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	fn, index, ok := s.data.index(name)
	if !ok {
		return nil, noIndex(name)
	}
	vals, err := fn(obj)
	if err != nil {
		return nil, err
	}
	return s.objects(index.having(vals)), nil
}

func (s *lockedStore) ByIndex(name, value string) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, index, ok := s.data.index(name)
	if !ok {
		return nil, noIndex(name)
	}
	return s.objects(index[value]), nil
}

func (s *lockedStore) objects(keys sets.Set[string]) []any {
	objs := make([]any, 0, keys.Len())
	for key := range keys {
		objs = append(objs, s.data.items[key])
	}
	return objs
}

// IndexKeys answers in order, as upstream's does.
func (s *lockedStore) IndexKeys(name, value string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, index, ok := s.data.index(name)
	if !ok {
		return nil, noIndex(name)
	}
	return sets.List(index[value]), nil
}

func (s *lockedStore) ListIndexFuncValues(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, index, _ := s.data.index(name)
	return slices.AppendSeq(make([]string, 0, len(index)), maps.Keys(index))
}

func (s *lockedStore) GetIndexers() cache.Indexers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.data.schema.indexers()
}

func (s *lockedStore) AddIndexers(added cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := merged(s.data.schema.indexers(), added)
	if err != nil {
		return err
	}
	s.data = plainOf(s.data.items, newSchema(all))
	return nil
}

func (s *lockedStore) Resync() error { return nil }
