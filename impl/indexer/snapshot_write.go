package indexer

import "k8s.io/client-go/tools/cache"

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
	s.put(h, key, obj, vals, keep)
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
		columns = len(*sc)
		vals = make([][]string, 0, columns*len(txns))
		for _, txn := range txns {
			if txn.Type == cache.TransactionTypeDelete {
				vals = vals[:len(vals)+columns]
			} else {
				vals = sc.values(vals, txn.Key, txn.Object)
			}
		}
	})
	if len(txns) > 1 {
		d := s.data.Load()
		if d == nothing {
			d = newBuilder(s.schema.Load(), len(txns)).d
			s.data.Store(d)
		}
		for _, h := range hashes {
			s.disturb(d, h)
		}
		d.warm(hashes)
	}
	for i, txn := range txns {
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			s.put(hashes[i], txn.Key, txn.Object, vals[i*columns:(i+1)*columns], func() string { return txn.Key })
		case cache.TransactionTypeDelete:
			s.remove(s.data.Load(), hashes[i], txn.Key)
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

// AddIndexers adds indexers, with entries for what is stored. A name that the
// store has already is an error, and nothing changes.
func (s *SnapshotStore) AddIndexers(added cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	indexers, err := merged(s.schema.Load().indexers(), added)
	if err != nil {
		return err
	}
	// The old indices are built again too, in the new width. Values first:
	// an index function may panic.
	sc := newSchema(indexers)
	d := s.dense()
	vals := make([][]string, 0, d.objs.n*len(*sc))
	for slot := range uint32(d.objs.n) {
		vals = sc.values(vals, d.keys.at(slot).key(), d.objs.at(slot))
	}
	s.begin()
	s.schema.Store(sc)
	if d == nothing {
		return nil
	}
	d.setIndices(sc)
	for slot := range uint32(d.objs.n) {
		d.addRow(&s.clock)
		d.enter(slot, vals[:len(*sc)], &s.clock)
		vals = vals[len(*sc):]
	}
	return nil
}

// Resync does nothing, as upstream's.
func (s *SnapshotStore) Resync() error { return nil }
