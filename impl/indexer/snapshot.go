package indexer

import (
	"hash/maphash"
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
//     sequence number is odd while slots of its keys change hands, or while a
//     transaction that writes to it is under way, as Get must see one moment
//     too. Get looks at the number before and after. An update of a stored
//     object is one word and needs no such care.
//   - A deletion moves the last object into the free slot. So a list is a few
//     large copies, memory shrinks with the number of objects, and an index
//     finds and removes a member by its position.
//
// Index functions and the key function run outside the lock (AddIndexers
// excepted), so they may read the store.
type SnapshotStore struct {
	seed   maphash.Seed
	data   atomic.Pointer[contents] // exchanged under mu
	schema atomic.Pointer[schema]   // written under mu

	mu    spinMutex
	clock clock
	odd   uint64 // the stripes that the write under way has made odd
	rv    string
}

// contents is what Replace exchanges.
type contents struct {
	stripes [stripeCount]stripe
	rows    vector[row]
	refs    refTable
	indices []*index // in the schema's order
}

// A row is what a slot holds. Key and object lie together, as Get reads both.
type row struct {
	key string
	obj any
}

// store writes a row that Get may be reading.
func (r *row) store(key string, obj any) {
	storeString(&r.key, key)
	storeAny(&r.obj, obj)
}

type stripe struct {
	seq   atomic.Uint64
	table atomic.Pointer[slotTable]
}

// A schema is the indexers of a store, in an order. It never changes.
type schema struct {
	indexers cache.Indexers
	names    []string
	columns  map[string]int
}

func newSchema(indexers cache.Indexers) *schema {
	sc := &schema{indexers: copyOf(indexers), columns: map[string]int{}}
	for name := range sc.indexers {
		sc.columns[name] = len(sc.names)
		sc.names = append(sc.names, name)
	}
	return sc
}

// values appends the values of obj, column by column.
func (sc *schema) values(vals [][]string, key string, obj any) [][]string {
	for _, name := range sc.names {
		vals = append(vals, values(name, sc.indexers[name], key, obj))
	}
	return vals
}

// NewSnapshotStore makes the store of NewSnapshot.
func NewSnapshotStore(indexers cache.Indexers) *SnapshotStore {
	return newSnapshotStore(maphash.MakeSeed(), newSchema(indexers))
}

func newSnapshotStore(seed maphash.Seed, sc *schema) *SnapshotStore {
	s := &SnapshotStore{seed: seed}
	s.schema.Store(sc)
	s.data.Store(&contents{})
	s.data.Load().setIndices(sc)
	return s
}

func (d *contents) setIndices(sc *schema) {
	d.indices = nil
	for i, name := range sc.names {
		d.indices = append(d.indices, newIndex(i, sc.indexers[name]))
	}
	d.refs = refTable{columns: len(sc.names)}
}

func (s *SnapshotStore) hash(key string) uint64 { return maphash.String(s.seed, key) }

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
	t := d.stripe(h).table.Load()
	if t == nil {
		return 0, false
	}
	for i := uint32(h); ; {
		slot, after, ok := t.next(h, i)
		if !ok {
			return 0, false
		}
		if d.rows.look(slot).key == key {
			return slot, true
		}
		i = after
	}
}

// put stores obj, which has vals. The caller is in a write.
func (s *SnapshotStore) put(d *contents, h uint64, key string, obj any, vals [][]string) {
	c := &s.clock
	slot, ok := d.find(h, key)
	if !ok {
		s.insert(d, h, key, obj, vals)
		return
	}
	for i, x := range d.indices {
		x.update(slot, vals[i], &d.refs, c)
	}
	r := d.rows.own(slot, c)
	if !sameType(&r.obj, obj) {
		s.disturb(d, h)
	}
	storeAny(&r.obj, obj)
}

// insert stores an object under a new key. Get finds it when its entry is in the
// table, which is last.
func (s *SnapshotStore) insert(d *contents, h uint64, key string, obj any, vals [][]string) {
	c := &s.clock
	slot := uint32(d.rows.n)
	d.rows.grow(c).store(key, obj)
	for range d.indices {
		d.refs.push(ref{id: noValue}, c)
	}
	for i, x := range d.indices {
		x.update(slot, vals[i], &d.refs, c)
	}
	st := d.stripe(h)
	t := st.table.Load()
	if t == nil {
		t = newSlotTable(minEntries)
	}
	if u := t.with(h, slot); u != st.table.Load() {
		st.table.Store(u)
	}
}

// remove removes the object of key, if there is one. The caller is in a write.
func (s *SnapshotStore) remove(d *contents, h uint64, key string) {
	c := &s.clock
	slot, ok := d.find(h, key)
	if !ok {
		return
	}
	for _, x := range d.indices {
		x.update(slot, nil, &d.refs, c)
	}
	s.disturb(d, h)
	st := d.stripe(h)
	st.table.Store(st.table.Load().without(h, slot))
	last := uint32(d.rows.n - 1)
	if slot != last {
		s.relocate(d, last, slot)
	}
	d.rows.own(last, c).store("", nil)
	d.rows.cut(c)
	for range d.indices {
		d.refs.pop(c)
	}
}

