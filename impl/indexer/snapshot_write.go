package indexer

import (
	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

// Add is Update.
func (s *SnapshotStore) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key.
func (s *SnapshotStore) Update(key string, obj any) {
	s.update(key, obj, func() string { return key })
}

// update stores obj under key, of which it keeps only what keep returns, and
// only if the key is new.
func (s *SnapshotStore) update(key string, obj any, keep func() string) {
	rv, hasRV := resourceVersion(obj)
	h := s.hash(key)
	var buf [4][]string
	var vals [][]string
	s.write(func(sc *schema) { vals = sc.values(buf[:0], key, obj) })
	d := s.data.Load()
	if slot, ok := d.find(h, key); ok {
		s.overwrite(d, h, slot, obj, vals)
	} else {
		s.insert(d, h, keep(), obj, vals)
	}
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// write evaluates index functions outside the lock and begins a write of their
// schema.
func (s *SnapshotStore) write(evaluate func(*schema)) {
	for {
		sc := s.schema.Load()
		evaluate(sc)
		s.mu.Lock()
		if s.schema.Load() == sc {
			s.begin()
			return
		}
		s.mu.Unlock()
	}
}

// Delete removes the object of key and leaves the resource version.
func (s *SnapshotStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes the object of key. The store's resource version
// becomes obj's, if it has one.
func (s *SnapshotStore) DeleteWithObject(key string, obj any) {
	rv, hasRV := resourceVersion(obj)
	h := s.hash(key)
	s.mu.Lock()
	s.begin()
	s.remove(s.data.Load(), h, key)
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// Transaction applies txns in order, in one moment.
func (s *SnapshotStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	rv, hasRV := resourceVersion(txns[len(txns)-1].Object)
	hashes := make([]uint64, len(txns))
	for i, txn := range txns {
		hashes[i] = s.hash(txn.Key)
	}
	var vals [][]string
	columns := 0
	s.write(func(sc *schema) {
		columns = len(sc.names)
		vals = make([][]string, 0, columns*len(txns))
		for _, txn := range txns {
			if txn.Type == cache.TransactionTypeDelete {
				vals = vals[:len(vals)+columns]
			} else {
				vals = sc.values(vals, txn.Key, txn.Object)
			}
		}
	})
	d := s.data.Load()
	if len(txns) > 1 {
		for _, h := range hashes {
			s.disturb(d, h)
		}
	}
	for i, txn := range txns {
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			s.put(d, hashes[i], txn.Key, txn.Object, vals[i*columns:(i+1)*columns])
		case cache.TransactionTypeDelete:
			s.remove(d, hashes[i], txn.Key)
		}
	}
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// Bookmark sets the resource version.
func (s *SnapshotStore) Bookmark(rv string) {
	s.mu.Lock()
	s.rv = rv
	s.mu.Unlock()
}

// Replace makes items the contents, in one moment.
func (s *SnapshotStore) Replace(items map[string]any, resourceVersion string) {
	_ = s.exchange(resourceVersion, len(items), func(b *builder) error {
		for key, obj := range items {
			b.put(s.hash(key), key, obj)
		}
		return nil
	})
}

// sharing is how many keys of a list lie in one string: an allocation for all of
// them, which stays until the last of them goes.
const sharing = 16

// replaceList is Replace by objects; of equal keys the last counts. After a
// cache.KeyError nothing has changed. As upstream's, it reports an object without
// a key rather than an index function's panic.
func (s *SnapshotStore) replaceList(keys objectkey.Maker, objs []any, resourceVersion string) error {
	return s.exchange(resourceVersion, len(objs), func(b *builder) (err error) {
		var unnamed []any // while index functions run
		defer func() {
			for _, obj := range unnamed {
				if _, keyErr := keys.Func(obj); keyErr != nil {
					_ = recover()
					err = cache.KeyError{Obj: obj, Err: keyErr}
					return
				}
			}
		}()
		var buf []byte
		for begin := 0; begin < len(objs); begin += sharing {
			some := objs[begin:min(begin+sharing, len(objs))]
			var ends [sharing]int
			buf = buf[:0]
			for i, obj := range some {
				if buf, err = keys.Append(buf, obj); err != nil {
					return cache.KeyError{Obj: obj, Err: err}
				}
				ends[i] = len(buf)
			}
			named, at := string(buf), 0
			var hashes [sharing]uint64
			for i := range some {
				hashes[i] = s.hash(named[at:ends[i]])
				at = ends[i]
			}
			b.warm(hashes[:len(some)])
			unnamed, at = objs[begin+len(some):], 0
			for i, obj := range some {
				b.put(hashes[i], named[at:ends[i]], obj)
				at = ends[i]
			}
			unnamed = nil
		}
		return nil
	})
}

// exchange builds contents outside the locks, where nobody waits for it, and
// makes them the store's.
func (s *SnapshotStore) exchange(rv string, size int, fill func(*builder) error) error {
	var b *builder
	var err error
	s.write(func(sc *schema) {
		b = newBuilder(s.keys, sc, size)
		err = fill(b)
	})
	// Its dates begin at 1, which is before or at any snapshot to come.
	if err == nil {
		s.data.Store(b.contents())
		s.rv = rv
	}
	s.end()
	return err
}

// AddIndexers adds indexers, with entries for what is stored. A name that the
// store has already is an error, and nothing changes.
func (s *SnapshotStore) AddIndexers(added cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	indexers, err := merged(s.schema.Load().indexers, added)
	if err != nil {
		return err
	}
	// The old indices are built again too, in the new width. Values first:
	// an index function may panic.
	sc := newSchema(indexers)
	d := s.data.Load()
	vals := make([][]string, 0, d.objs.n*len(sc.names))
	for slot := range uint32(d.objs.n) {
		vals = sc.values(vals, d.keys.at(slot).key(), d.objs.at(slot))
	}
	s.begin()
	s.schema.Store(sc)
	d.setIndices(sc)
	for slot := range uint32(d.objs.n) {
		for range d.indices {
			d.refs.push(ref{id: noValue}, &s.clock)
		}
		for _, x := range d.indices {
			x.update(slot, vals[0], &d.refs, &s.clock)
			vals = vals[1:]
		}
	}
	return nil
}

// Resync does nothing, as upstream's.
func (s *SnapshotStore) Resync() error { return nil }
