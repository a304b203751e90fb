package delay

import (
	"hash/maphash"
	"math/bits"
	"reflect"
)

const (
	// chunkLen is the number of entries in a chunk: with 63 of them, entries of 24
	// or 32 bytes and the allocator's own word just fill a size class.
	chunkLen  = 63
	chunkBits = 6
	chunkMask = 1<<chunkBits - 1
	// vacancies is how many chunks without an entry are kept.
	vacancies = 64
	// A small index has so few words that it never shrinks, a middling one doubles.
	smallIndex    = 1 << 12
	middlingIndex = 1 << 16
)

// A table holds the waiting items and what a schedule notes about each, under
// slot numbers. It is made to be filled fast: an entry never moves, and growing
// the index neither reads nor hashes a key.
//
// A word of the index is a hash in its high half and a slot number plus one in
// its low half; zero is free. The hash scaled to the length of the index is a
// word's home, and the word is there or behind it without a free word between.
// Homes keep the order of hashes, so growing copies from front to back.
//
// Invariant: every item that equals itself has one word in the index, and at
// least a quarter of the words are free. A chunk has memory or is in open; every
// chunk with a free slot is current or in open, once.
type table[T comparable, V any] struct {
	index []uint64
	live  int // items
	words int // of the index that are not free: fewer where items differ from themselves

	chunks  []*entries[T, V]
	free    []uint64 // by chunk, a bit for each free slot
	current uint32
	open    []uint32
	vacant  int // chunks in open that have memory and no item

	hashes []uint32 // of removeAll

	seed maphash.Seed
	// irreflexive tells that an item may differ from itself, as NaN does. Such
	// an item is never found again, but it waits.
	irreflexive bool
}

// entries are the entries of a chunk. Values hold no pointers and come last, so
// the collector does not look at them.
type entries[T comparable, V any] struct {
	items  [chunkLen]T
	values [chunkLen]V
}

func newTable[T comparable, V any]() table[T, V] {
	return table[T, V]{seed: maphash.MakeSeed(), irreflexive: mayDifferFromItself(reflect.TypeFor[T]())}
}

// hash needs no lock. It panics when T is an interface type and the item's
// dynamic type is not comparable.
func (t *table[T, V]) hash(item T) uint32 { return uint32(maphash.Comparable(t.seed, item)) }

func (t *table[T, V]) item(slot uint32) T {
	return t.chunks[slot>>chunkBits].items[slot&chunkMask]
}

func (t *table[T, V]) value(slot uint32) *V {
	return &t.chunks[slot>>chunkBits].values[slot&chunkMask]
}

// holds tells whether there is an item in slot, which may be an old number.
func (t *table[T, V]) holds(slot uint32) bool {
	c := slot >> chunkBits
	return c < uint32(len(t.free)) && t.free[c]>>(slot&chunkMask)&1 == 0
}

// enter finds the slot of an item, or makes one whose value is anything.
func (t *table[T, V]) enter(hash uint32, item T) (slot uint32, found bool) {
	if t.words >= len(t.index)-len(t.index)/4 {
		t.resize(grown(len(t.index)))
	}
	index := t.index
	i := home(hash, len(index))
	for {
		word := index[i]
		if word == 0 {
			break
		}
		if uint32(word>>32) == hash {
			slot := uint32(word) - 1
			if t.item(slot) == item {
				return slot, true
			}
		}
		if i++; i == len(index) {
			i = 0
		}
	}
	slot = t.take()
	t.chunks[slot>>chunkBits].items[slot&chunkMask] = item
	t.live++
	if !t.irreflexive || item == item {
		index[i] = uint64(hash)<<32 | uint64(slot+1)
		t.words++
	}
	return slot, false
}

// remove removes the item in slot.
func (t *table[T, V]) remove(hash uint32, slot uint32) {
	if !t.irreflexive || t.item(slot) == t.item(slot) {
		t.unindex(hash, slot)
		t.words--
	}
	t.release(slot)
	t.live--
	switch n := len(t.index); {
	case n <= smallIndex:
	case t.live == 0: // a burst is over
		t.drop()
	case t.words < n/8:
		t.resize(n / 4)
	}
}

