package indexer

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// A schema is the indexers of a store, in an order. It never changes: indexers that
// are added make another one. There are few, so that a name is found as fast as in
// a map.
type schema []namedIndex

type namedIndex struct {
	name string
	fn   cache.IndexFunc
}

func newSchema(indexers cache.Indexers) schema {
	sc := make(schema, 0, len(indexers))
	for name, fn := range indexers {
		if fn == nil {
			panic(missing(name).Error())
		}
		sc = append(sc, namedIndex{name, fn})
	}
	return sc
}

func missing(name string) error {
	return fmt.Errorf("indexer: the function of index %q is nil, expected one", name)
}

// with is sc and, behind it, added, or upstream's error if a name is taken.
func (sc schema) with(added cache.Indexers) (schema, error) {
	taken := sets.Set[string]{}
	for _, x := range sc {
		if _, ok := added[x.name]; ok {
			taken.Insert(x.name)
		}
	}
	for name, fn := range added {
		if fn == nil {
			return nil, missing(name)
		}
	}
	if taken.Len() > 0 {
		return nil, fmt.Errorf("indexer conflict: %v", taken)
	}
	return slices.Concat(sc, newSchema(added)), nil
}

// column is the place of an index, or upstream's error if there is none.
func (sc schema) column(name string) (int, error) {
	for i := range sc {
		if sc[i].name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // upstream's words
}

// valuesIn are the values of obj in an index.
func (sc schema) valuesIn(name string, obj any) ([]string, error) {
	column, err := sc.column(name)
	if err != nil {
		return nil, err
	}
	return sc[column].fn(obj)
}

func (sc schema) indexers() cache.Indexers {
	all := make(cache.Indexers, len(sc))
	for _, x := range sc {
		all[x.name] = x.fn
	}
	return all
}

// values appends the values of obj, column by column. An object that is nil has
// none. An index function's error is a panic with upstream's message (contract
// clause 3); every variant calls values before it changes anything, so that the
// store is whole after the panic.
func values[K keyBytes](sc schema, vals [][]string, key K, obj any) [][]string {
	if obj == nil {
		return append(vals, make([][]string, len(sc))...)
	}
	for i := range sc {
		of, err := sc[i].fn(obj)
		if err != nil {
			panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", string(key), sc[i].name, err))
		}
		vals = append(vals, of)
	}
	return vals
}

// keyBytes is a key that a caller has, or one that was made in a buffer.
type keyBytes interface{ string | []byte }

// valuesOf are the values of each transaction's object, none of one that deletes.
func valuesOf(sc schema, txns []cache.ThreadSafeStoreTransaction) [][][]string {
	all := make([][][]string, len(txns))
	var vals [][]string
	if len(sc) > 0 {
		vals = make([][]string, 0, len(txns)*len(sc))
	}
	for i, txn := range txns {
		obj := txn.Object
		if txn.Type == cache.TransactionTypeDelete {
			obj = nil
		}
		begin := len(vals)
		vals = values(sc, vals, txn.Key, obj)
		all[i] = vals[begin:]
	}
	return all
}
