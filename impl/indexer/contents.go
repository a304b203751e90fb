package indexer

import (
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
)

// contents is what Replace exchanges. Its stripes lie behind it, to save Get a step:
// one while the objects are few, which share a small table, or stripeCount.
type contents struct {
	objs    vector[any]
	stripes uint64  // their number less one
	indices []index // in the schema's order
	peak    uint32  // the most objects there have been
	free    uint32  // one more than the slot that has no object, 0 if each has one
	keys    keyColumn
	refs    vector[ref] // a row a slot, one ref an index; nobody takes snapshots of it
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

// nothing is the contents of all stores until they are given an object, and is never
// written to.
var nothing = newContents(1, 0)

// contentsFor makes contents for about size objects.
func contentsFor(size int) *contents {
	if float64(size) <= fewChunks*fullest {
		return newContents(1, room(size, 1))
	}
	return newContents(stripeCount, room(size, stripeCount))
}

// newContents makes contents with a table of so many chunks in each stripe.
func newContents(stripes int, chunks uint32) *contents {
	if stripes == 1 {
		few := &struct {
			contents
			one  [1]stripe
			objs oneLeaf[any]
			data oneLeaf[unsafe.Pointer]
			lens oneLeaf[uint8]
		}{}
		few.one[0].table = newSlotTable(chunks)
		d := &few.contents
		d.objs.leaves, d.keys.data.leaves, d.keys.lens.leaves = few.objs.slice(), few.data.slice(), few.lens.slice()
		return d
	}
	many := &striped{}
	many.contents.stripes = stripeCount - 1
	for i := range many.all {
		many.all[i].table = newSlotTable(chunks)
	}
	return &many.contents
}

// striped is contents of many stripes. They lie where those of few do: as far behind as
// their alignment wants.
type striped struct {
	contents
	all [stripeCount]stripe
}

func (d *contents) setIndices(sc *schema) {
	d.refs = vector[ref]{}
	d.indices = make([]index, len(*sc))
	for i, x := range *sc {
		d.indices[i] = index{column: uint32(i), columns: uint32(len(*sc)), fn: x.fn, ids: map[string]uint32{}}
	}
}

// stripeOf is the number of a hash's stripe.
func (d *contents) stripeOf(h uint64) uint64 { return h >> (64 - 6) & d.stripes }

func (d *contents) numbered(i uint64) *stripe {
	return (*stripe)(unsafe.Add(unsafe.Pointer(d), unsafe.Offsetof(striped{}.all)+uintptr(i)*unsafe.Sizeof(stripe{})))
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

// warm reads what find of so many keys, and writes to what it finds, need: each step in
// a loop of its own, so that the cache misses of one key do not wait for those of the
// one before. What is in a few objects' table is in the cache.
func (d *contents) warm(hashes []uint64) {
	if d.objs.n < 1<<14 {
		return
	}
	for _, h := range hashes {
		d.stripe(h).table.touch(h)
	}
	var sum byte
	for _, h := range hashes {
		t := &d.stripe(h).table
		c := t.chunk(t.home(h))
		if m := matches(c.tags, tagOf(h)); m != 0 {
			at := place(m)
			if k := (*byte)(c.keys[at]); k != nil { // that of no bytes may be
				sum += *k
			}
			slot := c.slots[at]
			touch(d.objs.look(slot))
			if n := len(d.indices); n > 0 {
				touch(d.refs.look(slot * uint32(n)))
			}
		}
	}
	objectkey.Keep(sum)
}

// addRow adds refs for an object that is in no index yet.
func (d *contents) addRow(c *clock) {
	for range d.indices {
		d.refs.push(ref{id: noValue}, c)
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
