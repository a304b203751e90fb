package indexer

import (
	"slices"

	"k8s.io/client-go/tools/cache"
)

// gatherMax is the number of members up to which a posting is a plain slice.
// Readers of so few copy the objects under the lock, which takes less time than
// the copies that a snapshot causes the writer.
const gatherMax = 32

// A posting is one value of an index and the slots of the objects that have it.
type posting struct {
	value string
	few   []uint32        // the members, while they are few
	many  *vector[uint32] // or the members
}

func (p *posting) len() int {
	if p.many != nil {
		return p.many.n
	}
	return len(p.few)
}

func (p *posting) none() bool { return p == nil }

func (p *posting) at(pos uint32) uint32 {
	if p.many != nil {
		return p.many.at(pos)
	}
	return p.few[pos]
}

func (p *posting) set(pos, slot uint32, c *clock) {
	if p.many != nil {
		p.many.set(pos, slot, c)
		return
	}
	p.few[pos] = slot
}

func (p *posting) push(slot uint32, c *clock) {
	if p.many == nil && len(p.few) < gatherMax {
		p.few = append(p.few, slot)
		return
	}
	if p.many == nil {
		p.many = &vector[uint32]{}
		p.many.n = copy(p.many.fillLeaf(leafLen), p.few)
		p.few = nil
	}
	p.many.push(slot, c)
}

func (p *posting) pop(c *clock) {
	if p.many == nil {
		p.few = p.few[:len(p.few)-1]
		return
	}
	p.many.pop(c)
	if p.many.n <= gatherMax/2 {
		p.few = make([]uint32, 0, gatherMax)
		for i := range p.many.n {
			p.few = append(p.few, p.many.at(uint32(i)))
		}
		p.many = nil
	}
}

// members is the slots of a posting at one moment.
type members struct {
	few  [gatherMax]uint32
	n    int // of few
	many view[uint32]
}

// snapshot is the members now, none if there is no posting.
func (p *posting) snapshot(c *clock) (m members) {
	switch {
	case p == nil:
	case p.many != nil:
		m.many = p.many.snapshot(c)
	default:
		m.n = copy(m.few[:], p.few)
	}
	return m
}

func (m *members) len() int { return m.n + m.many.n }

// all yields the slots.
func (m *members) all(yield func(uint32) bool) {
	for _, slot := range m.few[:m.n] {
		if !yield(slot) {
			return
		}
	}
	for i := 0; i < m.many.n; i += leafLen {
		for _, slot := range m.many.part(i) {
			if !yield(slot) {
				return
			}
		}
	}
}

// A ref says where an object is in an index: member pos of posting id. Two ids
// are taken: noValue, and manyValues for an object whose refs are the index's
// several at pos.
type ref struct{ id, pos uint32 }

const (
	noValue    = ^uint32(0)
	manyValues = noValue - 1
)

// refs is an object's refs to its several values.
type refs []ref

func (r refs) none() bool { return r == nil }

// An index is the postings of one index function.
//
// Invariant: postings[r.id][r.pos] == slot for each ref r of each slot, and
// these are all the members there are; ids[p.value] is p's id; no posting is
// empty (kubernetes/kubernetes#84959).
type index struct {
	column   uint32 // the index's place in a slot's row of refs
	columns  uint32 // how long a row is
	fn       cache.IndexFunc
	ids      map[string]uint32
	peak     int // the most ids since the map was made: Go's maps never shrink
	postings pool[*posting]
	several  pool[refs] // of objects with several values
}

// ref is where the object in slot is in the index.
func (x *index) ref(slot uint32, refs *vector[ref], c *clock) *ref {
	return refs.own(slot*x.columns+x.column, c)
}

// update makes want the values of the object in slot. The common case, one value
// that stays as it was, reads the object's ref and its posting; otherwise only
// values that come or go are touched (kubernetes/kubernetes#142307).
func (x *index) update(slot uint32, want []string, refs *vector[ref], c *clock) {
	r := x.ref(slot, refs, c)
	if r.id < manyValues {
		if len(want) == 1 && x.postings.at(r.id).value == want[0] {
			return
		}
	} else if len(want) == 0 && r.id == noValue {
		return
	}
	x.exchange(slot, want, refs, c)
}

