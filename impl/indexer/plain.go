package indexer

import (
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// plain is a map of objects with its indices, without a lock: what `locked` has
// one of and `sharded` has one of a shard.
//
// Invariant: key ∈ indices[i][value] ⇔ value ∈ schema[i].fn(items[key]); no set is
// empty.
type plain struct {
	items   shrinking[string, any]
	schema  schema
	indices []keySets
}

type (
	// keySets are the keys of the objects that have a value, by value.
	keySets struct{ shrinking[string, *keySet] }
	keySet  struct{ shrinking[string, struct{}] }
)

func newPlain(sc schema) plain {
	return plain{schema: sc, indices: make([]keySets, len(sc))}
}

// plainOf has items and the indices of a schema.
func plainOf(items map[string]any, sc schema) plain {
	p := newPlain(sc)
	p.items.m = items
	p.indices = indexed(items, sc)
	return p
}

// indexed are the indices of a schema over items.
func indexed(items map[string]any, sc schema) []keySets {
	indices := make([]keySets, len(sc))
	var vals [][]string
	for key, obj := range items {
		vals = values(sc, vals[:0], key, obj)
		for i := range indices {
			indices[i].insert(key, vals[i])
		}
	}
	return indices
}

// with is p and the indices of added, whose functions alone are run, or p and an error.
func (p plain) with(added cache.Indexers) (plain, error) {
	all, err := p.schema.with(added)
	if err != nil {
		return p, err
	}
	p.indices = slices.Concat(p.indices, indexed(p.items.m, all[len(p.schema):]))
	p.schema = all
	return p, nil
}

// apply makes the change of txn, whose object has vals.
func (p *plain) apply(txn cache.ThreadSafeStoreTransaction, vals [][]string) {
	had := p.had(txn.Key)
	switch txn.Type {
	case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
		p.items.set(txn.Key, txn.Object)
	case cache.TransactionTypeDelete:
		p.items.del(txn.Key)
	}
	for i := range p.indices {
		if !slices.Equal(had[i], vals[i]) {
			p.indices[i].remove(txn.Key, had[i])
			p.indices[i].insert(txn.Key, vals[i])
		}
	}
}

// had are the values of what is stored under key, none if nothing is.
func (p *plain) had(key string) [][]string {
	return values(p.schema, nil, key, p.items.m[key])
}

func (s *keySets) insert(key string, vals []string) {
	for _, v := range vals {
		if s.m[v] == nil {
			s.set(v, &keySet{})
		}
		s.m[v].set(key, struct{}{})
	}
}

// remove drops a value that nobody has any more with its set, or indices of
// short-lived objects grow for ever (kubernetes/kubernetes#84959).
func (s *keySets) remove(key string, vals []string) {
	for _, v := range vals {
		if set := s.m[v]; set != nil {
			if set.del(key); len(set.m) == 0 {
				s.del(v)
			}
		}
	}
}

// keysHaving are the keys of the objects that have any of vals in an index.
func (p *plain) keysHaving(column int, vals ...string) (keys []string) {
	for _, v := range distinct(vals) {
		if set := p.indices[column].m[v]; set != nil {
			keys = slices.AppendSeq(keys, maps.Keys(set.m))
		}
	}
	if len(vals) > 1 { // some objects may have several
		keys = distinct(keys)
	}
	return keys
}
