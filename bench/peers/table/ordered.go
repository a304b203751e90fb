package table

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// A Tree keeps objects in the order of their keys.
type Tree interface {
	Get(key string) (any, bool)
	// View is the tree at one moment, which no later change touches: it calls
	// visit for the keys from one on, until visit returns false.
	View() func(from string, visit func(key string, obj any) bool)
	// Change makes all that is done to it in one moment.
	Change(func(Changing))
}

// Changing is a tree that is changed.
type Changing interface {
	Set(key string, obj any)
	Del(key string)
	Clear()
}

// ordered has objects and index entries in one tree, so that a view
// shows both at the same moment. An object lies under its key, which begins with
// no zero byte, and once more under each of its index values.
type ordered struct {
	Tree
	indexers cache.Indexers
}

// Ordered is a table with objects and index entries in one tree.
func Ordered(t Tree) Table { return &ordered{Tree: t} }

// entries begins the keys of the objects that have a value. The length keeps
// apart values of which one begins with the other.
func entries(index, value string) string {
	return "\x00" + index + "\x00" + strconv.Itoa(len(value)) + "\x00" + value + "\x00"
}

func (o *ordered) Each(visit func(key string, obj any)) {
	o.View()("\x01", func(key string, obj any) bool { visit(key, obj); return true })
}

func (o *ordered) Having(index, value string, visit func(key string, obj any)) {
	prefix := entries(index, value)
	o.View()(prefix, func(key string, obj any) bool {
		key, found := strings.CutPrefix(key, prefix)
		if found {
			visit(key, obj)
		}
		return found
	})
}

func (o *ordered) Write(txns []cache.ThreadSafeStoreTransaction) {
	changes := Changes(txns, o.indexers, o.Get)
	o.Change(func(tx Changing) {
		for _, c := range changes {
			if c.Obj == nil {
				tx.Del(c.Key)
			} else {
				tx.Set(c.Key, c.Obj)
			}
			for index, had := range c.Had {
				for _, value := range had {
					if !slices.Contains(c.Have[index], value) {
						tx.Del(entries(index, value) + c.Key)
					}
				}
			}
			setEntries(tx, c.Key, c.Obj, c.Have)
		}
	})
}

func setEntries(tx Changing, key string, obj any, have map[string][]string) {
	for index, values := range have {
		for _, value := range values {
			tx.Set(entries(index, value)+key, obj)
		}
	}
}

func (o *ordered) Reset(indexers cache.Indexers, items map[string]any) {
	all := make(map[string]map[string][]string, len(items))
	for key, obj := range items {
		all[key] = ValuesOf(indexers, key, obj)
	}
	o.indexers = indexers
	o.Change(func(tx Changing) {
		tx.Clear()
		for key, obj := range items {
			tx.Set(key, obj)
			setEntries(tx, key, obj, all[key])
		}
	})
}
