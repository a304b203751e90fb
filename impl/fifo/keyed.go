package fifo

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
)

// A keyed is a FIFO of slots that are found by key.
//
// Invariant: the index has one position for each distinct key in the slots.
type keyed[V any] struct {
	slots slots[slot[V]]
	index index
	seed  maphash.Seed
}

// A slot is a key and its value. The value must be cleared before the slot is
// dropped; a pushed slot has the value that the last user of its memory left.
type slot[V any] struct {
	tag   uint32
	start uint32 // where the key begins in its segment's keys
	size  uint32
	value V
}

// tag is the part of a key's hash that finds it. It needs no lock.
func (k *keyed[V]) tag(key []byte) uint32 { return tagOf(maphash.Bytes(k.seed, key)) }

// key is the key at a position.
func (k *keyed[V]) key(at position) []byte {
	segment := k.slots.segment(at)
	s := &segment.slots[at%segmentLen]
	return segment.keys[s.start : s.start+s.size]
}

// find is the position of a key; nil if it is not there.
func (k *keyed[V]) find(tag uint32, key []byte) (position, *slot[V]) {
	if k.index.used == 0 {
		return 0, nil
	}
	for i := k.index.home(tag); ; i = k.index.next(i) {
		c := k.index.cells[i]
		if c.tag == 0 {
			return 0, nil
		}
		if c.tag == tag {
			segment := k.slots.segment(c.at)
			if s := &segment.slots[c.at%segmentLen]; string(segment.keys[s.start:s.start+s.size]) == string(key) {
				return c.at, s
			}
		}
	}
}

// push adds a key that is not there.
func (k *keyed[V]) push(tag uint32, key []byte) *slot[V] {
	p, s := k.pushUnindexed(tag, key)
	k.index.add(tag, p)
	return s
}

// pushUnindexed adds a slot that find does not see.
func (k *keyed[V]) pushUnindexed(tag uint32, key []byte) (position, *slot[V]) {
	p, segment := k.slots.push()
	s := &segment.slots[p%segmentLen]
	s.tag, s.start, s.size = tag, uint32(len(segment.keys)), uint32(len(key))
	if segment.keys == nil {
		segment.keys = make([]byte, 0, segmentLen*(len(key)+len(key)/8)) // the others are about as long
	}
	segment.keys = append(segment.keys, key...)
	return p, s
}

// warm reads where keys with these tags may be, as objectkey.Maker.Warm does.
func (k *keyed[V]) warm(tags []uint32) {
	if k.index.used == 0 {
		return
	}
	var slots [objectkey.Block]*slot[V]
	var keys [objectkey.Block][]byte
	for i, tag := range tags {
		// An empty cell holds any position, often one that is gone.
		if at := k.index.cells[k.index.home(tag)].at; at-k.slots.head < k.slots.tail-k.slots.head {
			segment := k.slots.segment(at)
			slots[i], keys[i] = &segment.slots[at%segmentLen], segment.keys
		}
	}
	var sum byte
	for i, s := range slots {
		if s != nil && int(s.start) < len(keys[i]) {
			sum += keys[i][s.start]
		}
	}
	objectkey.Keep(sum)
}
