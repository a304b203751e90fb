package indexer

import (
	"iter"
	"slices"
	"unsafe"

	"k8s.io/client-go/tools/cache"
)

// List returns all objects.
func (s *SnapshotStore) List() []any {
	objs := s.list()
	s.listed(len(objs))
	return objs
}

func (s *SnapshotStore) list() []any {
	var few [gatherMax]any
	s.mu.RLock()
	objs := &s.dense().objs
	if n := objs.n; n <= gatherMax {
		for i := range n {
			few[i] = objs.at(uint32(i))
		}
		s.mu.RUnlock()
		return append(make([]any, 0, n), few[:n]...)
	}
	s.clock.live.Add(1)
	defer s.done()
	all := objs.snapshot(&s.clock)
	s.mu.RUnlock()
	out := make([]any, all.n)
	for i := 0; i < all.n; i += leafLen {
		part := all.part(i)
		to := out[i : i+len(part)]
		for i := range to { // while garbage is collected, copy takes longer
			to[i] = part[i]
		}
	}
	return out
}

// ListKeys returns all keys.
func (s *SnapshotStore) ListKeys() []string {
	keys := s.listKeys()
	s.listed(len(keys))
	return keys
}

func (s *SnapshotStore) listKeys() []string {
	s.mu.RLock()
	d := s.dense()
	s.clock.live.Add(1)
	defer s.done()
	keys := d.keys.snapshot(&s.clock)
	s.mu.RUnlock()
	return keys.all()
}

// All yields all objects of the moment when the iteration begins, without a
// copy of them.
func (s *SnapshotStore) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		all := s.objects()
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

// objects is the objects at this moment. The caller calls done when it has read
// them.
func (s *SnapshotStore) objects() view[any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.dense()
	s.clock.live.Add(1)
	return d.objs.snapshot(&s.clock)
}

// done ends the use of a snapshot: from the next write on, the writer need not
// copy what it saw.
func (s *SnapshotStore) done() { s.clock.live.Add(-1) }

