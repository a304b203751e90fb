package indexer

import (
	"iter"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// List returns all objects.
func (s *SnapshotStore) List() []any {
	rows := s.snapshot()
	defer s.done()
	out := make([]any, rows.n)
	for i := 0; i < rows.n; i += leafLen {
		part := rows.part(i)
		to := out[i : i+len(part)]
		for i := range to {
			to[i] = part[i].obj
		}
	}
	return out
}

// ListKeys returns all keys.
func (s *SnapshotStore) ListKeys() []string {
	rows := s.snapshot()
	defer s.done()
	out := make([]string, rows.n)
	for i := 0; i < rows.n; i += leafLen {
		part := rows.part(i)
		to := out[i : i+len(part)]
		for i := range to {
			to[i] = part[i].key
		}
	}
	return out
}

// All yields all objects of the moment when the iteration begins, without a
// copy of them.
func (s *SnapshotStore) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		rows := s.snapshot()
		defer s.done()
		for i := 0; i < rows.n; i += leafLen {
			part := rows.part(i)
			for i := range part {
				if !yield(part[i].obj) {
					return
				}
			}
		}
	}
}

// snapshot is the rows at this moment. The caller calls done when it has read
// them.
func (s *SnapshotStore) snapshot() view[row] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.clock.live.Add(1)
	return s.data.Load().rows.snapshot(&s.clock)
}

// done ends the use of a snapshot: from the next write on, the writer need not
// copy what it saw.
func (s *SnapshotStore) done() { s.clock.live.Add(-1) }

// indexFunc is the function of an index, or upstream's error.
func (s *SnapshotStore) indexFunc(name string) (cache.IndexFunc, error) {
	if fn := s.schema.Load().indexers[name]; fn != nil {
		return fn, nil
	}
	return nil, noIndex(name)
}

// Index returns the objects that share a value with obj.
func (s *SnapshotStore) Index(name string, obj any) ([]any, error) {
	fn, err := s.indexFunc(name)
	if err != nil {
		return nil, err
	}
	vals, err := fn(obj)
	if err != nil {
		return nil, err
	}
	if len(vals) == 1 {
		return having(s, name, vals[0], objectOf, objectsAt), nil
	}
	return s.havingAny(name, vals), nil
}

// ByIndex returns the objects that have a value.
func (s *SnapshotStore) ByIndex(name, value string) ([]any, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	return having(s, name, value, objectOf, objectsAt), nil
}

// IndexKeys returns the keys of the objects that have a value, in order.
func (s *SnapshotStore) IndexKeys(name, value string) ([]string, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	keys := having(s, name, value, keyOf, keysAt)
	slices.Sort(keys)
	return keys, nil
}

// What a read takes of a row.
func objectOf(r *row) any { return r.obj }
func keyOf(r *row) string { return r.key }

// having copies few rows under the lock and more from a snapshot.
func having[E any](s *SnapshotStore, name, value string, of func(*row) E, from func([]E, view[uint32], view[row]) []E) []E {
	var few [gatherMax]E
	s.mu.RLock()
	d, p := s.posting(name, value)
	if p == nil {
		s.mu.RUnlock()
		return []E{}
	}
	if p.many == nil {
		n := len(p.few)
		for i, slot := range p.few {
			few[i] = of(d.rows.look(slot))
		}
		s.mu.RUnlock()
		return append(make([]E, 0, n), few[:n]...)
	}
	s.clock.live.Add(1)
	defer s.done()
	slots, rows := p.many.snapshot(&s.clock), d.rows.snapshot(&s.clock)
	s.mu.RUnlock()
	out := make([]E, 0, slots.n)
	return from(out, slots, rows)
}

// objectsAt and keysAt append what is in some slots. Neighbours in an index are
// often neighbours in the store, so the leaf is looked up once for a run of them.
func objectsAt(out []any, slots view[uint32], rows view[row]) []any {
	var l *leaf[row]
	at := ^uint32(0)
	for i := 0; i < slots.n; i += leafLen {
		for _, slot := range slots.part(i) {
			if slot/leafLen != at {
				at = slot / leafLen
				l = rows.leaf(at)
			}
			out = append(out, l[slot%leafLen].obj)
		}
	}
	return out
}

