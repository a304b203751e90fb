// Package keytable finds the entry of a key: a hash index of 32-bit slot
// numbers over a slab of keys and values. Queues, heaps and lists keep the slot
// number (4 bytes) instead of the key, so that a key is hashed and stored once.
//
//  1. Hash the key; this needs no lock, the seed never changes.
//  2. Find its slot, or Insert it; a new value is the zero V.
//  3. At(slot) is the value and Key(slot) the key, until
//  4. Remove(slot) clears the slot and gives it back.
//
// Nothing is allocated while the number of keys stays within its usual range;
// growth is amortised, and after a burst the memory is given back. The seed is
// random per table, so no input can force collisions. A Table is not safe for
// concurrent use, except for Hash.
package keytable

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"reflect"
	"sync/atomic"
)

// MaxSlot is the largest slot number, which leaves a user of slot numbers two
// bits of a uint32 for its own flags.
const MaxSlot = 1<<30 - 2

// A Table maps keys to values of type V. Use New to make one, or Init where it
// is a part of something else, which saves a pointer.
//
// Invariant: while the table is small, every key is in one of the slab's first
// slots and the index is empty; else each occupied slot whose key equals itself
// is referred to in the index, within reach of a probe from the key's home group.
//
// A key that does not equal itself (NaN, or a struct or interface that holds
// one) can be inserted any number of times and is never found, as in a Go map;
// unlike in a map its slot can still be removed.
type Table[K comparable, V any] struct {
	slab[K, V]
	index
	// small tells that every key is in the slab's first slots, which are searched
	// without a hash. A table that was emptied is small again, unless it is
	// irreflexive: there, hashing must reject a key that is not comparable.
	small atomic.Bool
	seed  maphash.Seed
	// irreflexive tells that a K may differ from itself.
	irreflexive bool
	// hash replaces maphash in tests that force collisions.
	hash func(K) uint32
}

// New makes an empty table.
func New[K comparable, V any]() *Table[K, V] {
	t := new(Table[K, V])
	t.Init()
	return t
}

// Init makes the zero Table an empty one.
func (t *Table[K, V]) Init() {
	t.seed = maphash.MakeSeed()
	t.irreflexive = mayDifferFromItself(reflect.TypeFor[K]())
	t.Clear()
}

// Clear removes all keys and gives the memory back. The seed stays.
func (t *Table[K, V]) Clear() {
	t.slab, t.index = slab[K, V]{timed: t.timed}, index{}
	t.small.Store(!t.irreflexive)
}

// Hash is the hash of key, as Find and Insert take it. It is safe for
// concurrent use, and zero if the table is so small that no hash is needed;
// should one be needed then all the same, the methods compute it. It panics
// when K is an interface type and key's dynamic type is not comparable, as a Go
// map does.
func (t *Table[K, V]) Hash(key K) uint32 {
	if t.small.Load() {
		return 0
	}
	return t.hashOf(key)
}

// Lazy tells that a hash can be left to the methods, by passing zero: computing
// it never panics.
func (t *Table[K, V]) Lazy() bool { return !t.irreflexive }

func (t *Table[K, V]) hashOf(key K) uint32 {
	if t.hash != nil {
		return t.hash(key)
	}
	return uint32(maphash.Comparable(t.seed, key))
}

// Len is the number of keys.
func (t *Table[K, V]) Len() int { return t.live + bits.OnesCount32(t.few) }

// Find returns the slot of key.
func (t *Table[K, V]) Find(hash uint32, key K) (slot uint32, ok bool) {
	if t.small.Load() {
		for few := t.few; few != 0; few &= few - 1 {
			slot = uint32(bits.TrailingZeros32(few)) % blockLen
			if t.first.keys[slot] == key {
				return slot, true
			}
		}
		return 0, false
	}
	if len(t.groups) == 0 {
		return 0, false
	}
	if hash == 0 {
		hash = t.hashOf(key)
	}
	// A reference has the hash bits that the slot number leaves free, so an unequal
	// key is rarely looked at (a cache miss in a large table).
	want, low, tag := t.reference(hash, 0), t.slotMask, tagOf(hash)
	home := t.home(hash)
	for g := home; ; {
		group := &t.groups[g]
		for m := group.match(tag); m != 0; m &= m - 1 {
			if ref := group.refs[at(m)]; ref^want <= low {
				slot = ref&low - 1
				if t.blocks[slot/blockLen].chunk.keys[slot%blockLen] == key {
					return slot, true
				}
			}
		}
		if group.counts < onePassed {
			return 0, false
		}
		if g++; g == uint32(len(t.groups)) {
			g = 0
		}
		if g == home { // references passed over every group at some time
			return 0, false
		}
	}
}

