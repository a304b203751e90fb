package main

import (
	"sync/atomic"

	"github.com/hashicorp/go-memdb"
	"github.com/informerbench/informerbench/bench/peers/table"
	"k8s.io/client-go/tools/cache"
)

// A memTable is a go-memdb with a table of objects and an index of it for each of
// the store's: readers take no lock. Its schema is fixed, so that new indices are a
// new database.
type memTable struct {
	published atomic.Pointer[memdb.MemDB]
	indexers  cache.Indexers
}

type row struct {
	key    string
	obj    any
	values map[string][]string
}

func newMemTable() table.Table { return &memTable{} }

const rows, byKey = "objects", "id" // memdb asks for this name

func (t *memTable) Get(key string) (any, bool) {
	found, err := t.published.Load().Txn(false).First(rows, byKey, key)
	if err != nil || found == nil {
		return nil, false
	}
	return found.(*row).obj, true
}

func (t *memTable) Each(visit func(string, any)) { t.visit(byKey, visit) }

func (t *memTable) Having(index, value string, visit func(string, any)) {
	t.visit("by "+index, visit, value)
}

func (t *memTable) visit(index string, visit func(string, any), args ...any) {
	it, err := t.published.Load().Txn(false).Get(rows, index, args...)
	must(err) // the schema has every index that the store has
	for found := it.Next(); found != nil; found = it.Next() {
		r := found.(*row)
		visit(r.key, r.obj)
	}
}

func (t *memTable) Write(txns []cache.ThreadSafeStoreTransaction) {
	have := make([]map[string][]string, len(txns))
	for i, txn := range txns {
		if txn.Type != cache.TransactionTypeDelete {
			have[i] = table.ValuesOf(t.indexers, txn.Key, txn.Object)
		}
	}
	tx := t.published.Load().Txn(true)
	for i, txn := range txns {
		var err error
		if txn.Type == cache.TransactionTypeDelete {
			_, err = tx.DeleteAll(rows, byKey, txn.Key)
		} else {
			err = tx.Insert(rows, &row{txn.Key, txn.Object, have[i]})
		}
		must(err) // rows are of the schema's type
	}
	tx.Commit()
}

func (t *memTable) Reset(indexers cache.Indexers, items map[string]any) {
	indices := map[string]*memdb.IndexSchema{byKey: {Name: byKey, Unique: true, Indexer: keyIndex{}}}
	for name := range indexers {
		indices["by "+name] = &memdb.IndexSchema{Name: "by " + name, AllowMissing: true, Indexer: valueIndex{name: name}}
	}
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{rows: {Name: rows, Indexes: indices}}})
	must(err) // names are never empty
	tx := db.Txn(true)
	for key, obj := range items {
		must(tx.Insert(rows, &row{key, obj, table.ValuesOf(indexers, key, obj)})) // keys are strings that memdb can index
	}
	tx.Commit()
	t.indexers = indexers
	t.published.Store(db)
}

// must panics: a cache.ThreadSafeStore has no errors to return, and one that leaves a
// write out would be measured for work that it did not do.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

type keyIndex struct{ byteArgs }

func (keyIndex) FromObject(raw any) (bool, []byte, error) {
	return true, terminated(raw.(*row).key), nil
}

type valueIndex struct {
	byteArgs
	name string
}

func (x valueIndex) FromObject(raw any) (bool, [][]byte, error) {
	var values [][]byte
	for _, value := range raw.(*row).values[x.name] {
		values = append(values, terminated(value))
	}
	return len(values) > 0, values, nil
}

type byteArgs struct{}

func (byteArgs) FromArgs(args ...any) ([]byte, error) { return terminated(args[0].(string)), nil }

// terminated ends with a zero byte, so that no value begins with another.
func terminated(s string) []byte { return append([]byte(s), 0) }
