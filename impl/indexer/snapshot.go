package indexer

import (
	"math"
	"math/bits"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

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
//   - A deletion leaves its slot free for the next new object. Before a second one is
//     free, or all objects are listed, the last object moves into it. So a list is a
//     few large copies, memory shrinks with the number of objects, and an index finds
//     and removes a member by its position.
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
	turns turns
	odd   uint64 // the stripes that the write under way has made odd
	rv    string
}

// apart keeps what is before it in a struct from the cache lines of what is after
// it, of which a processor fetches two at a time.
type apart [120]byte

// NewSnapshotStore makes the store of NewSnapshot.
func NewSnapshotStore(indexers cache.Indexers) *SnapshotStore {
	s := &SnapshotStore{}
	s.init(indexers)
	return s
}

func (s *SnapshotStore) init(indexers cache.Indexers) {
	s.keys.init()
	s.schema.Store(newSchema(indexers))
	s.data.Store(nothing)
}

func (s *SnapshotStore) hash(key string) uint64 { return s.keys.of(key) }

// begin starts a write; the caller holds mu.
func (s *SnapshotStore) begin() {
	s.clock.now++
	s.clock.quiet = s.clock.live.Load() == 0
}

// disturb keeps Get from the stripe of h for the rest of the write.
func (s *SnapshotStore) disturb(d *contents, h uint64) {
	if bit := uint64(1) << d.stripeOf(h); s.odd&bit == 0 {
		s.odd |= bit
		d.stripe(h).seq.Add(1)
	}
}

// end ends the write.
func (s *SnapshotStore) end() {
	if s.odd != 0 {
		d := s.data.Load()
		for m := s.odd; m != 0; m &= m - 1 {
			d.numbered(uint64(bits.TrailingZeros64(m))).seq.Add(1)
		}
		s.odd = 0
	}
	s.mu.Unlock()
}

// put stores obj, which has vals, under key, of which it keeps only what keep
// returns, and only if the key is new. The caller is in a write.
func (s *SnapshotStore) put(h uint64, key string, obj any, vals [][]string, keep func() string) {
	d := s.data.Load()
	if slot, ok := d.find(h, key); ok {
		s.overwrite(d, h, slot, obj, vals)
	} else {
		s.insert(d, h, keep(), obj, vals)
	}
}

// overwrite stores another object, which has vals, in slot.
func (s *SnapshotStore) overwrite(d *contents, h uint64, slot uint32, obj any, vals [][]string) {
	c := &s.clock
	for i := range d.indices {
		d.indices[i].update(slot, vals[i], &d.refs, c)
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
	if d == nothing {
		b := newBuilder(s.schema.Load(), fewest)
		b.add(h, key, obj, vals)
		s.data.Store(b.d)
		return
	}
	for d.stripe(h).table.full() { // in many stripes for one, that of h may be full too
		d = s.resize(d, h, d.stripe(h).table.larger())
	}
	c := &s.clock
	k := keptOf(key)
	slot := uint32(d.objs.n)
	if d.free != 0 {
		slot = d.free - 1
		d.free = 0
		d.keys.set(slot, k, c)
		storeAny(d.objs.own(slot, c), obj)
	} else {
		d.keys.push(k, c)
		if o := d.objs.grow(c); uint32(d.objs.n) > d.peak { // no Get has heard of the slot
			*o = obj
			d.peak = uint32(d.objs.n)
		} else {
			storeAny(o, obj)
		}
		d.addRow(c)
	}
	d.enter(slot, vals, c)
	d.stripe(h).table.insert(h, k, slot)
}

// resize gives the stripe of h a table of n chunks, or the contents more stripes,
// which are other contents.
func (s *SnapshotStore) resize(d *contents, h uint64, n uint32) *contents {
	if d.stripes == 0 && n > fewChunks {
		return s.spread(d)
	}
	t := &d.stripe(h).table
	next := t.sized(n)
	s.disturb(d, h)
	t.replace(next)
	return d
}

// spread makes contents of one stripe contents of many, which share the vectors. The
// old stripe's number stays odd: a Get that has come by it begins again.
func (s *SnapshotStore) spread(d *contents) *contents {
	s.compact(d)
	s.disturb(d, 0)
	next := newContents(stripeCount, 1)
	stripes := next.stripes
	*next = *d
	next.stripes = stripes
	for slot := range uint32(d.objs.n) {
		k := d.keys.at(slot)
		h := s.hash(k.key())
		t := &next.stripe(h).table
		if t.full() {
			*t = t.sized(t.larger())
		}
		t.fill(h, k, slot)
	}
	// The write may be a transaction that is going to write to any of them.
	s.odd = math.MaxUint64
	for i := range uint64(stripeCount) {
		next.numbered(i).seq.Store(1)
	}
	s.data.Store(next)
	return next
}

// remove removes the object of key, if there is one. The caller is in a write.
func (s *SnapshotStore) remove(d *contents, h uint64, key string) {
	// What is touched comes from memory together with what it is touched before, not
	// each after a locked instruction.
	var lastHash uint64
	if d.free != 0 {
		lastHash = s.hash(d.keys.at(uint32(d.objs.n - 1)).key())
		d.stripe(lastHash).table.touch(lastHash)
	}
	slot, ok := d.find(h, key)
	if !ok {
		return
	}
	c := &s.clock
	touch(d.objs.look(slot))
	d.keys.touch(slot)
	for i := range d.indices {
		d.indices[i].update(slot, nil, &d.refs, c)
	}
	t := &d.stripe(h).table
	t.remove(h, slot, func() { d.pass(h) })
	if t.sparse() {
		s.resize(d, h, t.smaller())
	}
	if int(d.free) == d.objs.n {
		s.compact(d)
	}
	if d.free != 0 {
		s.fill(d, slot, lastHash)
		return
	}
	d.free = slot + 1
	clearAny(d.objs.own(slot, c))
}

// compact leaves no slot free. The caller is in a write.
func (s *SnapshotStore) compact(d *contents) {
	if d.free != 0 {
		slot := d.free - 1
		d.free = 0
		s.fill(d, slot, s.hash(d.keys.at(uint32(d.objs.n-1)).key()))
	}
}

// fill moves the last object, the hash of whose key is h, to a slot that is free, and
// gives up the last slot.
func (s *SnapshotStore) fill(d *contents, slot uint32, h uint64) {
	c, last := &s.clock, uint32(d.objs.n-1)
	if slot != last {
		storeAny(d.objs.own(slot, c), d.objs.at(last))
		d.keys.set(slot, d.keys.at(last), c)
		d.stripe(h).table.move(h, last, slot)
		d.pass(h)
		for i := range d.indices {
			d.indices[i].relocate(last, slot, &d.refs, c)
		}
	}
	clearAny(d.objs.own(last, c))
	d.objs.cut(c)
	d.keys.pop(c)
	for range d.indices {
		d.refs.pop(c)
	}
}

// dense is the contents without a free slot, for the holder of mu.
func (s *SnapshotStore) dense() *contents {
	d := s.data.Load()
	if d.free != 0 {
		s.begin()
		s.compact(d)
	}
	return d
}
