package indexer

import "unsafe"

// A builder fills contents that nobody else has yet: those of store, which has no
// other use.
type builder struct {
	store *SnapshotStore
	d     *contents
	sc    *schema
	keys  *leaf[unsafe.Pointer] // the last leaf of d.keys.data, d.keys.lens and d.objs
	lens  *leaf[uint8]
	objs  *leaf[any]
	vals  [][]string
	seen  uint64 // of no meaning, but nobody drops a read whose result is kept
}

// newBuilder makes a builder of contents for about size keys.
func newBuilder(keys keyHash, sc *schema, size int) *builder {
	s := newSnapshotStore(keys, sc)
	s.mu.Lock()
	s.begin()
	d := s.data.Load()
	for i := range d.stripes {
		d.stripes[i].table = newSlotTable(room(size))
	}
	d.objs.reserve(size)
	d.keys.data.reserve(size)
	d.keys.lens.reserve(size)
	return &builder{store: s, d: d, sc: sc}
}

// contents ends the building.
func (b *builder) contents() *contents {
	b.store.end()
	return b.d
}

// warm reads what put will need of the table. The reads of several keys are on
// their way at the same time, where puts would wait for them one by one.
func (b *builder) warm(hashes []uint64) {
	var seen uint64
	for _, h := range hashes {
		t := &b.d.stripe(h).table
		c := t.chunk(t.home(h))
		seen |= c.tags | uint64(uintptr(c.keys[0])) // either cache line
	}
	b.seen = seen
}

// put is SnapshotStore's, without care for readers.
func (b *builder) put(h uint64, key string, obj any) {
	b.vals = b.sc.values(b.vals[:0], key, obj)
	c, d := &b.store.clock, b.d
	if slot, ok := d.find(h, key); ok {
		b.store.overwrite(d, h, slot, obj, b.vals)
		return
	}
	slot := uint32(d.objs.n)
	if slot%leafLen == 0 {
		b.keys, b.lens, b.objs = d.keys.data.fillLeaf(c), d.keys.lens.fillLeaf(c), d.objs.fillLeaf(c)
	}
	k, at := keptOf(key), slot%leafLen
	b.keys[at], b.lens[at], b.objs[at] = k.data, k.len, obj
	d.keys.data.n++
	d.keys.lens.n++
	d.objs.n++
	d.peak++
	d.enter(slot, b.vals, c)
	t := &d.stripe(h).table
	if t.full() {
		*t = t.sized(t.larger())
	}
	t.fill(h, k, slot)
}
