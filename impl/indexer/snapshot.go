package indexer

import (
	"math/bits"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// stripeCount is the number of stripes: the bits of a word, so that a set of
// stripes is a word.
const stripeCount = 64

// A SnapshotStore keeps its objects in slots 0…n-1 of a vector and takes
// snapshots of it.
//
//   - mu serialises writes, and orders snapshots among them. A reader of many
//     objects holds it for as long as it takes to copy a pointer or two.
//   - Get takes no lock. Each key belongs to a stripe by its hash; a stripe's
//     sequence number grows before a slot of its keys changes hands, and is odd
//     while a transaction that writes to it is under way, as Get must see one
//     moment too. Get looks at the number before and after. An update of a stored
//     object is one word and needs no such care.
//   - A deletion moves the last object into the free slot. So a list is a few
//     large copies, memory shrinks with the number of objects, and an index
//     finds and removes a member by its position.
//
// Index functions and the key function run outside the lock (AddIndexers
// excepted), so they may read the store.
type SnapshotStore struct {
	keys   keyHash
	data   atomic.Pointer[contents] // exchanged under mu
	schema atomic.Pointer[schema]   // written under mu

	_ apart // every write changes the rest, and Get reads the above

	mu    spinMutex
	clock clock
	odd   uint64 // the stripes that the write under way has made odd
	rv    string
}

// apart keeps what is before it in a struct from the cache lines of what is after
// it, of which a processor fetches two at a time.
type apart [128]byte

// contents is what Replace exchanges.
type contents struct {
	stripes [stripeCount]stripe
	objs    vector[any]
	indices []*index // in the schema's order
	peak    int      // the most objects there have been
	keys    keyColumn
	refs    refTable
}

// A stripe's table lies in the stripe, to save Get a step; the sequence number
// is odd while another takes its place.
type stripe struct {
	seq   atomic.Uint64
	table slotTable
}

// NewSnapshotStore makes the store of NewSnapshot.
func NewSnapshotStore(indexers cache.Indexers) *SnapshotStore {
	return newSnapshotStore(*newKeyHash(), newSchema(indexers))
}

func newSnapshotStore(keys keyHash, sc *schema) *SnapshotStore {
	s := &SnapshotStore{keys: keys}
	s.schema.Store(sc)
	d := &contents{}
	for i := range d.stripes {
		d.stripes[i].table = newSlotTable(0)
	}
	d.setIndices(sc)
	s.data.Store(d)
	return s
}

func (d *contents) setIndices(sc *schema) {
	d.indices = nil
	for i, name := range sc.names {
		d.indices = append(d.indices, newIndex(i, sc.indexers[name]))
	}
	d.refs = refTable{columns: len(sc.names)}
}

func (s *SnapshotStore) hash(key string) uint64 { return s.keys.of(key) }

func (d *contents) stripe(h uint64) *stripe { return &d.stripes[h>>(64-6)] }

// begin starts a write; the caller holds mu.
func (s *SnapshotStore) begin() {
	s.clock.now++
	s.clock.quiet = s.clock.live.Load() == 0
}

// disturb keeps Get from the stripe of h for the rest of the write.
func (s *SnapshotStore) disturb(d *contents, h uint64) {
	if bit := uint64(1) << (h >> (64 - 6)); s.odd&bit == 0 {
		s.odd |= bit
		d.stripe(h).seq.Add(1)
	}
}

// pass is called when no entry leads from h to a slot any more, and before the slot
// is used for anything else: a Get that has seen the entry finds the number changed,
// one that begins now does not see it. It takes half as long as disturb with end.
func (d *contents) pass(h uint64) { d.stripe(h).seq.Add(2) }

// end ends the write.
func (s *SnapshotStore) end() {
	if s.odd != 0 {
		d := s.data.Load()
		for m := s.odd; m != 0; m &= m - 1 {
			d.stripes[bits.TrailingZeros64(m)].seq.Add(1)
		}
		s.odd = 0
	}
	s.mu.Unlock()
}

// find is the slot of key, for the holder of mu.
func (d *contents) find(h uint64, key string) (uint32, bool) {
	t := &d.stripe(h).table
	home := t.home(h)
	for i := home; ; {
		c := t.chunk(i)
		for m := matches(c.tags, tagOf(h)); m != 0; m &= m - 1 {
			at := place(m)
			if keyOf(c.keys[at], c.lens, at).key() == key {
				return c.slots[at], true
			}
		}
		if c.lens&classOf(h) == 0 {
			return 0, false
		}
		if i = t.after(i); i == home {
			return 0, false
		}
	}
}

// put stores obj, which has vals. The caller is in a write.
func (s *SnapshotStore) put(d *contents, h uint64, key string, obj any, vals [][]string) {
	if slot, ok := d.find(h, key); ok {
		s.overwrite(d, h, slot, obj, vals)
	} else {
		s.insert(d, h, key, obj, vals)
	}
}

// overwrite stores another object, which has vals, in slot.
func (s *SnapshotStore) overwrite(d *contents, h uint64, slot uint32, obj any, vals [][]string) {
	c := &s.clock
	for i, x := range d.indices {
		x.update(slot, vals[i], &d.refs, c)
	}
	o := d.objs.own(slot, c)
	if !sameType(o, obj) {
		s.disturb(d, h)
	}
	storeAny(o, obj)
}

// insert stores an object under a new key. Get finds it when its entry is in the
// table, which is last.
func (s *SnapshotStore) insert(d *contents, h uint64, key string, obj any, vals [][]string) {
	c := &s.clock
	slot := uint32(d.objs.n)
	k := keptOf(key)
	d.keys.push(k, c)
	if o := d.objs.grow(c); d.objs.n > d.peak { // no Get has heard of the slot
		*o = obj
		d.peak = d.objs.n
	} else {
		storeAny(o, obj)
	}
	d.enter(slot, vals, c)
	if t := &d.stripe(h).table; t.full() {
		s.resize(d, h, t.larger())
	}
	d.stripe(h).table.insert(h, k, slot)
}

// enter enters a new object, which has vals, in the indices.
func (d *contents) enter(slot uint32, vals [][]string, c *clock) {
	for range d.indices {
		d.refs.push(ref{id: noValue}, c)
	}
	for i, x := range d.indices {
		x.update(slot, vals[i], &d.refs, c)
	}
}

// resize gives the stripe of h a table of n chunks.
func (s *SnapshotStore) resize(d *contents, h uint64, n uint32) {
	t := &d.stripe(h).table
	next := t.sized(n)
	s.disturb(d, h)
	t.replace(next)
}

// remove removes the object of key, if there is one. The caller is in a write.
func (s *SnapshotStore) remove(d *contents, h uint64, key string) {
	if d.objs.n == 0 {
		return
	}
	// What is touched comes from memory together with what it is touched before, not
	// each after a locked instruction.
	c, last := &s.clock, uint32(d.objs.n-1)
	lastKey := d.keys.at(last)
	lastHash := s.hash(lastKey.key())
	d.stripe(lastHash).table.touch(lastHash)
	slot, ok := d.find(h, key)
	if !ok {
		return
	}
	touch(d.objs.look(slot))
	d.keys.touch(slot)
	for _, x := range d.indices {
		x.update(slot, nil, &d.refs, c)
	}
	t := &d.stripe(h).table
	t.remove(h, slot, func() { d.pass(h) })
	if t.sparse() {
		s.resize(d, h, t.smaller())
	}
	if slot != last {
		s.relocate(d, lastHash, lastKey, last, slot)
	}
	clearAny(d.objs.own(last, c))
	d.objs.cut(c)
	d.keys.pop(c)
	for range d.indices {
		d.refs.pop(c)
	}
}

// relocate moves the object of key, whose hash is h, to a slot that is free.
func (s *SnapshotStore) relocate(d *contents, h uint64, key kept, from, to uint32) {
	c := &s.clock
	storeAny(d.objs.own(to, c), d.objs.at(from))
	d.keys.set(to, key, c)
	d.stripe(h).table.move(h, from, to)
	d.pass(h)
	for _, x := range d.indices {
		x.relocate(from, to, &d.refs, c)
	}
}
