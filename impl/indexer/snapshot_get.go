package indexer

import "sync/atomic"

// Get returns the object of key. It takes no lock and waits for nobody, but for
// a deletion or a transaction that is under way in the key's stripe.
//
// Nearly always the first entry that it looks at is the key's. The search for
// another one is apart, which leaves the compiler registers.
func (s *SnapshotStore) Get(key string) (item any, exists bool) {
	h := s.hash(key)
	d := s.data.Load()
	st := d.stripe(h)
	seq := st.seq.Load()
	t := slotTable{chunks: loadPointer(&st.table.chunks), n: atomic.LoadUint32(&st.table.n)}
	if seq%2 == 1 || st.seq.Load() != seq {
		return s.getLocked(h, key)
	}
	c := t.chunk(t.home(h))
	tags := atomic.LoadUint64(&c[0])
	m := matches(tags, tagOf(h))
	if m == 0 && tags&passed == 0 && st.seq.Load() == seq {
		return nil, false
	}
	e := atomic.LoadUint64(c.entry(m)) // if there is no match, the tags, which are hardly an entry of h
	if r := d.rows.peek(uint32(e)); r != nil && of(e, h) {
		k, o := loadString(&r.key), loadAny(&r.obj)
		if st.seq.Load() == seq && k.equal(key) {
			return o.value(), true
		}
	}
	return s.search(h, key)
}

// search is Get, by any number of entries and chunks.
func (s *SnapshotStore) search(h uint64, key string) (item any, exists bool) {
	d := s.data.Load()
	st := d.stripe(h)
	seq := st.seq.Load()
	t := slotTable{chunks: loadPointer(&st.table.chunks), n: atomic.LoadUint32(&st.table.n)}
	if seq%2 == 1 || st.seq.Load() != seq {
		return s.getLocked(h, key)
	}
	home := t.home(h)
	for i := home; ; {
		c := t.chunk(i)
		tags := atomic.LoadUint64(&c[0])
		for m := matches(tags, tagOf(h)); m != 0; m &= m - 1 {
			e := atomic.LoadUint64(c.entry(m))
			if !of(e, h) {
				continue
			}
			r := d.rows.peek(uint32(e))
			if r == nil {
				return s.getLocked(h, key)
			}
			k, o := loadString(&r.key), loadAny(&r.obj)
			if st.seq.Load() != seq {
				return s.getLocked(h, key)
			}
			if k.equal(key) {
				return o.value(), true
			}
		}
		if i = t.after(i); tags&passed == 0 || i == home || t.n == 0 {
			if st.seq.Load() != seq {
				return s.getLocked(h, key)
			}
			return nil, false
		}
	}
}

// getLocked is Get when the key's stripe changes under its eyes.
func (s *SnapshotStore) getLocked(h uint64, key string) (item any, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.data.Load()
	if slot, ok := d.find(h, key); ok {
		return d.rows.at(slot).obj, true
	}
	return nil, false
}
