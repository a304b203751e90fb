package indexer

import "k8s.io/client-go/tools/cache"

// A schema is the indexers of a store, in an order. It never changes. There are few,
// so that a name is found as fast as in a map.
type schema []namedIndex

type namedIndex struct {
	name string
	fn   cache.IndexFunc
}

var noIndices schema

func newSchema(indexers cache.Indexers) *schema {
	if len(indexers) == 0 {
		return &noIndices
	}
	sc := make(schema, 0, len(indexers))
	for name, fn := range indexers {
		sc = append(sc, namedIndex{name, fn})
	}
	return &sc
}

// column is the place of an index, and false if there is none.
func (sc *schema) column(name string) (int, bool) {
	for i := range *sc {
		if (*sc)[i].name == name {
			return i, true
		}
	}
	return 0, false
}

func (sc *schema) indexers() cache.Indexers {
	all := make(cache.Indexers, len(*sc))
	for _, x := range *sc {
		all[x.name] = x.fn
	}
	return all
}

// values appends the values of obj, column by column.
func (sc *schema) values(vals [][]string, key string, obj any) [][]string {
	for _, x := range *sc {
		vals = append(vals, values(x.name, x.fn, key, obj))
	}
	return vals
}
