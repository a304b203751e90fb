package indexer

import (
	"hash/maphash"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// A shardedStore spreads objects by key hash over shards, each with its own lock,
// objects and indices. A call with one key takes one lock. A call with more takes
// all that it needs before it looks, in ascending order, so that it sees one moment
// and can't deadlock with another (contract clause 1).
type shardedStore struct {
	reader
	writer
	version
	seed   maphash.Seed
	shards [32]shard
}

type shard struct {
	mu sync.RWMutex
	plain
	_ [64]byte // keeps the locks of two shards out of one cache line
}

// NewSharded makes an indexer whose locks are sharded by key hash.
func NewSharded(keyFunc cache.KeyFunc, indexers cache.Indexers) *Indexer {
	return New(keyFunc, NewShardedStore(indexers))
}

// NewShardedStore makes the store of NewSharded.
func NewShardedStore(indexers cache.Indexers) cache.ThreadSafeStoreWithTransaction {
	s := &shardedStore{seed: maphash.MakeSeed()}
	sc := newSchema(indexers)
	for i := range s.shards {
		s.shards[i].plain = newPlain(sc)
	}
	s.reader, s.writer = s.read, s.Transaction
	return s
}

func (s *shardedStore) shardOf(key string) int {
	return int(maphash.String(s.seed, key) % uint64(len(s.shards)))
}

func (s *shardedStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	var in [len(s.shards)]bool
	for _, txn := range txns {
		in[s.shardOf(txn.Key)] = true
	}
	var sc schema
	for i := range s.shards {
		if in[i] {
			s.shards[i].mu.Lock()
			defer s.shards[i].mu.Unlock()
			sc = s.shards[i].schema
		}
	}
	vals := valuesOf(sc, txns)
	for i, txn := range txns {
		s.shards[s.shardOf(txn.Key)].apply(txn, vals[i])
	}
	s.observe(txns[len(txns)-1].Object)
}

func (s *shardedStore) Get(key string) (item any, exists bool) {
	sh := &s.shards[s.shardOf(key)]
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	item, exists = sh.items.m[key]
	return item, exists
}

// read visits all shards at one moment.
func (s *shardedStore) read(visit func(*plain)) {
	for i := range s.shards {
		s.shards[i].mu.RLock()
		defer s.shards[i].mu.RUnlock()
	}
	for i := range s.shards {
		visit(&s.shards[i].plain)
	}
}

// rebuild makes next the contents of each shard, at one moment.
func (s *shardedStore) rebuild(next func(i int, p plain) plain) {
	var all [len(s.shards)]plain
	for i := range s.shards {
		s.shards[i].mu.Lock()
		defer s.shards[i].mu.Unlock()
	}
	for i := range s.shards { // an index function may panic: nothing has changed yet
		all[i] = next(i, s.shards[i].plain)
	}
	for i := range s.shards {
		s.shards[i].plain = all[i]
	}
}

func (s *shardedStore) Replace(items map[string]any, resourceVersion string) {
	var parts [len(s.shards)]map[string]any
	for i := range parts {
		parts[i] = make(map[string]any, len(items)/len(parts))
	}
	for key, obj := range items {
		parts[s.shardOf(key)][key] = obj
	}
	s.rebuild(func(i int, p plain) plain { return plainOf(parts[i], p.schema) })
	s.Bookmark(resourceVersion)
}

func (s *shardedStore) AddIndexers(added cache.Indexers) (err error) {
	s.rebuild(func(_ int, p plain) plain { p, err = p.with(added); return p })
	return err
}
