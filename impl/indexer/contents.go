package indexer

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// contents is what Get needs and Replace exchanges: the objects, and tables that lead
// to them.
type contents struct {
	stripes []stripe
	*objects
}

// A stripe is the keys whose hashes begin alike. Its lock guards its table and the
// items that the table leads to, so that Get, which takes no other lock, and a write
// meet only if their keys are of one stripe. Writers hold the store's lock too, and
// keep a stripe until the write is done.
type stripe struct {
	mu    sync.Mutex
	stale bool // others have taken the place of these contents
	table table
}

// fewObjects is how many objects one stripe is enough for. More get manyStripes: the
// bits of a word, so that a set of stripes is a word.
const (
	fewObjects  = 256
	manyStripes = 64
)

// objects are the objects in slots 0…n-1. A deletion leaves its slot as a hole for
// the next new object; when a second one would be, the last object moves there. So
// lists are copied leaf by leaf and memory follows the number of objects.
//
// Invariant: each item but that in the hole is found by its key, and each index has
// its object's values.
type objects struct {
	items   vector[item]
	hole    uint32 // one more than the slot that has no object, 0 if each has one
	indices []*index
}

type item struct {
	key string
	obj any
}

// newContents makes contents with room for n objects.
func newContents(indices, n int) *contents {
	o := &objects{indices: make([]*index, indices)}
	o.items.reserve(n)
	for i := range o.indices {
		o.indices[i] = &index{}
		o.indices[i].refs.reserve(n)
	}
	return &contents{newStripes(n), o}
}

func newStripes(n int) []stripe {
	stripes := make([]stripe, 1)
	if n > fewObjects {
		stripes = make([]stripe, manyStripes)
	}
	for i := range stripes {
		stripes[i].table = newTable(n / len(stripes))
	}
	return stripes
}

// stripeOf is the number of a hash's stripe.
func (c *contents) stripeOf(h uint64) int { return int(h>>(64-6)) & (len(c.stripes) - 1) }

// count is the number of objects.
func (o *objects) count() int {
	if o.hole != 0 {
		return o.items.n - 1
	}
	return o.items.n
}

// find is the slot of key and what is stored there, for who holds the stripe's lock
// or the store's.
func find[K keyBytes](c *contents, h uint64, key K) (uint32, *item) {
	t := c.stripes[c.stripeOf(h)].table
	if t.used == 0 {
		return 0, nil
	}
	for i := t.home(h << 32); ; i = t.after(i) {
		entry := t.entries[i]
		if entry == 0 {
			return 0, nil
		}
		if uint32(entry>>32) != uint32(h) {
			continue
		}
		slot := slotOf(entry)
		if it := c.items.at(slot); it.key == string(key) {
			return slot, it
		}
	}
}

// A writing is a write under way.
type writing struct {
	moment
	*contents
	held    uint64 // the stripes that are locked until the end
	private bool   // nobody else knows the contents yet
	seed    maphash.Seed
}

// hold locks the stripe of a hash.
func (w *writing) hold(h uint64) *table {
	s := w.stripeOf(h)
	if bit := uint64(1) << s; w.held&bit == 0 && !w.private {
		w.held |= bit
		w.stripes[s].mu.Lock()
	}
	return &w.stripes[s].table
}

// release unlocks what hold locked.
func (w *writing) release() {
	for ; w.held != 0; w.held &= w.held - 1 {
		w.stripes[bits.TrailingZeros64(w.held)].mu.Unlock()
	}
}

// put stores obj, which has vals, under key.
func put[K keyBytes](w *writing, h uint64, key K, obj any, vals [][]string) {
	slot, found := find(w.contents, h, key)
	isNew := found == nil
	if isNew {
		slot = w.newSlot()
	}
	for i, x := range w.indices {
		x.update(slot, vals[i], w.moment)
	}
	it := w.items.own(slot, w.moment)
	if isNew {
		kept := string(key)
		w.hold(h).insert(entryOf(h, slot))
		it.key = kept
	} else {
		w.hold(h)
	}
	it.obj = obj
}

// newSlot is a slot without an object.
func (w *writing) newSlot() uint32 {
	if slot := w.hole; slot != 0 {
		w.hole = 0
		return slot - 1
	}
	w.items.push(w.moment)
	for _, x := range w.indices {
		x.grow(w.moment)
	}
	return uint32(w.items.n - 1)
}

// remove removes the object of key, if there is one.
func remove[K keyBytes](w *writing, h uint64, key K) {
	slot, it := find(w.contents, h, key)
	if it == nil {
		return
	}
	for _, x := range w.indices {
		x.update(slot, nil, w.moment)
	}
	it = w.items.own(slot, w.moment)
	w.hold(h).remove(entryOf(h, slot))
	*it = item{}
	last := uint32(w.items.n - 1)
	switch {
	case w.hole == 0:
		w.hole = slot + 1
		return
	case w.hole-1 == last:
		w.hole = slot + 1
	case slot != last:
		w.move(last, slot)
	}
	w.items.cut()
	for _, x := range w.indices {
		x.cut(w.moment)
	}
}

// move moves an object to a slot that has none.
func (w *writing) move(from, to uint32) {
	source, target := w.items.own(from, w.moment), w.items.own(to, w.moment)
	h := maphash.String(w.seed, source.key)
	w.hold(h).replace(entryOf(h, from), entryOf(h, to))
	*target, *source = *source, item{}
	for _, x := range w.indices {
		x.relocate(from, to, w.moment)
	}
}
