package indexer

import (
	"iter"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// The vectors that a read is of.
func objects(d *contents) *vector[any] { return &d.objs }
func keys(d *contents) *vector[string] { return &d.keys }

// List returns all objects.
func (s *SnapshotStore) List() []any { return list(s, objects) }

// ListKeys returns all keys.
func (s *SnapshotStore) ListKeys() []string { return list(s, keys) }

func list[E any](s *SnapshotStore, of func(*contents) *vector[E]) []E {
	all := snapshot(s, of)
	defer s.done()
	out := make([]E, all.n)
	for i := 0; i < all.n; i += leafLen {
		part := all.part(i)
		to := out[i : i+len(part)]
		for i := range to { // while garbage is collected, copy takes longer
			to[i] = part[i]
		}
	}
	return out
}

// All yields all objects of the moment when the iteration begins, without a
// copy of them.
func (s *SnapshotStore) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		all := snapshot(s, objects)
		defer s.done()
		for i := 0; i < all.n; i += leafLen {
			for _, obj := range all.part(i) {
				if !yield(obj) {
					return
				}
			}
		}
	}
}

// snapshot is the objects or keys at this moment. The caller calls done when it
// has read them.
func snapshot[E any](s *SnapshotStore, of func(*contents) *vector[E]) view[E] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.clock.live.Add(1)
	return of(s.data.Load()).snapshot(&s.clock)
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
		return having(s, name, vals[0], objects), nil
	}
	return s.havingAny(name, vals), nil
}

// ByIndex returns the objects that have a value.
func (s *SnapshotStore) ByIndex(name, value string) ([]any, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	return having(s, name, value, objects), nil
}

// IndexKeys returns the keys of the objects that have a value, in order.
func (s *SnapshotStore) IndexKeys(name, value string) ([]string, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	found := having(s, name, value, keys)
	slices.Sort(found)
	return found, nil
}

// having copies few elements under the lock and more from a snapshot.
func having[E any](s *SnapshotStore, name, value string, of func(*contents) *vector[E]) []E {
	var few [gatherMax]E
	s.mu.RLock()
	d, p := s.posting(name, value)
	if p == nil {
		s.mu.RUnlock()
		return []E{}
	}
	if p.many == nil {
		n, v := len(p.few), of(d)
		for i, slot := range p.few {
			few[i] = *v.look(slot)
		}
		s.mu.RUnlock()
		return append(make([]E, 0, n), few[:n]...)
	}
	s.clock.live.Add(1)
	defer s.done()
	slots, all := p.many.snapshot(&s.clock), of(d).snapshot(&s.clock)
	s.mu.RUnlock()
	return gather(slots, all)
}

func gather[E any](slots view[uint32], all view[E]) []E {
	out := make([]E, slots.n)
	for i := 0; i < slots.n; i += leafLen {
		part := slots.part(i)
		pick(out[i:i+len(part)], part, all)
	}
	return out
}

// pick copies what is in some slots, one at least. Neighbours in an index are often
// neighbours in the store, so the leaf is looked up once for a run of them.
func pick[E any](to []E, slots []uint32, all view[E]) {
	to = to[:len(slots)]
	at := slots[0] / leafLen
	l := all.leaf(at)
	for i, slot := range slots {
		if slot/leafLen != at {
			at = slot / leafLen
			l = all.leaf(at)
		}
		to[i] = l[slot%leafLen]
	}
}

// havingAny takes the slots of all the values at one moment and reads an object
// that has several of them once.
func (s *SnapshotStore) havingAny(name string, vals []string) []any {
	s.mu.RLock()
	s.clock.live.Add(1)
	defer s.done()
	all := s.data.Load().objs.snapshot(&s.clock)
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
		out = append(out, *all.look(slot))
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
		all := d.objs.snapshot(&s.clock)
		if p != nil {
			if n = copy(few[:], p.few); p.many != nil {
				many = p.many.snapshot(&s.clock)
			}
		}
		s.mu.RUnlock()
		for _, slot := range few[:n] {
			if !yield(*all.look(slot)) {
				return
			}
		}
		var some leaf[any] // a loop of its own around yield has its variables in registers
		for i := 0; i < many.n; i += leafLen {
			part := many.part(i)
			pick(some[:len(part)], part, all)
			for _, obj := range some[:len(part)] {
				if !yield(obj) {
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
