package indexer

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// A reader shows the parts of a store, one or more, at one moment. The calls that
// read all of them are its methods.
type reader func(visit func(*plain))

// index is a reader's call for an index, whose column visit is given.
func (read reader) index(name string, visit func(p *plain, column int)) (err error) {
	read(func(p *plain) {
		var column int
		if column, err = p.schema.column(name); err == nil {
			visit(p, column)
		}
	})
	return err
}

func (read reader) List() []any {
	objs := []any{}
	read(func(p *plain) { objs = slices.AppendSeq(slices.Grow(objs, len(p.items.m)), maps.Values(p.items.m)) })
	return objs
}

func (read reader) ListKeys() []string {
	keys := []string{}
	read(func(p *plain) { keys = slices.AppendSeq(keys, maps.Keys(p.items.m)) })
	return keys
}

func (read reader) GetIndexers() (indexers cache.Indexers) {
	read(func(p *plain) { indexers = p.schema.indexers() })
	return indexers
}

func (read reader) Index(name string, obj any) ([]any, error) {
	vals, err := newSchema(read.GetIndexers()).valuesIn(name, obj)
	if err != nil {
		return nil, err
	}
	return read.having(name, vals...)
}

func (read reader) ByIndex(name, value string) ([]any, error) { return read.having(name, value) }

func (read reader) having(name string, vals ...string) ([]any, error) {
	objs := []any{}
	err := read.index(name, func(p *plain, column int) {
		for _, key := range p.keysHaving(column, vals...) {
			objs = append(objs, p.items.m[key])
		}
	})
	return objs, err
}

// IndexKeys answers in order, as upstream's does.
func (read reader) IndexKeys(name, value string) ([]string, error) {
	keys := []string{}
	err := read.index(name, func(p *plain, column int) { keys = append(keys, p.keysHaving(column, value)...) })
	slices.Sort(keys)
	return keys, err
}

func (read reader) ListIndexFuncValues(name string) []string {
	vals := sets.Set[string]{}
	_ = read.index(name, func(p *plain, column int) { vals = vals.Union(sets.KeySet(p.indices[column].m)) })
	return vals.UnsortedList()
}

// A writer applies transactions. The calls that make one change are its methods.
type writer func(...cache.ThreadSafeStoreTransaction)

func (write writer) one(kind cache.TransactionType, key string, obj any) {
	write(cache.ThreadSafeStoreTransaction{Key: key, Transaction: cache.Transaction{Type: kind, Object: obj}})
}

func (write writer) Add(key string, obj any)    { write.one(cache.TransactionTypeUpdate, key, obj) }
func (write writer) Update(key string, obj any) { write.one(cache.TransactionTypeUpdate, key, obj) }
func (write writer) Delete(key string)          { write.one(cache.TransactionTypeDelete, key, nil) }
func (write writer) DeleteWithObject(key string, obj any) {
	write.one(cache.TransactionTypeDelete, key, obj)
}
func (write writer) Resync() error { return nil }
