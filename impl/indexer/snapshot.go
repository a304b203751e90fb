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
//   - Each key belongs to a stripe by its hash. A stripe's lock guards its table
//     and the slots of its keys, so Get takes that lock alone. Only who holds mu
//     takes a stripe's lock for writing; a transaction holds all the stripes that
//     it writes to until its end, as Get must see one moment too.
//   - A deletion moves the last object into the free slot. So a list is a few
//     large copies, memory shrinks with the number of objects, and an index
//     finds and removes a member by its position.
//
// Index functions and the key function run outside the locks (AddIndexers
// excepted), so they may read the store.
type SnapshotStore struct {
	seed    maphash.Seed
	stripes [stripeCount]stripe

	mu     spinMutex
	schema atomic.Pointer[schema] // written under mu
	held   uint64                 // the stripes that the write under way has locked
	clock  clock
	contents
	rv string
}

type stripe struct {
	mu spinRWMutex
	slotTable
	_ [8]byte // one cache line a stripe
}

// contents is what Replace exchanges, besides the stripes' tables.
type contents struct {
	objs    vector[any]
	keys    vector[string]
	refs    refTable
	indices []*index // in the schema's order
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
	s.setIndices(sc)
	return s
}

func (s *SnapshotStore) setIndices(sc *schema) {
	s.indices = nil
	for i, name := range sc.names {
		s.indices = append(s.indices, newIndex(i, sc.indexers[name]))
	}
	s.refs = refTable{columns: len(sc.names)}
}

func (s *SnapshotStore) hash(key string) uint64 { return maphash.String(s.seed, key) }

func (s *SnapshotStore) stripe(h uint64) *stripe { return &s.stripes[h/(1<<58)] }

// begin starts a write; the caller holds mu.
func (s *SnapshotStore) begin() {
	s.clock.now++
	s.clock.quiet = s.clock.live.Load() == 0
}

// lockStripe locks the stripe of h for the rest of the write.
func (s *SnapshotStore) lockStripe(h uint64) {
	if bit := uint64(1) << (h / (1 << 58)); s.held&bit == 0 {
		s.held |= bit
		s.stripe(h).mu.Lock()
	}
}

// end ends the write and lets go of the stripes and mu.
func (s *SnapshotStore) end() {
	for m := s.held; m != 0; m &= m - 1 {
		s.stripes[bits.TrailingZeros64(m)].mu.Unlock()
	}
	s.held = 0
	s.mu.Unlock()
}

// put stores obj, which has vals. The caller is in a write.
func (s *SnapshotStore) put(h uint64, key string, obj any, vals [][]string) {
	st := s.stripe(h)
	slot, ok := st.find(h, key, &s.keys)
	if !ok {
		slot = uint32(s.objs.n)
		s.keys.push(key, &s.clock)
		s.objs.push(obj, &s.clock)
		for range s.indices {
			s.refs.push(ref{id: noValue}, &s.clock)
		}
	}
	for i, x := range s.indices {
		x.update(slot, vals[i], &s.refs, &s.clock)
	}
	if ok {
		place := s.objs.own(slot, &s.clock)
		s.lockStripe(h)
		*place = obj
	} else {
		s.lockStripe(h)
		st.insert(h, slot)
	}
}

// remove removes the object of key, if there is one. The caller is in a write.
func (s *SnapshotStore) remove(h uint64, key string) {
	st, c := s.stripe(h), &s.clock
	slot, ok := st.find(h, key, &s.keys)
	if !ok {
		return
	}
	for _, x := range s.indices {
		x.update(slot, nil, &s.refs, c)
	}
	s.lockStripe(h)
	st.slotTable.remove(h, slot)
	if last := uint32(s.objs.n - 1); slot != last {
		s.relocate(last, slot)
	}
	s.keys.pop(c)
	s.objs.pop(c)
	for range s.indices {
		s.refs.pop(c)
	}
}

func (s *SnapshotStore) relocate(from, to uint32) {
	c, key := &s.clock, s.keys.at(from)
	h := s.hash(key)
	s.lockStripe(h)
	s.stripe(h).move(h, from, to)
	s.keys.set(to, key, c)
	s.objs.set(to, s.objs.at(from), c)
	for _, x := range s.indices {
		x.relocate(from, to, &s.refs, c)
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
	s.put(h, key, obj, vals)
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
	s.remove(h, key)
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
	for _, h := range hashes {
		s.lockStripe(h)
	}
	for i, txn := range txns {
		switch txn.Type {
		case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
			s.put(hashes[i], txn.Key, txn.Object, vals[i*columns:(i+1)*columns])
		case cache.TransactionTypeDelete:
			s.remove(hashes[i], txn.Key)
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
	var next *SnapshotStore
	s.write(func(sc *schema) {
		next = newSnapshotStore(s.seed, sc)
		next.held = ^uint64(0) // nobody else knows it: there is nothing to lock
		next.begin()
		for i := range next.stripes {
			next.stripes[i].reserve(size / stripeCount)
		}
		var buf [][]string
		fill(func(key string, obj any) {
			buf = sc.values(buf[:0], key, obj)
			next.put(next.hash(key), key, obj, buf)
		})
	})
	for i := range s.stripes {
		s.lockStripe(uint64(i) << 58)
	}
	for i := range s.stripes {
		s.stripes[i].slotTable = next.stripes[i].slotTable
	}
	s.contents = next.contents
	s.clock.now++ // the contents are dated 1, this write's number is after that
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
	vals := make([][]string, 0, s.objs.n*len(sc.names))
	for slot := range uint32(s.objs.n) {
		vals = sc.values(vals, s.keys.at(slot), s.objs.at(slot))
	}
	s.begin()
	s.schema.Store(sc)
	s.setIndices(sc)
	for slot := range uint32(s.objs.n) {
		for range s.indices {
			s.refs.push(ref{id: noValue}, &s.clock)
		}
		for _, x := range s.indices {
			x.update(slot, vals[0], &s.refs, &s.clock)
			vals = vals[1:]
		}
	}
	return nil
}

// Resync does nothing, as upstream's.
func (s *SnapshotStore) Resync() error { return nil }
