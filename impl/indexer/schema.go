package indexer

import "k8s.io/client-go/tools/cache"

// A schema is the indexers of a store, in an order. It never changes.
type schema struct {
	indexers cache.Indexers
	names    []string
	columns  map[string]int
}

func newSchema(indexers cache.Indexers) *schema {
	sc := &schema{indexers: copyOf(indexers), columns: map[string]int{}}
	for name := range sc.indexers {
		sc.columns[name] = len(sc.names)
		sc.names = append(sc.names, name)
	}
	return sc
}

// values appends the values of obj, column by column.
func (sc *schema) values(vals [][]string, key string, obj any) [][]string {
	for _, name := range sc.names {
		vals = append(vals, values(name, sc.indexers[name], key, obj))
	}
	return vals
}