// relocate moves an object to a slot that is free.
func (s *SnapshotStore) relocate(d *contents, from, to uint32) {
	c, r := &s.clock, d.rows.at(from)
	h := s.hash(r.key)
	s.disturb(d, h)
	d.stripe(h).table.Load().move(h, from, to)
	d.rows.own(to, c).store(r.key, r.obj)
	for _, x := range d.indices {
		x.relocate(from, to, &d.refs, c)
	}
}

// Add is Update.
func (s *SnapshotStore) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key.
func (s *SnapshotStore) Update(key string, obj any) {
	rv, hasRV := resourceVersion(obj)
	h := s.hash(key)
	var buf [4][]string
	var vals [][]string
	s.write(func(sc *schema) { vals = sc.values(buf[:0], key, obj) })
	s.put(s.data.Load(), h, key, obj, vals)
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// write evaluates index functions outside the lock and begins a write of their
// schema.
func (s *SnapshotStore) write(evaluate func(*schema)) {
	for {
		sc := s.schema.Load()
		evaluate(sc)
		s.mu.Lock()
		if s.schema.Load() == sc {
			s.begin()
			return
		}
		s.mu.Unlock()
	}
}

// Delete removes the object of key and leaves the resource version.
func (s *SnapshotStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes the object of key. The store's resource version
// becomes obj's, if it has one.
func (s *SnapshotStore) DeleteWithObject(key string, obj any) {
	rv, hasRV := resourceVersion(obj)
	h := s.hash(key)
	s.mu.Lock()
	s.begin()
	s.remove(s.data.Load(), h, key)
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// Transaction applies txns in order, in one moment.
func (s *SnapshotStore) Transaction(txns ...cache.ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	rv, hasRV := resourceVersion(txns[len(txns)-1].Object)
	hashes := make([]uint64, len(txns))
	for i, txn := range txns {
		hashes[i] = s.hash(txn.Key)
	}
	var vals [][]string
	columns := 0
	s.write(func(sc *schema) {
		columns = len(sc.names)
		vals = make([][]string, 0, columns*len(txns))
		for _, txn := range txns {
			if txn.Type == cache.TransactionTypeDelete {
				vals = vals[:len(vals)+columns]
			} else {
				vals = sc.values(vals, txn.Key, txn.Object)
			}
		}
	})
	d := s.data.Load()
	if len(txns) > 1 {
		for _, h := range hashes {
			s.disturb(d, h)
		}
	}
	for i, txn := range txns {
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			s.put(d, hashes[i], txn.Key, txn.Object, vals[i*columns:(i+1)*columns])
		case cache.TransactionTypeDelete:
			s.remove(d, hashes[i], txn.Key)
		}
	}
	if hasRV {
		s.rv = rv
	}
	s.end()
}

// Bookmark sets the resource version.
func (s *SnapshotStore) Bookmark(rv string) {
	s.mu.Lock()
	s.rv = rv
	s.mu.Unlock()
}

// Replace makes items the contents, in one moment.
func (s *SnapshotStore) Replace(items map[string]any, resourceVersion string) {
	s.exchange(resourceVersion, len(items), func(put func(string, any)) {
		for key, obj := range items {
			put(key, obj)
		}
	})
}

// replacePairs is Replace by a list; of equal keys the last counts.
func (s *SnapshotStore) replacePairs(keys []string, objs []any, resourceVersion string) {
	s.exchange(resourceVersion, len(keys), func(put func(string, any)) {
		for i, key := range keys {
			put(key, objs[i])
		}
	})
}

// exchange builds a store of its own outside the locks, where nobody waits for
// it, and takes over its contents.
func (s *SnapshotStore) exchange(rv string, size int, fill func(put func(string, any))) {
	var d *contents
	s.write(func(sc *schema) {
		next := newSnapshotStore(s.seed, sc)
		next.begin()
		d = next.data.Load()
		for i := range d.stripes {
			d.stripes[i].table.Store(newSlotTable(room(size / stripeCount)))
		}
		var buf [][]string
		fill(func(key string, obj any) {
			buf = sc.values(buf[:0], key, obj)
			next.put(d, next.hash(key), key, obj, buf)
		})
	})
	// Its dates begin at 1, which is before or at any snapshot to come.
	s.data.Store(d)
	s.rv = rv
	s.end()
}

// AddIndexers adds indexers, with entries for what is stored. A name that the
// store has already is an error, and nothing changes.
func (s *SnapshotStore) AddIndexers(added cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	indexers, err := merged(s.schema.Load().indexers, added)
	if err != nil {
		return err
	}
	// The old indices are built again too, in the rows' new width. Values first:
	// an index function may panic.
	sc := newSchema(indexers)
	d := s.data.Load()
	vals := make([][]string, 0, d.rows.n*len(sc.names))
	for slot := range uint32(d.rows.n) {
		r := d.rows.at(slot)
		vals = sc.values(vals, r.key, r.obj)
	}
	s.begin()
	s.schema.Store(sc)
	d.setIndices(sc)
	for slot := range uint32(d.rows.n) {
		for range d.indices {
			d.refs.push(ref{id: noValue}, &s.clock)
		}
		for _, x := range d.indices {
			x.update(slot, vals[0], &d.refs, &s.clock)
			vals = vals[1:]
		}
	}
	return nil
}

// Resync does nothing, as upstream's.
func (s *SnapshotStore) Resync() error { return nil }
