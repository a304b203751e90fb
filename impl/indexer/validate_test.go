package indexer

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// validate checks all invariants of a store that nobody writes to, and that it holds
// no more memory than what is stored accounts for.
func (s *SnapshotStore) validate() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contents.Load()
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	sc := *s.schema.Load()
	check(len(sc) == len(c.indices), "%d indices of %d indexers", len(c.indices), len(sc))
	check(s.live.Load() >= 0, "%d live snapshots", s.live.Load())
	check(int(c.hole) <= c.items.n, "hole %d of %d slots", c.hole, c.items.n)
	check(len(c.stripes) == 1 && c.count() <= fewObjects || len(c.stripes) == manyStripes, "%d stripes of %d objects", len(c.stripes), c.count())
	errs = append(errs, validVector(&c.items, s.now))

	entries := 0
	for i := range c.stripes {
		st := &c.stripes[i]
		st.mu.Lock() // a Get may be under way
		check(!st.stale, "stripe %d is stale", i)
		st.mu.Unlock()
		errs = append(errs, st.table.validate())
		entries += st.table.used
	}
	check(entries == c.count(), "%d entries of %d objects", entries, c.count())
	for slot := range uint32(c.items.n) {
		it := *c.items.at(slot)
		if slot == c.hole-1 {
			check(it == item{}, "hole %d holds %v", slot, it)
			continue
		}
		found, _ := find(c, maphash.String(s.seed, it.key), it.key)
		check(found == slot, "%s of slot %d is found in slot %d", it.key, slot, found)
		for i, vals := range values(sc, nil, it.key, it.obj) {
			check(slices.Equal(distinct(vals), c.indices[i].valuesOf(slot)), "%s has %v in index %s, expected %v",
				it.key, c.indices[i].valuesOf(slot), sc[i].name, vals)
		}
	}
	for i, x := range c.indices {
		check(x.refs.n == c.items.n, "%d refs of %d slots", x.refs.n, c.items.n)
		if c.hole != 0 {
			check(x.refs.at(c.hole-1).id == noValue, "the hole has a value in index %s", sc[i].name)
		}
		errs = append(errs, validVector(&x.refs, s.now), x.validate())
	}
	return errors.Join(errs...)
}

func validVector[E comparable](v *vector[E], now uint64) error {
	var zero E
	var errs []error
	capacity := 0
	if s := v.spine.Load(); s != nil {
		for k, node := range *s {
			if len(node) > nodeLen || len(node) < nodeLen && k < len(*s)-1 || len(node) == 0 {
				errs = append(errs, fmt.Errorf("node %d of %d has %d leaves", k, len(*s), len(node)))
			}
			for l, leaf := range node {
				if len(leaf.elems) != leafLen && k+l > 0 || leaf.made > now {
					errs = append(errs, fmt.Errorf("leaf %d of node %d has %d elements, made by write %d of %d", l, k, len(leaf.elems), leaf.made, now))
				}
				for i, e := range leaf.elems {
					if capacity+i >= v.n && e != zero {
						errs = append(errs, fmt.Errorf("element %d of %d is %v", capacity+i, v.n, e))
					}
				}
				capacity += len(leaf.elems)
			}
		}
	}
	if capacity < v.n || capacity > v.n+2*leafLen {
		errs = append(errs, fmt.Errorf("room for %d elements of %d", capacity, v.n))
	}
	return errors.Join(errs...)
}

func (t *table) validate() error {
	used := 0
	for i, entry := range t.entries {
		if entry == 0 {
			continue
		}
		used++
		for at := t.home(entry); at != i; at = t.after(at) {
			if t.entries[at] == 0 {
				return fmt.Errorf("entry %x at %d is cut off from its home %d", entry, i, t.home(entry))
			}
		}
	}
	if used != t.used || used == len(t.entries) && used > 0 || len(t.entries) > 8 && len(t.entries) > 5*used {
		return fmt.Errorf("%d entries, counted as %d, in room for %d", used, t.used, len(t.entries))
	}
	return nil
}

// valuesOf are the values that an index has of a slot, in the order of its refs.
func (x *index) valuesOf(slot uint32) (vals []string) {
	for _, r := range x.refsOf(slot, *x.refs.at(slot)) {
		vals = append(vals, x.postings[r.id].value)
	}
	return vals
}

func (x *index) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	members, several := 0, 0
	for slot := range uint32(x.refs.n) {
		r := *x.refs.at(slot)
		refs := x.refsOf(slot, r)
		if r.id == manyValues {
			several++
			check(len(refs) > 1, "slot %d has %d several values", slot, len(refs))
		}
		for _, r := range refs {
			p := x.postings[r.id]
			check(p != nil && int(r.pos) < len(p.slots) && p.slots[r.pos] == slot, "ref %v of slot %d leads to %v", r, slot, p)
			members++
		}
	}
	check(several == len(x.several.m), "%d slots with several values, expected %d", len(x.several.m), several)
	for id, p := range x.postings {
		if p == nil {
			check(slices.Contains(x.free, uint32(id)), "posting %d is gone and not free", id)
			continue
		}
		check(int(p.id) == id && x.values.m[p.value] == p && len(p.slots) > 0, "posting %d: %v", id, p)
		check(cap(p.slots) <= max(roomKept, 5*len(p.slots)), "room for %d members of %d", cap(p.slots), len(p.slots))
		members -= len(p.slots)
	}
	check(members == 0, "%d refs more than members", members)
	check(len(x.values.m)+len(x.free) == len(x.postings), "%d values and %d free ids of %d", len(x.values.m), len(x.free), len(x.postings))
	check(len(x.postings) <= max(roomKept, 4*len(x.values.m)), "room for %d postings of %d", len(x.postings), len(x.values.m))
	return errors.Join(errs...)
}
