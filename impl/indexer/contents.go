package indexer

import (
	"sync/atomic"
	"unsafe"
)

// contents is what Replace exchanges. Its stripes lie behind it, to save Get a step:
// one while the objects are few, which share a small table, or stripeCount.
type contents struct {
	objs    vector[any]
	stripes uint64  // their number less one
	indices []index // in the schema's order
	peak    int     // the most objects there have been
	free    uint32  // one more than the slot that has no object, 0 if each has one
	keys    keyColumn
	refs    refTable
}

// stripeCount is the number of stripes of many objects: the bits of a word, so that
// a set of stripes is a word.
const stripeCount = 64

// fewChunks is the size that a single stripe's table does not outgrow, which is for
// some two hundred objects.
const fewChunks = 31

// A stripe's table lies in the stripe; the sequence number is odd while another
// takes its place.
type stripe struct {
	seq   atomic.Uint64
	table slotTable
}

// newContents makes contents for about size objects.
func newContents(size int) *contents {
	if float64(size) <= fewChunks*fullest {
		few := &struct {
			contents
			one  [1]stripe
			objs oneLeaf[any]
			data oneLeaf[unsafe.Pointer]
			lens oneLeaf[uint8]
		}{}
		few.one[0].table = newSlotTable(room(size, 1))
		d := &few.contents
		d.objs.leaves, d.keys.data.leaves, d.keys.lens.leaves = few.objs.slice(), few.data.slice(), few.lens.slice()
		return d
	}
	many := &struct {
		contents
		all [stripeCount]stripe
	}{}
	many.contents.stripes = stripeCount - 1
	for i := range many.all {
		many.all[i].table = newSlotTable(room(size, stripeCount))
	}
	return &many.contents
}

func (d *contents) setIndices(sc *schema) {
	d.refs = refTable{columns: len(*sc)}
	d.indices = make([]index, len(*sc))
	for i, x := range *sc {
		d.indices[i] = index{column: i, fn: x.fn, ids: map[string]uint32{}}
	}
}

// stripeOf is the number of a hash's stripe.
func (d *contents) stripeOf(h uint64) uint64 { return h >> (64 - 6) & d.stripes }

func (d *contents) numbered(i uint64) *stripe {
	return (*stripe)(unsafe.Add(unsafe.Pointer(d), unsafe.Sizeof(contents{})+uintptr(i)*unsafe.Sizeof(stripe{})))
}

func (d *contents) stripe(h uint64) *stripe { return d.numbered(d.stripeOf(h)) }

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

// enter enters an object, which is in none of the indices and has vals.
func (d *contents) enter(slot uint32, vals [][]string, c *clock) {
	for i := range d.indices {
		d.indices[i].update(slot, vals[i], &d.refs, c)
	}
}

// pass is called when no entry leads from h to a slot any more, and before the slot
// is used for anything else: a Get that has seen the entry finds the number changed,
// one that begins now does not see it. It takes half as long as disturb with end.
func (d *contents) pass(h uint64) { d.stripe(h).seq.Add(2) }