func keysAt(out []string, slots view[uint32], rows view[row]) []string {
	for i := 0; i < slots.n; i += leafLen {
		for _, slot := range slots.part(i) {
			out = append(out, rows.look(slot).key)
		}
	}
	return out
}

// havingAny takes the slots of all the values at one moment and reads an object
// that has several of them once.
func (s *SnapshotStore) havingAny(name string, vals []string) []any {
	s.mu.RLock()
	s.clock.live.Add(1)
	defer s.done()
	rows := s.data.Load().rows.snapshot(&s.clock)
	var slots []uint32
	var views []view[uint32]
	for _, value := range vals {
		switch _, p := s.posting(name, value); {
		case p == nil:
		case p.many == nil:
			slots = append(slots, p.few...)
		default:
			views = append(views, p.many.snapshot(&s.clock))
		}
	}
	s.mu.RUnlock()
	for _, w := range views {
		for i := 0; i < w.n; i += leafLen {
			slots = append(slots, w.part(i)...)
		}
	}
	slices.Sort(slots)
	slots = slices.Compact(slots)
	out := make([]any, 0, len(slots))
	for _, slot := range slots {
		out = append(out, rows.look(slot).obj)
	}
	return out
}

// AllByIndex yields the objects that have a value at the moment when the
// iteration begins, without a copy of them.
func (s *SnapshotStore) AllByIndex(name, value string) (iter.Seq[any], error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	return func(yield func(any) bool) {
		var few [gatherMax]uint32
		var n int
		var many view[uint32]
		s.mu.RLock()
		s.clock.live.Add(1)
		defer s.done()
		d, p := s.posting(name, value)
		rows := d.rows.snapshot(&s.clock)
		if p != nil {
			if n = copy(few[:], p.few); p.many != nil {
				many = p.many.snapshot(&s.clock)
			}
		}
		s.mu.RUnlock()
		for _, slot := range few[:n] {
			if !yield(rows.look(slot).obj) {
				return
			}
		}
		var l *leaf[row]
		at := ^uint32(0)
		for i := 0; i < many.n; i += leafLen {
			for _, slot := range many.part(i) {
				if slot/leafLen != at {
					at = slot / leafLen
					l = rows.leaf(at)
				}
				if !yield(l[slot%leafLen].obj) {
					return
				}
			}
		}
	}, nil
}

// posting is the posting of a value, or nil, in the contents now. The caller
// holds mu.
func (s *SnapshotStore) posting(name, value string) (*contents, *posting) {
	d := s.data.Load()
	x := d.indices[s.schema.Load().columns[name]]
	if id, ok := x.ids[value]; ok {
		return d, x.postings.at(id)
	}
	return d, nil
}

// ListIndexFuncValues returns the values that an index has.
func (s *SnapshotStore) ListIndexFuncValues(name string) []string {
	if _, err := s.indexFunc(name); err != nil {
		return []string{}
	}
	s.mu.RLock()
	s.clock.live.Add(1)
	defer s.done()
	x := s.data.Load().indices[s.schema.Load().columns[name]]
	n, postings := len(x.ids), x.postings.snapshot(&s.clock)
	s.mu.RUnlock()
	vals := make([]string, 0, n)
	for i := 0; i < postings.n; i += leafLen {
		for _, p := range postings.part(i) {
			if p != nil {
				vals = append(vals, p.value)
			}
		}
	}
	return vals
}

// GetIndexers returns a copy of the indexers.
func (s *SnapshotStore) GetIndexers() cache.Indexers {
	return copyOf(s.schema.Load().indexers)
}

// LastStoreSyncResourceVersion is the resource version of the last write, or ""
// while client-go's feature AtomicFIFO is off.
func (s *SnapshotStore) LastStoreSyncResourceVersion() string {
	if !tellsResourceVersion() {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rv
}
