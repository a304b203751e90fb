package indexer

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// A SnapshotStore is contents of which readers of many objects take snapshots, while
// they hold mu for as long as it takes to copy a pointer or two. Get takes the lock of
// the key's stripe only.
//
// A write holds mu and, from its first change of a table or an item on, the stripes
// that it changes, up to its end. So whoever reads sees all of it or nothing.
//
// Index functions and the key function run outside the locks (AddIndexers excepted),
// so they may read the store.
type SnapshotStore struct {
	seed     maphash.Seed
	contents atomic.Pointer[contents] // exchanged under mu
	schema   atomic.Pointer[schema]   // exchanged under mu
	mu       sync.Mutex
	now      uint64       // the number of the last write
	live     atomic.Int64 // how many snapshots somebody may still read
	rv       string
}

var _ cache.ThreadSafeStoreWithTransaction = (*SnapshotStore)(nil)

// NewSnapshotStore makes the store of NewSnapshot.
func NewSnapshotStore(indexers cache.Indexers) *SnapshotStore {
	s := &SnapshotStore{seed: maphash.MakeSeed()}
	sc := newSchema(indexers)
	s.schema.Store(&sc)
	s.contents.Store(newContents(len(sc), 0))
	return s
}

func (s *SnapshotStore) hash(key string) uint64 { return maphash.String(s.seed, key) }

// begin begins a write of up to added new objects; the caller holds mu.
func (s *SnapshotStore) begin(added int) writing {
	s.now++
	c := s.contents.Load()
	if n := c.count() + added; n > fewObjects && len(c.stripes) == 1 {
		next := &contents{newStripes(n), c.objects}
		for slot := range uint32(c.items.n) {
			if slot != c.hole-1 {
				h := s.hash(c.items.at(slot).key)
				next.stripes[next.stripeOf(h)].table.insert(entryOf(h, slot))
			}
		}
		s.exchange(next)
		c = next
	}
	return writing{moment: moment{s.now, s.live.Load() == 0}, contents: c, seed: s.seed}
}

// exchange makes next the contents. The caller holds mu.
func (s *SnapshotStore) exchange(next *contents) {
	old := s.contents.Load()
	for i := range old.stripes {
		old.stripes[i].mu.Lock()
		defer old.stripes[i].mu.Unlock()
		old.stripes[i].stale = true
	}
	s.contents.Store(next)
}

// lock takes mu when it has evaluated index functions, of the schema that there is
// then.
func (s *SnapshotStore) lock(evaluate func(schema)) {
	for {
		sc := s.schema.Load()
		evaluate(*sc)
		s.mu.Lock()
		if s.schema.Load() == sc {
			return
		}
		s.mu.Unlock()
	}
}

// Add is Update.
func (s *SnapshotStore) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key.
func (s *SnapshotStore) Update(key string, obj any) { update(s, s.hash(key), key, obj) }

func update[K keyBytes](s *SnapshotStore, h uint64, key K, obj any) {
	rv, hasRV := resourceVersion(obj)
	var room [4][]string
	var vals [][]string
	s.lock(func(sc schema) { vals = values(sc, room[:0], key, obj) })
	w := s.begin(1)
	put(&w, h, key, obj, vals)
	w.release()
	if hasRV {
		s.rv = rv
	}
	s.mu.Unlock()
}

// Delete removes the object of key and leaves the resource version.
func (s *SnapshotStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes the object of key. The store's resource version becomes
// obj's, if it has one.
func (s *SnapshotStore) DeleteWithObject(key string, obj any) {
	deleteWithObject(s, s.hash(key), key, obj)
}

func deleteWithObject[K keyBytes](s *SnapshotStore, h uint64, key K, obj any) {
	rv, hasRV := resourceVersion(obj)
	s.mu.Lock()
	w := s.begin(0)
	remove(&w, h, key)
	w.release()
	if hasRV {
		s.rv = rv
	}
	s.mu.Unlock()
}

// Transaction applies txns in order, in one moment.
func (s *SnapshotStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	rv, hasRV := resourceVersion(txns[len(txns)-1].Object)
	var vals [][][]string
	s.lock(func(sc schema) { vals = valuesOf(sc, txns) })
	w := s.begin(len(txns))
	for i, txn := range txns {
		h := s.hash(txn.Key)
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			put(&w, h, txn.Key, txn.Object, vals[i])
		case cache.TransactionTypeDelete:
			remove(&w, h, txn.Key)
		}
	}
	w.release()
	if hasRV {
		s.rv = rv
	}
	s.mu.Unlock()
}

// Replace makes items the contents, in one moment.
func (s *SnapshotStore) Replace(items map[string]any, resourceVersion string) {
	s.replace(resourceVersion, len(items), func(put func(string, any)) {
		for key, obj := range items {
			put(key, obj)
		}
	})
}

// replace builds contents outside the locks, where nobody waits for it, and makes
// them the store's.
func (s *SnapshotStore) replace(rv string, n int, each func(put func(string, any))) {
	var next *contents
	var room [4][]string
	s.lock(func(sc schema) {
		next = newContents(len(sc), n)
		w := writing{moment: moment{1, true}, contents: next, private: true, seed: s.seed}
		each(func(key string, obj any) { put(&w, s.hash(key), key, obj, values(sc, room[:0], key, obj)) })
	})
	s.now++
	s.exchange(next)
	s.rv = rv
	s.mu.Unlock()
}

// Bookmark sets the resource version.
func (s *SnapshotStore) Bookmark(rv string) {
	s.mu.Lock()
	s.rv = rv
	s.mu.Unlock()
}

// AddIndexers adds indexers, with entries for what is stored. A name that the store
// has already is an error, and nothing changes.
func (s *SnapshotStore) AddIndexers(added cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.schema.Load()
	all, err := old.with(added)
	if err != nil {
		return err
	}
	c := s.contents.Load()
	s.now++
	m := moment{now: s.now, quiet: true} // nobody knows the new indices
	indices := make([]*index, len(added))
	for i := range indices {
		x := &index{}
		x.refs.reserve(c.items.n)
		for slot := range uint32(c.items.n) {
			it := c.items.at(slot)
			x.grow(m)
			for _, vals := range values(all[len(old)+i:][:1], nil, it.key, it.obj) {
				x.update(slot, vals, m)
			}
		}
		indices[i] = x
	}
	c.indices = slices.Concat(c.indices, indices)
	s.schema.Store(&all)
	return nil
}

// Resync does nothing, as upstream's.
func (s *SnapshotStore) Resync() error { return nil }
