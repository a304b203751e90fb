package indexer

import (
	"iter"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Get returns the object of key. It waits for a write of the same stripe only.
func (s *SnapshotStore) Get(key string) (item any, exists bool) { return get(s, s.hash(key), key) }

func get[K keyBytes](s *SnapshotStore, h uint64, key K) (any, bool) {
	for {
		c := s.contents.Load()
		st := &c.stripes[c.stripeOf(h)]
		st.mu.Lock()
		if st.stale {
			st.mu.Unlock()
			continue
		}
		var obj any
		_, it := find(c, h, key)
		if it != nil {
			obj = it.obj
		}
		st.mu.Unlock()
		return obj, it != nil
	}
}

// all is the items at one moment.
type all struct {
	view[item]
	hole int // -1 if there is none
}

// snapshot is the items now. The caller holds mu, and calls done when it has read
// them.
func (s *SnapshotStore) snapshot(c *contents) all {
	s.live.Add(1)
	return all{c.items.snapshot(s.now), int(c.hole) - 1}
}

// done ends the use of a snapshot: from the next write on, the writer need not copy
// what it saw.
func (s *SnapshotStore) done() { s.live.Add(-1) }

// freeze is snapshot for a caller who does not hold mu.
func (s *SnapshotStore) freeze() all {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot(s.contents.Load())
}

// without is list without the element of the hole.
func without[E any](list []E, hole int) []E {
	if hole < 0 {
		return list
	}
	last := len(list) - 1
	list[hole] = list[last]
	clear(list[last:])
	return list[:last]
}

// List returns all objects.
func (s *SnapshotStore) List() []any {
	all := s.freeze()
	defer s.done()
	out := make([]any, all.n)
	for i := 0; i < all.n; i += leafLen {
		part := all.part(i)
		to := out[i:][:len(part)]
		for j := range part {
			to[j] = part[j].obj
		}
	}
	return without(out, all.hole)
}

// ListKeys returns all keys.
func (s *SnapshotStore) ListKeys() []string {
	all := s.freeze()
	defer s.done()
	out := make([]string, all.n)
	for i := 0; i < all.n; i += leafLen {
		part := all.part(i)
		to := out[i:][:len(part)]
		for j := range part {
			to[j] = part[j].key
		}
	}
	return without(out, all.hole)
}

// All yields all objects of the moment when the iteration begins, without a copy of
// them.
func (s *SnapshotStore) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		all := s.freeze()
		defer s.done()
		for i := 0; i < all.n; i += leafLen {
			for j := range all.part(i) {
				if i+j != all.hole && !yield(all.part(i)[j].obj) {
					return
				}
			}
		}
	}
}

// posting is the posting of a value, or nil. The caller holds mu. A reader knows the
// column before it has mu: indexers that the store has keep theirs.
func (c *contents) posting(column int, value string) *posting {
	return c.indices[column].values.m[value]
}

// Index returns the objects that share a value with obj.
func (s *SnapshotStore) Index(name string, obj any) ([]any, error) {
	sc := *s.schema.Load()
	vals, err := sc.valuesIn(name, obj)
	if err != nil {
		return nil, err
	}
	column, _ := sc.column(name)
	if len(vals) == 1 {
		return s.having(column, vals[0]), nil
	}
	s.mu.Lock()
	c := s.contents.Load()
	all := s.snapshot(c)
	defer s.done()
	lists := make([][]uint32, len(vals))
	for i, value := range vals {
		lists[i] = c.posting(column, value).snapshot()
	}
	s.mu.Unlock()
	slots := slices.Concat(lists...)
	slices.Sort(slots) // some objects may have several of the values
	return all.gather(slices.Compact(slots)), nil
}

// ByIndex returns the objects that have a value.
func (s *SnapshotStore) ByIndex(name, value string) ([]any, error) {
	column, err := s.schema.Load().column(name)
	if err != nil {
		return nil, err
	}
	return s.having(column, value), nil
}

// having is the objects that have a value.
func (s *SnapshotStore) having(column int, value string) []any {
	all, slots := s.members(column, value)
	defer s.done()
	return all.gather(slots)
}

// gather is the objects in some slots.
func (a all) gather(slots []uint32) []any {
	out := make([]any, len(slots))
	for i, slot := range slots {
		out[i] = a.spine.at(slot).obj
	}
	return out
}

// members is what having and its like read: the items and the slots of a value.
func (s *SnapshotStore) members(column int, value string) (all, []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contents.Load()
	return s.snapshot(c), c.posting(column, value).snapshot()
}

// AllByIndex yields the objects that have a value at the moment when the iteration
// begins, without a copy of them.
func (s *SnapshotStore) AllByIndex(name, value string) (iter.Seq[any], error) {
	column, err := s.schema.Load().column(name)
	if err != nil {
		return nil, err
	}
	return func(yield func(any) bool) {
		all, slots := s.members(column, value)
		defer s.done()
		for _, slot := range slots {
			if !yield(all.spine.at(slot).obj) {
				return
			}
		}
	}, nil
}

// IndexKeys returns the keys of the objects that have a value, in order.
func (s *SnapshotStore) IndexKeys(name, value string) ([]string, error) {
	column, err := s.schema.Load().column(name)
	if err != nil {
		return nil, err
	}
	all, slots := s.members(column, value)
	defer s.done()
	keys := make([]string, len(slots))
	for i, slot := range slots {
		keys[i] = all.spine.at(slot).key
	}
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues returns the values that an index has.
func (s *SnapshotStore) ListIndexFuncValues(name string) []string {
	column, err := s.schema.Load().column(name)
	if err != nil {
		return []string{}
	}
	s.mu.Lock()
	x := s.contents.Load().indices[column]
	vals, postings := make([]string, 0, len(x.values.m)), slices.Clone(x.postings)
	s.mu.Unlock()
	for _, p := range postings {
		if p != nil {
			vals = append(vals, p.value)
		}
	}
	return vals
}

// GetIndexers returns a copy of the indexers.
func (s *SnapshotStore) GetIndexers() cache.Indexers { return s.schema.Load().indexers() }

// LastStoreSyncResourceVersion is the resource version of the last write, or ""
// while client-go's feature AtomicFIFO is off.
func (s *SnapshotStore) LastStoreSyncResourceVersion() string {
	if !reportsResourceVersion() {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rv
}