// indexFunc is the function of an index, or upstream's error.
func (s *SnapshotStore) indexFunc(name string) (cache.IndexFunc, error) {
	sc := s.schema.Load()
	if i, ok := sc.column(name); ok {
		return (*sc)[i].fn, nil
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
	var objs []any
	if len(vals) == 1 {
		objs = s.having(name, vals[0])
	} else {
		objs = s.havingAny(name, vals)
	}
	s.listed(len(objs))
	return objs, nil
}

// ByIndex returns the objects that have a value.
func (s *SnapshotStore) ByIndex(name, value string) ([]any, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	objs := s.having(name, value)
	s.listed(len(objs))
	return objs, nil
}

// IndexKeys returns the keys of the objects that have a value, in order.
func (s *SnapshotStore) IndexKeys(name, value string) ([]string, error) {
	if _, err := s.indexFunc(name); err != nil {
		return nil, err
	}
	keys := s.keysHaving(name, value)
	s.listed(len(keys))
	return keys, nil
}

func (s *SnapshotStore) keysHaving(name, value string) []string {
	s.mu.RLock()
	s.clock.live.Add(1)
	defer s.done()
	d, p := s.posting(name, value)
	keys, slots := d.keys.snapshot(&s.clock), p.snapshot(&s.clock)
	s.mu.RUnlock()
	found := make([]string, 0, slots.len())
	for slot := range slots.all {
		found = append(found, keys.key(slot))
	}
	slices.Sort(found)
	return found
}

// having copies few objects under the lock and more from a snapshot.
func (s *SnapshotStore) having(name, value string) []any {
	var few [gatherMax]any
	s.mu.RLock()
	d, p := s.posting(name, value)
	if p == nil {
		s.mu.RUnlock()
		return []any{}
	}
	if p.many == nil {
		n := len(p.few)
		for i, slot := range p.few {
			few[i] = *d.objs.look(slot)
		}
		s.mu.RUnlock()
		return append(make([]any, 0, n), few[:n]...)
	}
	s.clock.live.Add(1)
	defer s.done()
	slots, all := p.many.snapshot(&s.clock), d.objs.snapshot(&s.clock)
	s.mu.RUnlock()
	return gather(slots, all)
}

func gather(slots view[uint32], all view[any]) []any {
	out := make([]any, slots.n)
	for i := 0; i < slots.n; i += leafLen {
		part := slots.part(i)
		pick(out[i:i+len(part)], part, all)
	}
	return out
}

// inRow is the elements of the first of some slots, one at least, without a copy: of
// as many as there are to the end of the leaf, if they lie in a row, or nil.
// Neighbours in an index are often neighbours in the store.
func inRow(slots []uint32, all view[any]) []any {
	first := slots[0]
	at := first % leafLen
	if slots = slots[:min(leafLen-at, uint32(len(slots)))]; slots[len(slots)-1]-first != uint32(len(slots)-1) {
		return nil
	}
	var strays uint64
	pair := uint64(first) | uint64(first+1)<<32
	for rest := slots; len(rest) >= 2; rest = rest[2:] { // the last is as it should be
		strays |= (uint64(rest[0]) | uint64(rest[1])<<32) ^ pair // one load
		pair += 2 | 2<<32
	}
	if strays != 0 {
		return nil
	}
	return unsafe.Slice(elem(all.leaf(first/leafLen), at), len(slots))
}

// pick copies what is in some slots. In line, it takes registers from the loop around
// yield.
//
//go:noinline
func pick(to []any, slots []uint32, all view[any]) {
	to = to[:len(slots)]
	for i, slot := range slots {
		to[i] = *elem(all.root[slot/spanLen][slot/leafLen%nodeLen], slot)
	}
}

// havingAny takes the slots of all the values at one moment and reads an object
// that has several of them once.
func (s *SnapshotStore) havingAny(name string, vals []string) []any {
	s.mu.RLock()
	s.clock.live.Add(1)
	defer s.done()
	all := s.data.Load().objs.snapshot(&s.clock)
	var of []members
	for _, value := range vals {
		_, p := s.posting(name, value)
		of = append(of, p.snapshot(&s.clock))
	}
	s.mu.RUnlock()
	var slots []uint32
	for _, m := range of {
		slots = slices.AppendSeq(slots, m.all)
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
		s.mu.RLock()
		s.clock.live.Add(1)
		defer s.done()
		d, p := s.posting(name, value)
		all, slots := d.objs.snapshot(&s.clock), p.snapshot(&s.clock)
		s.mu.RUnlock()
		for _, slot := range slots.few[:slots.n] {
			if !yield(*all.look(slot)) {
				return
			}
		}
		many := slots.many
		var some [leafLen]any // a loop of its own around yield has its variables in registers
		for i := 0; i < many.n; i += leafLen {
			part := many.part(i)
			for len(part) > 0 {
				objs := inRow(part, all)
				if objs == nil {
					objs = some[:len(part)]
					pick(objs, part, all)
				}
				for _, obj := range objs {
					if !yield(obj) {
						return
					}
				}
				part = part[len(objs):]
			}
		}
	}, nil
}

// posting is the posting of a value, or nil, in the contents now. The caller
// holds mu.
func (s *SnapshotStore) posting(name, value string) (*contents, *posting) {
	d := s.data.Load()
	if x := s.index(d, name); x != nil {
		if id, ok := x.ids[value]; ok {
			return d, x.postings.at(id)
		}
	}
	return d, nil
}

// index is an index, or nil of contents that have none. The caller holds mu.
func (s *SnapshotStore) index(d *contents, name string) *index {
	i, _ := s.schema.Load().column(name)
	if i >= len(d.indices) {
		return nil
	}
	return &d.indices[i]
}

// ListIndexFuncValues returns the values that an index has.
func (s *SnapshotStore) ListIndexFuncValues(name string) []string {
	if _, err := s.indexFunc(name); err != nil {
		return []string{}
	}
	s.mu.RLock()
	x := s.index(s.data.Load(), name)
	if x == nil {
		s.mu.RUnlock()
		return []string{}
	}
	s.clock.live.Add(1)
	defer s.done()
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
	return s.schema.Load().indexers()
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
