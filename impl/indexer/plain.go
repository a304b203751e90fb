package indexer

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// plain is a map of objects with its indices, without a lock: what `locked` has
// one of and `sharded` has one of a shard.
//
// Invariant: key ∈ indices[i][value] ⇔ value ∈ schema[i].fn(items[key]); no set is
// empty.
type plain struct {
	items   map[string]any
	schema  *schema
	indices []keySets
}

// keySets are the keys of the objects that have a value, by value.
type keySets map[string]sets.Set[string]

func newPlain(sc *schema) plain {
	p := plain{items: map[string]any{}, schema: sc, indices: make([]keySets, len(*sc))}
	for i := range p.indices {
		p.indices[i] = keySets{}
	}
	return p
}

// index is the function of an index and its sets, and false if there is none.
func (p *plain) index(name string) (cache.IndexFunc, keySets, bool) {
	i, ok := p.schema.column(name)
	if !ok {
		return nil, nil, false
	}
	return (*p.schema)[i].fn, p.indices[i], true
}

// put stores obj, whose values are vals, index by index.
func (p *plain) put(key string, obj any, vals [][]string) {
	var few [4][]string
	had := p.had(few[:0], key)
	p.items[key] = obj
	for i, index := range p.indices {
		if !slices.Equal(had[i], vals[i]) {
			index.remove(key, had[i])
			index.insert(key, vals[i])
		}
	}
}

func (p *plain) remove(key string) {
	var few [4][]string
	for i, vals := range p.had(few[:0], key) {
		p.indices[i].remove(key, vals)
	}
	delete(p.items, key)
}

// had appends the values of what is stored under key, none if nothing is.
func (p *plain) had(vals [][]string, key string) [][]string {
	if old, ok := p.items[key]; ok {
		return p.schema.values(vals, key, old)
	}
	return append(vals, make([][]string, len(p.indices))...)
}

func (s keySets) insert(key string, vals []string) {
	for _, v := range vals {
		if s[v] == nil {
			s[v] = sets.Set[string]{}
		}
		s[v].Insert(key)
	}
}

// remove drops a value that nobody has any more with its set, or indices of
// short-lived objects grow for ever (kubernetes/kubernetes#84959).
func (s keySets) remove(key string, vals []string) {
	for _, v := range vals {
		set := s[v]
		set.Delete(key)
		if set != nil && set.Len() == 0 {
			delete(s, v)
		}
	}
}

// having is the keys that have any of vals.
func (s keySets) having(vals []string) sets.Set[string] {
	if len(vals) == 1 {
		return s[vals[0]]
	}
	keys := sets.Set[string]{}
	for _, v := range vals {
		for key := range s[v] {
			keys.Insert(key)
		}
	}
	return keys
}

// plainOf has items and the indices of a schema.
func plainOf(items map[string]any, sc *schema) plain {
	p := newPlain(sc)
	p.items = items
	var vals [][]string
	for key, obj := range items {
		vals = sc.values(vals[:0], key, obj)
		for i, index := range p.indices {
			index.insert(key, vals[i])
		}
	}
	return p
}
