package indexer

import (
	"iter"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Get returns the object of key. It waits for nobody who lists.
func (s *SnapshotStore) Get(key string) (item any, exists bool) {
	h := s.hash(key)
	st := s.stripe(h)
	st.mu.RLock()
	slot, ok := st.find(h, key, &s.keys)
	if ok {
		item = s.objs.load(slot)
	}
	st.mu.RUnlock()
	return item, ok
}

// List returns all objects.
func (s *SnapshotStore) List() []any {
	objs := snapshotOf(s, &s.objs)
	defer s.done()
	return objs.list()
}

// ListKeys returns all keys.
func (s *SnapshotStore) ListKeys() []string {
	keys := snapshotOf(s, &s.keys)
	defer s.done()
	return keys.list()
}

// All yields all objects of the moment when the iteration begins, without a
// copy of them.
func (s *SnapshotStore) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		objs := snapshotOf(s, &s.objs)
		defer s.done()
		for part := range objs.leaves() {
			for _, obj := range part {
				if !yield(obj) {
					return
				}
			}
		}
	}
}

// snapshotOf is v at this moment. The caller calls done when it has read it.
func snapshotOf[E any](s *SnapshotStore, v *vector[E]) view[E] {
	s.mu.Lock()
	s.clock.live.Add(1)
	w := v.snapshot(&s.clock)
	s.mu.Unlock()
	return w
}

// done ends the use of a snapshot: from the next write on, the writer need not
// copy what it saw.
func (s *SnapshotStore) done() { s.clock.live.Add(-1) }

// Index returns the objects that share a value with obj.
func (s *SnapshotStore) Index(name string, obj any) ([]any, error) {
	fn := s.schema.Load().indexers[name]
	if fn == nil {
		return nil, noIndex(name)
	}
	vals, err := fn(obj)
	if err != nil {
		return nil, err
	}
	return collect(s, &s.objs, name, vals), nil
}

// ByIndex returns the objects that have a value.
func (s *SnapshotStore) ByIndex(name, value string) ([]any, error) {
	if s.schema.Load().indexers[name] == nil {
		return nil, noIndex(name)
	}
	return collect(s, &s.objs, name, []string{value}), nil
}

// IndexKeys returns the keys of the objects that have a value, in order.
func (s *SnapshotStore) IndexKeys(name, value string) ([]string, error) {
	if s.schema.Load().indexers[name] == nil {
		return nil, noIndex(name)
	}
	keys := collect(s, &s.keys, name, []string{value})
	slices.Sort(keys)
	return keys, nil
}

// AllByIndex yields the objects that have a value at the moment when the
// iteration begins, without a copy of them.
func (s *SnapshotStore) AllByIndex(name, value string) (iter.Seq[any], error) {
	if s.schema.Load().indexers[name] == nil {
		return nil, noIndex(name)
	}
	return matching(s, &s.objs, name, value), nil
}

// collect is the elements of v that belong to objects with any of vals.
func collect[E any](s *SnapshotStore, v *vector[E], name string, vals []string) []E {
	switch len(vals) {
	case 0:
		return []E{}
	case 1:
		return collectOne(s, v, name, vals[0])
	default:
		return collectAny(s, v, name, vals)
	}
}

// collectOne copies few elements under the lock and more from a snapshot.
func collectOne[E any](s *SnapshotStore, v *vector[E], name, value string) []E {
	var few [gatherMax]E
	s.mu.Lock()
	p := s.posting(name, value)
	if p == nil {
		s.mu.Unlock()
		return []E{}
	}
	if p.many == nil {
		n := len(p.few)
		for i, slot := range p.few {
			few[i] = v.at(slot)
		}
		s.mu.Unlock()
		return append(make([]E, 0, n), few[:n]...)
	}
	s.clock.live.Add(1)
	defer s.done()
	slots, elements := p.many.snapshot(&s.clock), v.snapshot(&s.clock)
	s.mu.Unlock()
	out := make([]E, 0, slots.n)
	for part := range slots.leaves() {
		for _, slot := range part {
			out = append(out, elements.at(slot))
		}
	}
	return out
}

// collectAny takes the slots of all the values in one moment and reads an object
// that has several of them once.
func collectAny[E any](s *SnapshotStore, v *vector[E], name string, vals []string) []E {
	s.mu.Lock()
	s.clock.live.Add(1)
	defer s.done()
	elements := v.snapshot(&s.clock)
	var slots []uint32
	var views []view[uint32]
	for _, value := range vals {
		switch p := s.posting(name, value); {
		case p == nil:
		case p.many == nil:
			slots = append(slots, p.few...)
		default:
			views = append(views, p.many.snapshot(&s.clock))
		}
	}
	s.mu.Unlock()
	for _, w := range views {
		for part := range w.leaves() {
			slots = append(slots, part...)
		}
	}
	slices.Sort(slots)
	slots = slices.Compact(slots)
	out := make([]E, 0, len(slots))
	for _, slot := range slots {
		out = append(out, elements.at(slot))
	}
	return out
}

// matching yields the elements of v that belong to objects with value.
func matching[E any](s *SnapshotStore, v *vector[E], name, value string) iter.Seq[E] {
	return func(yield func(E) bool) {
		s.mu.Lock()
		s.clock.live.Add(1)
		defer s.done()
		elements := v.snapshot(&s.clock)
		var few [gatherMax]uint32
		n := 0
		var many view[uint32]
		if p := s.posting(name, value); p != nil {
			if n = copy(few[:], p.few); p.many != nil {
				many = p.many.snapshot(&s.clock)
			}
		}
		s.mu.Unlock()
		for _, slot := range few[:n] {
			if !yield(elements.at(slot)) {
				return
			}
		}
		for part := range many.leaves() {
			for _, slot := range part {
				if !yield(elements.at(slot)) {
					return
				}
			}
		}
	}
}

// posting is the posting of a value, or nil. The caller holds mu.
func (s *SnapshotStore) posting(name, value string) *posting {
	column, ok := s.schema.Load().columns[name]
	if !ok {
		return nil
	}
	x := s.indices[column]
	id, ok := x.ids[value]
	if !ok {
		return nil
	}
	return x.postings.at(id)
}

// ListIndexFuncValues returns the values that an index has.
func (s *SnapshotStore) ListIndexFuncValues(name string) []string {
	s.mu.Lock()
	column, ok := s.schema.Load().columns[name]
	if !ok {
		s.mu.Unlock()
		return []string{}
	}
	s.clock.live.Add(1)
	defer s.done()
	x := s.indices[column]
	n, postings := len(x.ids), x.postings.snapshot(&s.clock)
	s.mu.Unlock()
	vals := make([]string, 0, n)
	for part := range postings.leaves() {
		for _, p := range part {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rv
}

// A Snapshot is an Indexer over a SnapshotStore.
type Snapshot struct {
	*Indexer
	store *SnapshotStore
}

// NewSnapshot makes an indexer whose readers copy outside the writer's lock.
func NewSnapshot(keyFunc cache.KeyFunc, indexers cache.Indexers) *Snapshot {
	store := NewSnapshotStore(indexers)
	return &Snapshot{New(keyFunc, store), store}
}

// All is SnapshotStore's.
func (x *Snapshot) All() iter.Seq[any] { return x.store.All() }

// AllByIndex is SnapshotStore's.
func (x *Snapshot) AllByIndex(name, value string) (iter.Seq[any], error) {
	return x.store.AllByIndex(name, value)
}
