package main

import (
	"sync"

	"github.com/google/btree"
	"github.com/informerbench/informerbench/bench/peers/table"
)

// googleTree is a google/btree behind a lock. A list clones it, which costs
// nothing until the next writes copy the nodes on their way.
type googleTree struct {
	mu   sync.RWMutex
	tree *btree.BTreeG[pair]
}

type pair struct {
	key string
	obj any
}

func newGoogleTree() table.Table {
	return table.Ordered(&googleTree{tree: btree.NewG(32, func(a, b pair) bool { return a.key < b.key })})
}

func (t *googleTree) Get(key string) (any, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	found, ok := t.tree.Get(pair{key: key})
	return found.obj, ok
}

func (t *googleTree) View() func(string, func(string, any) bool) {
	t.mu.Lock() // Clone changes the tree that it is of
	clone := t.tree.Clone()
	t.mu.Unlock()
	return func(from string, visit func(string, any) bool) {
		clone.AscendGreaterOrEqual(pair{key: from}, func(p pair) bool { return visit(p.key, p.obj) })
	}
}

func (t *googleTree) Change(f func(table.Changing)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

func (t *googleTree) Set(key string, obj any) { t.tree.ReplaceOrInsert(pair{key, obj}) }
func (t *googleTree) Del(key string)          { t.tree.Delete(pair{key: key}) }
func (t *googleTree) Clear()                  { t.tree.Clear(false) }
