package main

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// A tree keeps objects in the order of their keys.
type tree interface {
	get(key string) (any, bool)
	// view is the tree at one moment, which no later change touches: it calls
	// visit for the keys from one on, until visit returns false.
	view() func(from string, visit func(key string, obj any) bool)
	// change makes all that is done to it in one moment.
	change(func(changing))
}

type changing interface {
	set(key string, obj any)
	del(key string)
	clear()
}

// An ordered table has objects and index entries in one tree, so that a view
// shows both at the same moment. An object lies under its key, which begins with
// no zero byte, and once more under each of its index values.
type ordered struct {
	tree
	indexers cache.Indexers
}

func newOrdered(t tree) *ordered { return &ordered{tree: t} }

// entries begins the keys of the objects that have a value. The length keeps
// apart values of which one begins with the other.
func entries(index, value string) string {
	return "\x00" + index + "\x00" + strconv.Itoa(len(value)) + "\x00" + value + "\x00"
}

func (o *ordered) list(visit func(key string, obj any)) {
	o.view()("\x01", func(key string, obj any) bool { visit(key, obj); return true })
}

func (o *ordered) having(index, value string, visit func(key string, obj any)) {
	prefix := entries(index, value)
	o.view()(prefix, func(key string, obj any) bool {
		key, found := strings.CutPrefix(key, prefix)
		if found {
			visit(key, obj)
		}
		return found
	})
}

func (o *ordered) write(txns []cache.ThreadSafeStoreTransaction) {
	changes := changesOf(txns, o.indexers, o.get)
	o.change(func(tx changing) {
		for _, c := range changes {
			if c.obj == nil {
				tx.del(c.key)
			} else {
				tx.set(c.key, c.obj)
			}
			for index, had := range c.had {
				for _, value := range had {
					if !slices.Contains(c.have[index], value) {
						tx.del(entries(index, value) + c.key)
					}
				}
			}
			setEntries(tx, c.key, c.obj, c.have)
		}
	})
}

func setEntries(tx changing, key string, obj any, have map[string][]string) {
	for index, values := range have {
		for _, value := range values {
			tx.set(entries(index, value)+key, obj)
		}
	}
}

func (o *ordered) reset(indexers cache.Indexers, items map[string]any) {
	all := make(map[string]map[string][]string, len(items))
	for key, obj := range items {
		all[key] = valuesOf(indexers, key, obj)
	}
	o.indexers = indexers
	o.change(func(tx changing) {
		tx.clear()
		for key, obj := range items {
			tx.set(key, obj)
			setEntries(tx, key, obj, all[key])
		}
	})
}
