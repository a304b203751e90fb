package main

import (
	"sync/atomic"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"github.com/informerbench/informerbench/bench/peers/table"
)

// radixTree publishes each version of a persistent radix tree: readers take no
// lock.
type radixTree struct {
	published atomic.Pointer[iradix.Tree[any]]
}

func newRadixTree() table.Table {
	t := &radixTree{}
	t.published.Store(iradix.New[any]())
	return table.Ordered(t)
}

func (t *radixTree) Get(key string) (any, bool) { return t.published.Load().Get([]byte(key)) }

func (t *radixTree) View() func(string, func(string, any) bool) {
	root := t.published.Load().Root()
	return func(from string, visit func(string, any) bool) {
		it := root.Iterator()
		it.SeekLowerBound([]byte(from))
		for key, obj, ok := it.Next(); ok && visit(string(key), obj); key, obj, ok = it.Next() {
		}
	}
}

func (t *radixTree) Change(f func(table.Changing)) {
	tx := radixChange{t.published.Load().Txn()}
	f(&tx)
	t.published.Store(tx.Commit())
}

type radixChange struct{ *iradix.Txn[any] }

func (tx *radixChange) Set(key string, obj any) { tx.Insert([]byte(key), obj) }
func (tx *radixChange) Del(key string)          { tx.Delete([]byte(key)) }
func (tx *radixChange) Clear()                  { tx.Txn = iradix.New[any]().Txn() }
