package indexer

import (
	"slices"
	"sync/atomic"
)

// A posting is one value of an index and the slots of the objects that have it.
type posting struct {
	value string
	id    uint32
	// shared is whether a snapshot may hold slots. Then only elements beyond its end
	// are written to.
	shared atomic.Bool
	slots  []uint32
}

// snapshot is the slots now. Its reader counts as live until it is done.
func (p *posting) snapshot() []uint32 {
	if p == nil {
		return nil
	}
	p.shared.Store(true)
	return p.slots
}

// own is the slots for writing, with at most one copy a snapshot.
func (p *posting) own(w moment) []uint32 {
	if p.shared.Load() {
		if !w.quiet {
			p.slots = slices.Clone(p.slots)
		}
		p.shared.Store(false)
	}
	return p.slots
}

// A ref says where an object is in an index: member pos of posting id. Two ids are
// taken: noValue, and manyValues for an object whose refs are in several.
type ref struct{ id, pos uint32 }

const (
	noValue    = ^uint32(0)
	manyValues = noValue - 1
)

// An index is the postings of one index function.
//
// Invariant: postings[r.id].slots[r.pos] == slot for each ref r of each slot, and
// these are all the members there are; values[p.value] == postings[p.id] == p; no
// posting is empty (kubernetes/kubernetes#84959).
type index struct {
	values   shrinking[string, *posting]
	postings []*posting // by id; nil of an id in free
	free     []uint32
	refs     vector[ref]              // by slot; nobody takes snapshots of it
	several  shrinking[uint32, []ref] // by slot, of the objects that have several values
}

// grow adds a slot without values.
func (x *index) grow(w moment) { x.refs.push(w).id = noValue }

// cut removes the last slot, which has no values.
func (x *index) cut(w moment) {
	*x.refs.own(uint32(x.refs.n-1), w) = ref{}
	x.refs.cut()
}

// update makes want the values of the object in slot. In the common case of one
// value that stays it reads the ref and its posting.
func (x *index) update(slot uint32, want []string, w moment) {
	r := x.refs.own(slot, w)
	if r.id == noValue && len(want) == 0 ||
		r.id < manyValues && len(want) == 1 && x.postings[r.id].value == want[0] {
		return
	}
	x.exchange(slot, r, want, w)
	if len(x.postings) > roomKept && 4*len(x.values.m) < len(x.postings) {
		x.compact(w)
	}
}

// exchange touches only the values that come or go (kubernetes/kubernetes#142307).
func (x *index) exchange(slot uint32, r *ref, want []string, w moment) {
	old := *r
	if old.id != manyValues && len(want) <= 1 {
		*r = ref{id: noValue}
		if len(want) == 1 {
			*r = x.join(slot, want[0])
		}
		if old.id != noValue {
			x.drop(old, w)
		}
		return
	}

	want = distinct(want)
	have := x.refsOf(slot, old)
	if slices.EqualFunc(have, want, func(h ref, v string) bool { return x.postings[h.id].value == v }) {
		return
	}
	going := make(map[uint32]ref, len(have))
	for _, h := range have {
		going[h.id] = h
	}
	next := make([]ref, 0, len(want))
	for _, v := range want {
		if p := x.values.m[v]; p != nil {
			if h, had := going[p.id]; had {
				next = append(next, h)
				delete(going, p.id)
				continue
			}
		}
		next = append(next, x.join(slot, v))
	}
	x.setRefs(slot, r, next)
	for _, h := range going {
		x.drop(h, w)
	}
}

// refsOf are the refs that ref r of slot stands for.
func (x *index) refsOf(slot uint32, r ref) []ref {
	switch r.id {
	case noValue:
		return nil
	case manyValues:
		return x.several.m[slot]
	}
	return []ref{r}
}

// setRefs makes refs what r, the ref of slot, stands for.
func (x *index) setRefs(slot uint32, r *ref, refs []ref) {
	if r.id == manyValues && len(refs) < 2 {
		x.several.del(slot)
	}
	switch len(refs) {
	case 0:
		*r = ref{id: noValue}
	case 1:
		*r = refs[0]
	default:
		*r = ref{id: manyValues}
		x.several.set(slot, refs)
	}
}

// join adds slot to the posting of a value.
func (x *index) join(slot uint32, value string) ref {
	p := x.values.m[value]
	if p == nil {
		p = &posting{value: value}
		if n := len(x.free); n > 0 {
			p.id = x.free[n-1]
			x.free = x.free[:n-1]
			x.postings[p.id] = p
		} else {
			p.id = uint32(len(x.postings))
			x.postings = append(x.postings, p)
		}
		x.values.set(value, p)
	}
	p.slots = append(p.slots, slot)
	return ref{p.id, uint32(len(p.slots) - 1)}
}

// drop takes a member out of its posting. The posting's last member moves into its
// place.
func (x *index) drop(r ref, w moment) {
	p := x.postings[r.id]
	slots := p.own(w)
	last := uint32(len(slots) - 1)
	if last == 0 {
		x.values.del(p.value)
		x.postings[p.id] = nil
		x.free = append(x.free, p.id)
		return
	}
	if r.pos != last {
		slots[r.pos] = slots[last]
		x.refTo(slots[last], r.id, w).pos = r.pos
	}
	p.slots = trimmed(slots[:last])
}

// refTo is the ref of the object in slot to posting id.
func (x *index) refTo(slot, id uint32, w moment) *ref {
	r := x.refs.own(slot, w)
	if r.id != manyValues {
		return r
	}
	several := x.several.m[slot]
	return &several[slices.IndexFunc(several, func(r ref) bool { return r.id == id })]
}

// relocate follows an object that moves from one slot to another, which has no
// values.
func (x *index) relocate(from, to uint32, w moment) {
	source, target := x.refs.own(from, w), x.refs.own(to, w)
	refs := x.refsOf(from, *source)
	for _, r := range refs {
		x.postings[r.id].own(w)[r.pos] = to
	}
	x.setRefs(to, target, refs)
	x.setRefs(from, source, nil)
}

// compact numbers the postings anew when most ids are free, as a single posting with
// a high id would keep room for all below it. No change of an object is under way,
// which would know postings by their old numbers.
func (x *index) compact(w moment) {
	kept := make([]*posting, 0, 2*len(x.values.m))
	for id, p := range x.postings {
		if p == nil {
			continue
		}
		if p.id = uint32(len(kept)); p.id != uint32(id) {
			for _, slot := range p.slots {
				x.refTo(slot, uint32(id), w).id = p.id
			}
		}
		kept = append(kept, p)
	}
	x.postings, x.free = kept, nil
}
