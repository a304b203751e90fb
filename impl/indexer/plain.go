package indexer

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// plain is a map of objects with its indices, without a lock: what `locked` has
// one of and `sharded` has one of a shard.
//
// Invariant: key ∈ indices[name][value] ⇔ value ∈ indexers[name](items[key]);
// no set is empty.
type plain struct {
	items    map[string]any
	indexers cache.Indexers // never changed, only exchanged
	indices  map[string]map[string]sets.Set[string]
}

func newPlain(indexers cache.Indexers) plain {
	p := plain{items: map[string]any{}, indexers: indexers}
	p.indices = emptyIndices(indexers)
	return p
}

func emptyIndices(indexers cache.Indexers) map[string]map[string]sets.Set[string] {
	indices := make(map[string]map[string]sets.Set[string], len(indexers))
	for name := range indexers {
		indices[name] = map[string]sets.Set[string]{}
	}
	return indices
}

// An entry is the values of one object, by index name.
type entry map[string][]string

func entryOf(indexers cache.Indexers, key string, obj any) entry {
	if len(indexers) == 0 {
		return nil
	}
	e := make(entry, len(indexers))
	for name, fn := range indexers {
		e[name] = values(name, fn, key, obj)
	}
	return e
}

// put stores obj, whose values are added.
func (p *plain) put(key string, obj any, added entry) {
	p.unindex(key)
	p.items[key] = obj
	p.index(key, added)
}

func (p *plain) remove(key string) {
	p.unindex(key)
	delete(p.items, key)
}

func (p *plain) index(key string, added entry) {
	for name, vals := range added {
		index := p.indices[name]
		for _, v := range vals {
			if index[v] == nil {
				index[v] = sets.Set[string]{}
			}
			index[v].Insert(key)
		}
	}
}

// unindex takes the stored object's entries out of the indices. A value that
// nobody has any more is removed with its set, or indices of short-lived
// objects grow for ever (kubernetes/kubernetes#84959).
func (p *plain) unindex(key string) {
	old, ok := p.items[key]
	if !ok {
		return
	}
	for name, vals := range entryOf(p.indexers, key, old) {
		index := p.indices[name]
		for _, v := range vals {
			set := index[v]
			set.Delete(key)
			if set != nil && set.Len() == 0 {
				delete(index, v)
			}
		}
	}
}

// reset makes items the contents.
func (p *plain) reset(items map[string]any) {
	q := newPlain(p.indexers)
	q.items = items
	for key, obj := range items {
		q.index(key, entryOf(q.indexers, key, obj))
	}
	*p = q
}

// indexedBy is p with the indices of indexers, of which p may have some.
func (p *plain) indexedBy(indexers cache.Indexers) plain {
	q := newPlain(indexers)
	q.items = p.items
	for key, obj := range q.items {
		q.index(key, entryOf(indexers, key, obj))
	}
	return q
}

// matches is the keys that have any of vals in an index.
func (p *plain) matches(name string, vals []string) sets.Set[string] {
	if len(vals) == 1 {
		return p.indices[name][vals[0]]
	}
	keys := sets.Set[string]{}
	for _, v := range vals {
		for key := range p.indices[name][v] {
			keys.Insert(key)
		}
	}
	return keys
}
