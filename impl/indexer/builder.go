package indexer

import "unsafe"

// A builder fills contents that nobody else has yet.
type builder struct {
	d     *contents
	sc    *schema
	size  int
	clock clock
	keys  []unsafe.Pointer // the last leaf of d.keys.data, d.keys.lens and d.objs
	lens  []uint8
	objs  []any
	vals  [][]string
	seen  uint64 // of no meaning, but nobody drops a read whose result is kept
}

// newBuilder makes a builder of contents for size keys at most.
func newBuilder(sc *schema, size int) builder {
	d := nothing
	if size > 0 {
		d = contentsFor(size)
		d.setIndices(sc)
		d.objs.reserve(size)
		d.keys.data.reserve(size)
		d.keys.lens.reserve(size)
		if len(*sc) > 0 {
			d.refs.reserve(size * len(*sc))
		}
	}
	// Dates begin at 1, which is before or at any snapshot to come.
	return builder{d: d, sc: sc, size: size, clock: clock{now: 1, quiet: true}}
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
	c, d := &b.clock, b.d
	if slot, ok := d.find(h, key); ok {
		for i := range d.indices {
			d.indices[i].update(slot, b.vals[i], &d.refs, c)
		}
		d.objs.set(slot, obj, c)
		return
	}
	b.add(h, key, obj, b.vals)
}

// add is put of a new object, which has vals.
func (b *builder) add(h uint64, key string, obj any, vals [][]string) {
	c, d := &b.clock, b.d
	slot := uint32(d.objs.n)
	at := slot % leafLen
	if at == 0 {
		b.addLeaves()
	}
	k := keptOf(key)
	b.keys[at], b.lens[at], b.objs[at] = k.data, k.len, obj
	d.keys.data.n++
	d.keys.lens.n++
	d.objs.n++
	d.peak++
	d.addRow(c)
	d.enter(slot, vals, c)
	t := &d.stripe(h).table
	if t.full() {
		*t = t.sized(t.larger())
	}
	t.fill(h, k, slot)
}

func (b *builder) addLeaves() {
	d := b.d
	room := uint32(min(b.size-d.objs.n, leafLen))
	b.keys, b.lens, b.objs = d.keys.data.fillLeaf(room), d.keys.lens.fillLeaf(room), d.objs.fillLeaf(room)
}
