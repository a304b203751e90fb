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
	_ = s.exchange(resourceVersion, len(items), func(put func(string, any)) error {
		for key, obj := range items {
			put(key, obj)
		}
		return nil
	})
}

// replaceList is Replace by objects, which keyFunc names; of equal keys the last
// counts. After a cache.KeyError nothing has changed.
func (s *SnapshotStore) replaceList(keyFunc cache.KeyFunc, objs []any, resourceVersion string) error {
	return s.exchange(resourceVersion, len(objs), func(put func(string, any)) error {
		for _, obj := range objs {
			key, err := keyFunc(obj)
			if err != nil {
				return cache.KeyError{Obj: obj, Err: err}
			}
			put(key, obj)
		}
		return nil
	})
}

// exchange builds a store of its own outside the locks, where nobody waits for
// it, and takes over its contents.
func (s *SnapshotStore) exchange(rv string, size int, fill func(put func(string, any)) error) error {
	var d *contents
	var err error
	s.write(func(sc *schema) {
		next := newSnapshotStore(s.keys, sc)
		next.alone = true
		next.begin()
		d = next.data.Load()
		for i := range d.stripes {
			d.stripes[i].table = newSlotTable(room(size))
		}
		var buf [][]string
		err = fill(func(key string, obj any) {
			buf = sc.values(buf[:0], key, obj)
			next.put(d, next.hash(key), key, obj, buf)
		})
	})
	// Its dates begin at 1, which is before or at any snapshot to come.
	if err == nil {
		s.data.Store(d)
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
	// The old indices are built again too, in the rows' new width. Values first:
	// an index function may panic.
	sc := newSchema(indexers)
	d := s.data.Load()
	vals := make([][]string, 0, d.rows.n*len(sc.names))
	for slot := range uint32(d.rows.n) {
		r := d.rows.at(slot)
		vals = sc.values(vals, r.key, r.obj)
	}
	s.begin()
	s.schema.Store(sc)
	d.setIndices(sc)
	for slot := range uint32(d.rows.n) {
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
