package main

import (
	"sync"

	"github.com/tidwall/btree"
)

// tidwallTree is a tidwall/btree behind a lock. A list copies it, which costs
// nothing until the next writes copy the nodes on their way.
type tidwallTree struct {
	mu   sync.RWMutex
	tree *btree.Map[string, any]
}

func newTidwallTree() table { return newOrdered(&tidwallTree{tree: &btree.Map[string, any]{}}) }

func (t *tidwallTree) get(key string) (any, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tree.Get(key)
}

func (t *tidwallTree) view() func(string, func(string, any) bool) {
	t.mu.Lock() // Copy changes the tree that it is of
	defer t.mu.Unlock()
	return t.tree.Copy().Ascend
}

func (t *tidwallTree) change(f func(changing)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

func (t *tidwallTree) set(key string, obj any) { t.tree.Set(key, obj) }
func (t *tidwallTree) del(key string)          { t.tree.Delete(key) }
func (t *tidwallTree) clear()                  { t.tree = &btree.Map[string, any]{} }
