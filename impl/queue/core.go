package queue

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/informerbench/informerbench/impl/internal/keytable"
)

// A core is the sets of a work queue in one table, without lock or waiting: an
// entry a key, whose state is two bits and whose place in the queue is a link.
//
// Invariant: a key has an entry ⇔ it is dirty or in processing. The entries
// that are dirty and not in processing form the list from head to tail, in
// queue order; length is their number.
//
// E is the entry: plain, or timed for a queue with metrics.
type core[T comparable, E plain | timed] struct {
	table      keytable.Table[T, E]
	head, tail uint32
	length     int

	// last is the entry that was handed out last, or end once it was found again:
	// often the next Done is of that one, and needs no search.
	last uint32
	// prompt tells that the last item was done before another was handed out.
	// While that is so, and lazy tells that hashing can't panic, Done does not hash.
	prompt atomic.Bool
	lazy   bool
}

// A plain entry is a word: dirty and processing in the top bits, the slot of
// the next queued entry below.
type plain struct{ word uint32 }

type timed struct {
	plain
	added, started time.Duration // valid while dirty, while processing
}

const (
	dirty      = 1 << 31
	processing = 1 << 30
	// end is the link of the last entry; slots are smaller.
	end = keytable.MaxSlot + 1
)

// init makes the zero core usable.
func (c *core[T, E]) init() {
	c.table.Init()
	c.head, c.tail, c.last = end, end, end
	c.lazy = c.table.Lazy()
}

// word is the state and link of an entry. Both kinds of entry begin with it; Go
// has no other way to reach a field that all types of a union share.
func (c *core[T, E]) word(slot uint32) *uint32 {
	return (*uint32)(unsafe.Pointer(c.table.At(slot)))
}

// times is the entry of a queue with metrics.
func (c *core[T, E]) times(slot uint32) *timed {
	return (*timed)(unsafe.Pointer(c.table.At(slot)))
}

// mark makes an item dirty that is not, and returns its entry. An item in
// processing will be queued by finish.
func (c *core[T, E]) mark(hash uint32, item T, slot uint32, found bool) uint32 {
	if found {
		*c.word(slot) |= dirty
		return slot
	}
	slot = c.table.Insert(hash, item)
	c.push(slot)
	return slot
}

// push queues an entry.
func (c *core[T, E]) push(slot uint32) {
	*c.word(slot) = dirty | end
	if c.length == 0 {
		c.head = slot
	} else {
		word := c.word(c.tail)
		*word = *word&^end | slot
	}
	c.tail = slot
	c.length++
}

// foresee sets prompt. Call it before pop.
func (c *core[T, E]) foresee() {
	if prompt := c.lazy && c.last == end; prompt != c.prompt.Load() {
		c.prompt.Store(prompt)
	}
}

// pop hands out the entry at the head. There must be one.
func (c *core[T, E]) pop() {
	word := c.word(c.head)
	c.last, c.head = c.head, *word&end
	*word = processing
	c.length--
}

// handed finds the entry of an item in processing, for finish. The hash may be
// zero if prompt was set: then the table makes up for it.
func (c *core[T, E]) handed(hash uint32, item T) (slot uint32, found bool) {
	if slot = c.last; slot != end && c.table.Key(slot) == item {
		c.last = end
		return slot, true
	}
	slot, found = c.table.Find(hash, item)
	return slot, found && *c.word(slot)&processing != 0
}

// finish ends the processing of an entry, and queues it again if it is dirty.
func (c *core[T, E]) finish(slot uint32) {
	if *c.word(slot)&dirty == 0 {
		c.table.Remove(slot)
	} else {
		c.push(slot)
	}
}
