package indexer

import (
	"sync/atomic"
	"unsafe"
)

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
	if st.seq.Load() != seq&^1 { // or it was odd
		return s.getLocked(h, key)
	}
	c := t.chunk(t.home(h))
	tags, lens := atomic.LoadUint64(&c.tags), atomic.LoadUint64(&c.lens)
	rest := atomic.LoadUint64(&c.rest[0])
	_ = atomic.LoadPointer(&c.keys[0]) // the second cache line comes along with the first
	m := matches(tags, tagOf(h))
	if m == 0 {
		if lens&classOf(h) == 0 && st.seq.Load() == seq {
			return nil, false
		}
		return s.search(h, key)
	}
	at := place(m)
	if !restIs(rest, at, h) || !lenIs(lens, at, key) {
		return s.search(h, key)
	}
	k := atomic.LoadPointer(&c.keys[at])
	if p := d.objs.peek(atomic.LoadUint32(&c.slots[at])); p != nil {
		o := loadAny(p)
		if st.seq.Load() == seq && unsafe.String((*byte)(k), len(key)) == key {
			return o.value(), true
		}
	}
	return s.search(h, key)
}

// search is Get, by any number of entries and chunks and for keys of any length. A
// stripe of a small store changes often beside deletions, but seldom several times in
// a row while it looks; to wait for the lock takes longer.
func (s *SnapshotStore) search(h uint64, key string) (item any, exists bool) {
	for range 4 {
		if item, exists, ok := s.look(h, key); ok {
			return item, exists
		}
	}
	return s.getLocked(h, key)
}

// look is search, once; ok is false if the key's stripe changes under its eyes.
func (s *SnapshotStore) look(h uint64, key string) (item any, exists, ok bool) {
	d := s.data.Load()
	st := d.stripe(h)
	seq := st.seq.Load()
	t := slotTable{chunks: loadPointer(&st.table.chunks), n: atomic.LoadUint32(&st.table.n)}
	if st.seq.Load() != seq&^1 { // or it was odd
		return nil, false, false
	}
	home := t.home(h)
	for i := home; ; {
		c := t.chunk(i)
		tags, lens, rest := atomic.LoadUint64(&c.tags), atomic.LoadUint64(&c.lens), atomic.LoadUint64(&c.rest[0])
		for m := matches(tags, tagOf(h)); m != 0; m &= m - 1 {
			at := place(m)
			if !restIs(rest, at, h) {
				continue
			}
			k := atomic.LoadPointer(&c.keys[at])
			p := d.objs.peek(atomic.LoadUint32(&c.slots[at]))
			if p == nil {
				return nil, false, false
			}
			o := loadAny(p)
			if st.seq.Load() != seq {
				return nil, false, false
			}
			if keyOf(k, lens, at).key() == key {
				return o.value(), true, true
			}
		}
		if i = t.after(i); lens&classOf(h) == 0 || i == home || t.n == 0 {
			if st.seq.Load() != seq {
				return nil, false, false
			}
			return nil, false, true
		}
	}
}

// getLocked is Get when the key's stripe changes all the time.
func (s *SnapshotStore) getLocked(h uint64, key string) (item any, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.data.Load()
	if slot, ok := d.find(h, key); ok {
		return d.objs.at(slot), true
	}
	return nil, false
}