func (x *index) exchange(slot uint32, want []string, refs *vector[ref], c *clock) {
	r := x.ref(slot, refs, c)
	if len(want) <= 1 && r.id != manyValues {
		old := *r
		*r = ref{id: noValue}
		if len(want) == 1 {
			*r, _ = x.join(slot, want[0], c)
		}
		if old.id != noValue {
			x.drop(old, refs, c)
		}
		return
	}

	var have []ref
	if r.id != noValue {
		want = distinct(want)
	}
	switch r.id {
	case noValue:
	case manyValues:
		have = x.several.at(r.pos)
		if slices.EqualFunc(have, want, func(h ref, w string) bool { return x.postings.at(h.id).value == w }) {
			return
		}
		x.several.give(r.pos, c)
	default:
		have = []ref{*r}
	}
	if len(want) == 0 {
		*r = ref{id: noValue}
		x.warm(have, refs)
		for _, h := range have {
			x.drop(h, refs, c)
		}
		return
	}
	var going map[uint32]ref
	if len(have) > 0 {
		going = make(map[uint32]ref, len(have))
		for _, h := range have {
			going[h.id] = h
		}
	}
	next := make([]ref, 0, len(want))
	for _, w := range want {
		if len(going) > 0 {
			if id, known := x.ids[w]; known {
				if h, had := going[id]; had {
					next = append(next, h)
					delete(going, id)
					continue
				}
			}
		}
		if r, joined := x.join(slot, w, c); joined {
			next = append(next, r)
		}
	}
	if len(next) == 1 {
		*r = next[0]
	} else {
		*r = ref{manyValues, x.several.take(next, c)}
	}
	for _, h := range going {
		x.drop(h, refs, c)
	}
}

// join adds slot to the posting of value, unless it was the last to join.
func (x *index) join(slot uint32, value string, c *clock) (r ref, joined bool) {
	id, ok := x.ids[value]
	if !ok {
		id = x.newPosting(value, c)
	}
	p := x.postings.at(id)
	n := uint32(p.len())
	if n > 0 && p.at(n-1) == slot {
		return ref{}, false
	}
	p.push(slot, c)
	return ref{id, n}, true
}

// drop takes a member out of its posting. The posting's last member moves into
// its place.
func (x *index) drop(r ref, refs *vector[ref], c *clock) {
	p := x.postings.at(r.id)
	last := uint32(p.len() - 1)
	if r.pos != last {
		moved := p.at(last)
		p.set(r.pos, moved, c)
		*x.refTo(moved, r.id, refs, c) = r
	}
	p.pop(c)
	if last == 0 {
		x.dropPosting(r.id, p, c)
	}
}

// warm reads what drop needs of the objects that move, for the first of have: each
// step in a loop of its own, so that the cache misses of one value do not wait for
// those of the one before. What is in a few objects' refs is in the cache.
func (x *index) warm(have []ref, refs *vector[ref]) {
	if refs.n < 1<<14 {
		return
	}
	var at [16]uint32 // a moving object's slot, then its place in several
	n := min(len(have), len(at))
	for i, h := range have[:n] {
		p := x.postings.at(h.id)
		at[i] = p.at(uint32(p.len() - 1))
	}
	for i, slot := range at[:n] {
		at[i] = noValue
		if r := refs.look(slot*x.columns + x.column); r.id == manyValues {
			at[i] = r.pos
		}
	}
	for _, place := range at[:n] {
		if place != noValue {
			touch(&x.several.at(place)[0])
		}
	}
}

// refTo is the ref of the object in slot to posting id.
func (x *index) refTo(slot, id uint32, refs *vector[ref], c *clock) *ref {
	r := x.ref(slot, refs, c)
	if r.id != manyValues {
		return r
	}
	several := x.several.at(r.pos)
	return &several[slices.IndexFunc(several, func(r ref) bool { return r.id == id })]
}

// relocate follows an object that moves from one slot to another, whose own ref
// is void.
func (x *index) relocate(from, to uint32, refs *vector[ref], c *clock) {
	r := *x.ref(from, refs, c)
	*x.ref(to, refs, c) = r
	switch r.id {
	case noValue:
	case manyValues:
		for _, r := range x.several.at(r.pos) {
			x.postings.at(r.id).set(r.pos, to, c)
		}
	default:
		x.postings.at(r.id).set(r.pos, to, c)
	}
}

func (x *index) newPosting(value string, c *clock) (id uint32) {
	id = x.postings.take(&posting{value: value}, c)
	x.ids[value] = id
	x.peak = max(x.peak, len(x.ids))
	return id
}

func (x *index) dropPosting(id uint32, p *posting, c *clock) {
	delete(x.ids, p.value)
	if x.peak > 64 && len(x.ids) < x.peak/8 {
		smaller := make(map[string]uint32, len(x.ids))
		for value, id := range x.ids {
			smaller[value] = id
		}
		x.ids, x.peak = smaller, len(smaller)
	}
	x.postings.give(id, c)
}
