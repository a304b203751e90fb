package indexer

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// shardCount is the number of locks: at most 64, so that a set of them is a word.
const shardCount = 32

// shardedStore spreads objects by key hash over shards, each with its own lock,
// objects and indices. A call with one key takes one lock. A call that reads or
// writes more takes all the locks it needs before it looks, in ascending order,
// so it sees one moment and can't deadlock with another (contract clause 1).
type shardedStore struct {
	seed   maphash.Seed
	shards [shardCount]shard

	rvMu sync.Mutex
	rv   string
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
	return s
}

func (s *shardedStore) shardOf(key string) int {
	return int(maphash.String(s.seed, key) % shardCount)
}

// lock takes the locks of a set of shards; all is the set of all.
func (s *shardedStore) lock(set uint64) (unlock func()) {
	for m := set; m != 0; m &= m - 1 {
		s.shards[bits.TrailingZeros64(m)].mu.Lock()
	}
	return func() {
		for m := set; m != 0; m &= m - 1 {
			s.shards[bits.TrailingZeros64(m)].mu.Unlock()
		}
	}
}

const all = 1<<shardCount - 1

func (s *shardedStore) rlockAll() {
	for i := range s.shards {
		s.shards[i].mu.RLock()
	}
}

func (s *shardedStore) runlockAll() {
	for i := range s.shards {
		s.shards[i].mu.RUnlock()
	}
}

func (s *shardedStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	var set uint64
	for _, txn := range txns {
		set |= 1 << s.shardOf(txn.Key)
	}
	defer s.lock(set)()
	sc := s.shards[bits.TrailingZeros64(set)].schema
	vals := make([][][]string, len(txns))
	for i, txn := range txns {
		if txn.Type != cache.TransactionTypeDelete {
			vals[i] = sc.values(nil, txn.Key, txn.Object)
		}
	}
	for i, txn := range txns {
		sh := &s.shards[s.shardOf(txn.Key)]
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			sh.put(txn.Key, txn.Object, vals[i])
		case cache.TransactionTypeDelete:
			sh.remove(txn.Key)
		}
	}
	s.observe(txns[len(txns)-1].Object)
}

func (s *shardedStore) Add(key string, obj any) { s.Update(key, obj) }

func (s *shardedStore) Update(key string, obj any) {
	sh := &s.shards[s.shardOf(key)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var few [4][]string
	sh.put(key, obj, sh.schema.values(few[:0], key, obj))
	s.observe(obj)
}

func (s *shardedStore) Delete(key string) { s.DeleteWithObject(key, nil) }

func (s *shardedStore) DeleteWithObject(key string, obj any) {
	sh := &s.shards[s.shardOf(key)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.remove(key)
	s.observe(obj)
}

// observe takes over obj's resource version, if it has one.
func (s *shardedStore) observe(obj any) {
	if rv, ok := resourceVersion(obj); ok {
		s.Bookmark(rv)
	}
}

func (s *shardedStore) Bookmark(rv string) {
	s.rvMu.Lock()
	defer s.rvMu.Unlock()
	s.rv = rv
}

func (s *shardedStore) LastStoreSyncResourceVersion() string {
	if !tellsResourceVersion() {
		return ""
	}
	s.rvMu.Lock()
	defer s.rvMu.Unlock()
	return s.rv
}

func (s *shardedStore) Get(key string) (item any, exists bool) {
	sh := &s.shards[s.shardOf(key)]
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	item, exists = sh.items[key]
	return item, exists
}

func (s *shardedStore) List() []any {
	s.rlockAll()
	defer s.runlockAll()
	objs := make([]any, 0, s.len())
	for i := range s.shards {
		for _, obj := range s.shards[i].items {
			objs = append(objs, obj)
		}
	}
	return objs
}

func (s *shardedStore) ListKeys() []string {
	s.rlockAll()
	defer s.runlockAll()
	keys := make([]string, 0, s.len())
	for i := range s.shards {
		for key := range s.shards[i].items {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *shardedStore) len() int {
	n := 0
	for i := range s.shards {
		n += len(s.shards[i].items)
	}
	return n
}

func (s *shardedStore) Index(name string, obj any) ([]any, error) {
	fn := s.indexFunc(name)
	if fn == nil {
		return nil, noIndex(name)
	}
	vals, err := fn(obj)
	if err != nil {
		return nil, err
	}
	return s.matching(name, vals...), nil
}

func (s *shardedStore) ByIndex(name, value string) ([]any, error) {
	if s.indexFunc(name) == nil {
		return nil, noIndex(name)
	}
	return s.matching(name, value), nil
}

func (s *shardedStore) indexFunc(name string) cache.IndexFunc {
	sh := &s.shards[0]
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	fn, _, _ := sh.index(name)
	return fn
}

func (s *shardedStore) matching(name string, vals ...string) []any {
	s.rlockAll()
	defer s.runlockAll()
	var matches [shardCount]sets.Set[string]
	n := 0
	for i := range s.shards {
		_, index, _ := s.shards[i].index(name)
		matches[i] = index.having(vals)
		n += matches[i].Len()
	}
	objs := make([]any, 0, n)
	for i := range s.shards {
		for key := range matches[i] {
			objs = append(objs, s.shards[i].items[key])
		}
	}
	return objs
}

func (s *shardedStore) IndexKeys(name, value string) ([]string, error) {
	if s.indexFunc(name) == nil {
		return nil, noIndex(name)
	}
	keys := func() []string {
		s.rlockAll()
		defer s.runlockAll()
		keys := []string{}
		for i := range s.shards {
			_, index, _ := s.shards[i].index(name)
			for key := range index[value] {
				keys = append(keys, key)
			}
		}
		return keys
	}()
	slices.Sort(keys)
	return keys, nil
}

func (s *shardedStore) ListIndexFuncValues(name string) []string {
	s.rlockAll()
	defer s.runlockAll()
	vals := sets.Set[string]{}
	for i := range s.shards {
		_, index, _ := s.shards[i].index(name)
		for v := range index {
			vals.Insert(v)
		}
	}
	return vals.UnsortedList()
}

func (s *shardedStore) GetIndexers() cache.Indexers {
	sh := &s.shards[0]
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.schema.indexers()
}

func (s *shardedStore) AddIndexers(added cache.Indexers) error {
	defer s.lock(all)()
	indexers, err := merged(s.shards[0].schema.indexers(), added)
	if err != nil {
		return err
	}
	sc := newSchema(indexers)
	var next [shardCount]plain
	for i := range next {
		next[i] = plainOf(s.shards[i].items, sc)
	}
	for i := range next {
		s.shards[i].plain = next[i]
	}
	return nil
}

func (s *shardedStore) Resync() error { return nil }
