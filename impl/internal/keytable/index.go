package keytable

import "math/bits"

const (
	// A group is one cache line: groupLen references and a word of counts.
	groupLen = 15
	// onePassed is one in the upper count of that word.
	onePassed = 1 << 4
	// The index grows when a group holds more than maxMean references on
	// average and shrinks below minMean. Below sparseGroups (16 KB) memory is not
	// worth a longer search, so there it grows at sparseMean.
	maxMean      = 13
	minMean      = 1
	sparseMean   = 6
	sparseGroups = 256
	// minGroups is the least number of groups that is worth shrinking to: 32 KB,
	// room for 6,656 keys.
	minGroups = 512
)

// A group holds references packed to its front, then zeros. A reference is a
// slot number plus one in the low bits (slotMask) and a tag of hash bits above.
// The last word counts the references here in its low four bits, so that adding
// and removing one needs no scan for the end, and above them the references
// whose probe passed over this group: when those are none, a search ends here.
// So removal needs neither tombstones nor the hashes of the neighbours.
type group [groupLen + 1]uint32

// An index is a hash table of slot numbers. The high bits of a hash choose the
// home group, the low ones are the tag.
type index struct {
	groups   []group
	slotMask uint32
	used     int // references
	limit    int // references at which it must grow
	// found is where in its group the last search found its reference: that one
	// is often the next to be removed. It may be outdated.
	found int
}

// home is the first group to probe: the hash scaled to the number of groups,
// which need not be a power of two.
func (x *index) home(hash uint32) uint32 {
	return uint32(uint64(hash) * uint64(len(x.groups)) >> 32)
}

// reference is the tag of a hash with a number below it.
func (x *index) reference(hash, number uint32) uint32 {
	return hash*(x.slotMask+1) | number
}

// refer adds a reference to slot. There is always room: maxMean < groupLen.
func (x *index) refer(hash uint32, slot uint32) {
	ref := x.reference(hash, slot+1)
	x.used++
	for g := x.home(hash); ; {
		group := &x.groups[g]
		if n := group[groupLen] % onePassed; n < groupLen {
			group[n] = ref
			group[groupLen]++
			return
		}
		group[groupLen] += onePassed
		if g++; g == uint32(len(x.groups)) {
			g = 0
		}
	}
}

// forget removes the reference to slot.
func (x *index) forget(hash uint32, slot uint32) {
	ref := x.reference(hash, slot+1)
	x.used--
	for g := x.home(hash); ; {
		group := &x.groups[g]
		i := x.found % (groupLen + 1)
		if group[i] != ref || i == groupLen {
			for i = 0; i < groupLen && group[i] != ref; i++ {
			}
		}
		if i < groupLen {
			last := group[groupLen]%onePassed - 1
			group[i] = group[last%groupLen]
			group[last%groupLen] = 0
			group[groupLen]--
			return
		}
		group[groupLen] -= onePassed
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

// grow is the next size for an index of n groups that holds used references.
// Steps of alternately 4/3 and 3/2 keep a large index at least two thirds as
// full as it may be; a small one grows fast, for building it again is a good part
// of filling it.
func grow(n, used int) int {
	switch {
	case used < limit(n): // built again for wider slot numbers only
		return n
	case n == 0:
		return 1
	case n < 1024:
		return 4 * n
	case n&(n-1) == 0:
		return n + n/2
	default:
		return n + n/3
	}
}

// shrink is the size for an index that lost most of its references and now
// holds used: a power of two that is a sixth to a third full.
func shrink(used int) int {
	return max(minGroups, 1<<bits.Len(uint(used/(maxMean/3))))
}
