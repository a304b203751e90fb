package main

import (
	"sync/atomic"

	"github.com/cilium/statedb/part"
	"github.com/informerbench/informerbench/bench/peers/table"
)

// partTree publishes each version of statedb's persistent adaptive radix tree:
// readers take no lock.
type partTree struct {
	published atomic.Pointer[part.Tree[any]]
}

func newPartTree() table.Table {
	t := &partTree{}
	t.publish(part.New[any](part.RootOnlyWatch))
	return table.Ordered(t)
}

func (t *partTree) publish(tree part.Tree[any]) { t.published.Store(&tree) }

func (t *partTree) Get(key string) (any, bool) { return t.published.Load().Get([]byte(key)) }

func (t *partTree) View() func(string, func(string, any) bool) {
	tree := t.published.Load()
	return func(from string, visit func(string, any) bool) {
		it := tree.LowerBound([]byte(from))
		for key, obj, ok := it.Next(); ok && visit(string(key), obj); key, obj, ok = it.Next() {
		}
	}
}

func (t *partTree) Change(f func(table.Changing)) {
	tx := partChange{t.published.Load().Txn()}
	f(&tx)
	t.publish(tx.CommitAndNotify())
}

type partChange struct{ *part.Txn[any] }

func (tx *partChange) Set(key string, obj any) { tx.Insert([]byte(key), obj) }
func (tx *partChange) Del(key string)          { tx.Delete([]byte(key)) }

func (tx *partChange) Clear() {
	empty := part.New[any](part.RootOnlyWatch)
	tx.Txn = empty.Txn()
}
