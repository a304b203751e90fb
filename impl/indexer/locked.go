package indexer

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// lockedStore is the reference: one RWMutex around a map and index sets.
type lockedStore struct {
	reader
	writer
	version
	lock sync.RWMutex
	data plain
}

// NewLocked makes the plain reference: one RWMutex around a map and index sets.
func NewLocked(keyFunc cache.KeyFunc, indexers cache.Indexers) *Indexer {
	return New(keyFunc, NewLockedStore(indexers))
}

// NewLockedStore makes the store of NewLocked.
func NewLockedStore(indexers cache.Indexers) cache.ThreadSafeStoreWithTransaction {
	s := &lockedStore{data: newPlain(newSchema(indexers))}
	s.reader, s.writer = s.read, s.Transaction
	return s
}

func (s *lockedStore) read(visit func(*plain)) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	visit(&s.data)
}

func (s *lockedStore) Get(key string) (item any, exists bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	item, exists = s.data.items.m[key]
	return item, exists
}

func (s *lockedStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	vals := valuesOf(s.data.schema, txns)
	for i, txn := range txns {
		s.data.apply(txn, vals[i])
	}
	s.observe(txns[len(txns)-1].Object)
}

func (s *lockedStore) Replace(items map[string]any, resourceVersion string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.data = plainOf(items, s.data.schema)
	s.Bookmark(resourceVersion)
}

func (s *lockedStore) AddIndexers(added cache.Indexers) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	next, err := s.data.with(added)
	s.data = next
	return err
}