// removeAll removes the items in slots and appends them to into. Each pass is a
// short loop of independent memory accesses: in a large table each of them
// misses the cache, and so they overlap.
func (t *table[T, V]) removeAll(slots []uint32, into []T) []T {
	from := len(into)
	for _, slot := range slots {
		into = append(into, t.item(slot))
	}
	t.hashes = t.hashes[:0]
	for _, item := range into[from:] {
		t.hashes = append(t.hashes, t.hash(item))
	}
	for i, slot := range slots {
		t.remove(t.hashes[i], slot)
	}
	return into
}

// drop removes everything.
func (t *table[T, V]) drop() {
	t.index, t.live, t.words = nil, 0, 0
	t.chunks, t.free, t.current, t.open, t.vacant = nil, nil, 0, nil, 0
}

func home(hash uint32, n int) int { return int(uint64(hash) * uint64(n) >> 32) }

// grown is the size after n. Steps of 3/2 and 4/3 in turn keep a large index at
// least half full.
func grown(n int) int {
	switch {
	case n == 0:
		return 16
	case n <= smallIndex:
		return 4 * n
	case n < middlingIndex:
		return 2 * n
	case n&(n-1) == 0:
		return n + n/2
	default:
		return n + n/3
	}
}

func (t *table[T, V]) resize(n int) {
	index := make([]uint64, n)
	for _, word := range t.index {
		if word == 0 {
			continue
		}
		i := home(uint32(word>>32), n)
		for index[i] != 0 {
			if i++; i == n {
				i = 0
			}
		}
		index[i] = word
	}
	t.index = index
}

// unindex frees the word of a slot and moves later words up, so that none is
// cut off from its home.
func (t *table[T, V]) unindex(hash, slot uint32) {
	index := t.index
	n := len(index)
	i, word := home(hash, n), uint64(hash)<<32|uint64(slot+1)
	for index[i] != word {
		if i++; i == n {
			i = 0
		}
	}
	for j := i; ; {
		if j++; j == n {
			j = 0
		}
		word := index[j]
		if word == 0 {
			break
		}
		// The word at j may move to i unless its home lies behind i.
		fromHome, fromFree := j-home(uint32(word>>32), n), j-i
		if fromHome < 0 {
			fromHome += n
		}
		if fromFree < 0 {
			fromFree += n
		}
		if fromHome >= fromFree {
			index[i] = word
			i = j
		}
	}
	index[i] = 0
}

// take occupies a free slot.
func (t *table[T, V]) take() uint32 {
	c := t.current
	if c >= uint32(len(t.free)) || t.free[c] == 0 {
		c = t.advance()
	}
	free := t.free[c]
	t.free[c] = free & (free - 1)
	return c<<chunkBits | uint32(bits.TrailingZeros64(free))
}

const allFree = 1<<chunkLen - 1

// advance makes a chunk with a free slot current.
func (t *table[T, V]) advance() uint32 {
	if last := len(t.open) - 1; last >= 0 {
		t.current = t.open[last]
		t.open = t.open[:last]
	} else {
		t.current = uint32(len(t.chunks))
		t.chunks = append(t.chunks, nil)
		t.free = append(t.free, allFree)
	}
	if c := t.current; t.chunks[c] == nil {
		t.chunks[c] = new(entries[T, V])
	} else if t.free[c] == allFree {
		t.vacant--
	}
	return t.current
}

// release frees a slot, keeps nothing alive that its item referred to, and
// gives memory back.
func (t *table[T, V]) release(slot uint32) {
	c := slot >> chunkBits
	var none T
	t.chunks[c].items[slot&chunkMask] = none
	free := t.free[c]
	t.free[c] = free | 1<<(slot&chunkMask)
	if c == t.current {
		return
	}
	if free == 0 {
		t.open = append(t.open, c)
	}
	if t.free[c] == allFree {
		if t.vacant < vacancies {
			t.vacant++
		} else {
			t.chunks[c] = nil
		}
	}
}

// mayDifferFromItself tells whether a value of type t may be unequal to itself.
func mayDifferFromItself(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Interface:
		return true
	case reflect.Array:
		return mayDifferFromItself(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if mayDifferFromItself(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
