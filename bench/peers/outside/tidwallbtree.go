// Package outside has the containers that did best of those that others have written and that
// give nothing up, in the place of client-go's: benchrun swap --outside compiles it into a program.
package outside

import (
	"sync"

	"github.com/informerbench/informerbench/bench/peers/table"
	"github.com/tidwall/btree"
	"k8s.io/client-go/tools/cache"
)

// NewIndexer makes client-go's indexer over tidwall/btree behind a lock.
func NewIndexer(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	return indexer(keyFunc, indexers)
}

var indexer = table.Indexer(newTidwallTree)

// tidwallTree is a tidwall/btree behind a lock. A list copies it, which costs
// nothing until the next writes copy the nodes on their way.
type tidwallTree struct {
	mu   sync.RWMutex
	tree *btree.Map[string, any]
}

func newTidwallTree() table.Table {
	return table.Ordered(&tidwallTree{tree: &btree.Map[string, any]{}})
}

func (t *tidwallTree) Get(key string) (any, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tree.Get(key)
}

func (t *tidwallTree) View() func(string, func(string, any) bool) {
	t.mu.Lock() // Copy changes the tree that it is of
	defer t.mu.Unlock()
	return t.tree.Copy().Ascend
}

func (t *tidwallTree) Change(f func(table.Changing)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

func (t *tidwallTree) Set(key string, obj any) { t.tree.Set(key, obj) }
func (t *tidwallTree) Del(key string)          { t.tree.Delete(key) }
func (t *tidwallTree) Clear()                  { t.tree = &btree.Map[string, any]{} }
