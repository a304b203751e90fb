package main

import (
	"sync/atomic"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// radixTree publishes each version of a persistent radix tree: readers take no
// lock.
type radixTree struct {
	published atomic.Pointer[iradix.Tree[any]]
}

func newRadixTree() table {
	t := &radixTree{}
	t.published.Store(iradix.New[any]())
	return newOrdered(t)
}

func (t *radixTree) get(key string) (any, bool) { return t.published.Load().Get([]byte(key)) }

func (t *radixTree) view() func(string, func(string, any) bool) {
	root := t.published.Load().Root()
	return func(from string, visit func(string, any) bool) {
		it := root.Iterator()
		it.SeekLowerBound([]byte(from))
		for key, obj, ok := it.Next(); ok && visit(string(key), obj); key, obj, ok = it.Next() {
		}
	}
}

func (t *radixTree) change(f func(changing)) {
	tx := radixChange{t.published.Load().Txn()}
	f(&tx)
	t.published.Store(tx.Commit())
}

type radixChange struct{ *iradix.Txn[any] }

func (tx *radixChange) set(key string, obj any) { tx.Insert([]byte(key), obj) }
func (tx *radixChange) del(key string)          { tx.Delete([]byte(key)) }
func (tx *radixChange) clear()                  { tx.Txn = iradix.New[any]().Txn() }