// Insert adds a key that is not in the table and returns its slot, whose value
// is the zero V.
func (t *Table[K, V]) Insert(hash uint32, key K) (slot uint32) {
	if t.small.Load() {
		if t.first == nil {
			t.open()
		}
		if t.few != allFew {
			return t.takeFew(key)
		}
		t.enlarge()
	} else if t.first == nil {
		t.open()
	}
	if hash == 0 {
		hash = t.hashOf(key)
	}
	slot = t.take()
	chunk := t.blocks[slot/blockLen].chunk
	chunk.keys[slot%blockLen] = key
	chunk.hashes[slot%blockLen] = hash
	if t.irreflexive && key != key {
		return slot
	}
	if t.used >= t.limit || slot >= t.slotMask {
		t.rebuild(grow(len(t.groups), t.used))
		return slot // rebuild indexed the new slot too
	}
	t.refer(hash, slot)
	return slot
}

// Enter is Find and, where that finds nothing, Insert.
func (t *Table[K, V]) Enter(hash uint32, key K) (slot uint32, found bool) {
	if t.small.Load() {
		for few := t.few; few != 0; few &= few - 1 {
			slot = uint32(bits.TrailingZeros32(few)) % blockLen
			if t.first.keys[slot] == key {
				return slot, true
			}
		}
		if t.few == allFew || t.first == nil {
			return t.Insert(hash, key), false
		}
		return t.takeFew(key), false
	}
	if hash == 0 || t.used >= t.limit {
		return t.enter(hash, key)
	}
	// Mostly the home group tells all and has room: one look at it does for both.
	want, low, tag := t.reference(hash, 0), t.slotMask, tagOf(hash)
	group := &t.groups[t.home(hash)]
	for m := group.match(tag); m != 0; m &= m - 1 {
		if ref := group.refs[at(m)]; ref^want <= low {
			slot = ref&low - 1
			if t.blocks[slot/blockLen].chunk.keys[slot%blockLen] == key {
				return slot, true
			}
		}
	}
	n := group.counts
	if n >= groupLen || t.irreflexive && key != key { // full, or passed over, or not to be indexed
		return t.enter(hash, key)
	}
	slot = t.take()
	chunk := t.blocks[slot/blockLen].chunk
	chunk.keys[slot%blockLen] = key
	chunk.hashes[slot%blockLen] = hash
	if slot >= low {
		t.rebuild(len(t.groups)) // for wider slot numbers, and the new slot too
		return slot, false
	}
	t.used++
	group.tags[n], group.refs[n] = tag, want|(slot+1)
	group.counts++
	return slot, false
}

// enter is Enter in two steps.
func (t *Table[K, V]) enter(hash uint32, key K) (slot uint32, found bool) {
	if slot, found = t.Find(hash, key); !found {
		slot = t.Insert(hash, key)
	}
	return slot, found
}

// enlarge makes a small table one that is not. The index that it had before, if
// any, was emptied reference by reference and can be used as it is.
func (t *Table[K, V]) enlarge() {
	t.small.Store(false)
	for slot := range fewLen {
		t.first.hashes[slot] = t.hashOf(t.first.keys[slot])
	}
	if len(t.groups) == 0 {
		t.rebuild(1)
		return
	}
	for slot := range uint32(fewLen) {
		t.refer(t.first.hashes[slot], slot)
	}
}

// Remove removes the key in slot.
func (t *Table[K, V]) Remove(slot uint32) {
	if t.small.Load() {
		t.releaseFew(slot)
		return
	}
	chunk := t.blocks[slot/blockLen].chunk
	if !t.irreflexive || chunk.keys[slot%blockLen] == chunk.keys[slot%blockLen] {
		t.forget(chunk.hashes[slot%blockLen], slot)
	}
	if slot < fewLen {
		t.releaseFew(slot)
	} else {
		t.release(slot)
	}
	if t.used < len(t.groups)*minMean && len(t.groups) > minGroups {
		t.rebuild(shrink(t.used))
	}
	if t.used == 0 && !t.irreflexive {
		t.small.Store(true)
	}
}

// All yields the occupied slots and their values, in order of slot number. The
// loop must not insert or remove keys.
func (t *Table[K, V]) All() iter.Seq2[uint32, *V] {
	return func(yield func(uint32, *V) bool) {
		for b := range t.blocks {
			for taken := t.taken(b); taken != 0; taken &= taken - 1 {
				i := bits.TrailingZeros64(taken)
				if !yield(uint32(b*blockLen+i), &t.blocks[b].chunk.values[i]) {
					return
				}
			}
		}
	}
}

// rebuild indexes every key again in an index of n groups. It walks the slab in
// order, so the hashes are read sequentially.
func (t *Table[K, V]) rebuild(n int) {
	slots := len(t.blocks) * blockLen
	t.index.reset(n, slots)
	for b := range t.blocks {
		block := &t.blocks[b]
		for taken := t.taken(b); taken != 0; taken &= taken - 1 {
			i := bits.TrailingZeros64(taken)
			if t.irreflexive && block.chunk.keys[i] != block.chunk.keys[i] {
				continue
			}
			t.refer(block.chunk.hashes[i], uint32(b*blockLen+i))
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
