package keytable

import (
	"encoding/binary"
	"math/bits"
)

const (
	// A group is one cache line: groupLen references, a tag each, and a count.
	groupLen = 12
	// onePassed is one in the upper of a group's counts.
	onePassed = 1 << 4
	// The index grows when a group holds more than maxMean references on
	// average and shrinks below minMean. Below sparseGroups (16 KB) memory is not
	// worth a longer search, so there it grows at sparseMean.
	maxMean      = 10
	minMean      = 1
	sparseMean   = 6
	sparseGroups = 256
	// minGroups is the least number of groups that is worth shrinking to: 32 KB,
	// room for 5,120 keys.
	minGroups = 512
)

// A group holds references packed to its front, then zeros. A reference is a
// slot number plus one in the low bits (slotMask) and hash bits above. Each has
// a tag, a byte of the hash: tags are compared all at once, so that a search has
// no branch that depends on where in the group a key is.
//
// Two counts tell of the references here, so that adding and removing one needs
// no scan for the end, and of those whose probe passed over this group: when
// there are none, a search ends here. So removal needs neither tombstones nor
// the hashes of the neighbours.
type group struct {
	tags   [groupLen]uint8
	counts uint32 // of the references in its low four bits, above of those that passed
	refs   [groupLen]uint32
}

// tagOf is the tag of a hash: none is 0, which an empty place has, or 1, which
// match could take for it.
func tagOf(hash uint32) uint8 { return max(uint8(hash>>8), 2) }

const ones, tops = 0x0101010101010101, 0x8080808080808080

// match finds every reference with a tag, for at, and seldom another one.
func (g *group) match(tag uint8) uint64 {
	low := binary.LittleEndian.Uint64(g.tags[:8]) ^ uint64(tag)*ones
	high := binary.LittleEndian.Uint32(g.tags[8:]) ^ uint32(tag)*(ones>>32)
	return (low-ones)&^low&tops | uint64((high-ones>>32)&^high&(tops>>32))>>1
}

// at is the place of the first reference in what match found. Delete it with m
// &= m-1.
func at(m uint64) int {
	bit := bits.TrailingZeros64(m)
	return bit>>3 | (bit&1^1)<<3
}

// An index is a hash table of slot numbers. The high bits of a hash choose the
// home group, others the tag; the low ones stand beside the slot number.
type index struct {
	groups   []group
	slotMask uint32
	used     int // references
	limit    int // references at which it must grow
}

// home is the first group to probe: the hash scaled to the number of groups,
// which need not be a power of two.
func (x *index) home(hash uint32) uint32 {
	return uint32(uint64(hash) * uint64(len(x.groups)) >> 32)
}

// reference is the low bits of a hash with a number below them.
func (x *index) reference(hash, number uint32) uint32 {
	return hash*(x.slotMask+1) | number
}

// refer adds a reference to slot. There is always room: maxMean < groupLen.
func (x *index) refer(hash uint32, slot uint32) {
	x.used++
	for g := x.home(hash); ; {
		group := &x.groups[g]
		if n := group.counts % onePassed; n < groupLen {
			group.tags[n], group.refs[n] = tagOf(hash), x.reference(hash, slot+1)
			group.counts++
			return
		}
		group.counts += onePassed
		if g++; g == uint32(len(x.groups)) {
			g = 0
		}
	}
}

// forget removes the reference to slot.
func (x *index) forget(hash uint32, slot uint32) {
	ref, tag := x.reference(hash, slot+1), tagOf(hash)
	x.used--
	for g := x.home(hash); ; {
		group := &x.groups[g]
		for m := group.match(tag); m != 0; m &= m - 1 {
			if i := at(m); group.refs[i] == ref {
				group.counts--
				last := group.counts % onePassed % groupLen
				group.tags[i], group.refs[i] = group.tags[last], group.refs[last]
				group.tags[last], group.refs[last] = 0, 0
				return
			}
		}
		group.counts -= onePassed
		if g++; g == uint32(len(x.groups)) {
			g = 0
		}
	}
}

// reset empties the index and gives it n groups and room for slot numbers
// below slots, and some more before it must be built again.
func (x *index) reset(n, slots int) {
	if n == len(x.groups) {
		clear(x.groups)
	} else {
		x.groups = make([]group, n)
	}
	x.slotMask = uint32(1)<<bits.Len(uint(slots+slots/2)) - 1
	x.used = 0
	x.limit = limit(n)
}

// limit is the number of references at which an index of n groups grows.
func limit(n int) int {
	if n < sparseGroups {
		return n * sparseMean
	}
	return n * maxMean
}

// grow is the next size for an index of n groups that holds used references. Steps of
// alternately 4/3 and 3/2, from one power of two to the next, keep a large index at least two thirds
// as full as it may be; a small one grows fast, for building it again is a good
// part of filling it.
func grow(n, used int) int {
	switch {
	case used < limit(n): // built again for wider slot numbers only
		return n
	case n == 0:
		return 1
	case n < 1024:
		return 4 * n
	case n&(n-1) == 0:
		return n + n/3
	default:
		return 1 << bits.Len(uint(n))
	}
}

// shrink is the size for an index that lost most of its references and now
// holds used: a power of two that is a quarter to half full.
func shrink(used int) int {
	return max(minGroups, 1<<bits.Len(uint(used/(groupLen/2))))
}
