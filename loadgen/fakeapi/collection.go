package fakeapi

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
)

// A collection is the objects of one resource and the events that led to them.
//
// Invariant: every event at or after the history's begin is in it; a watch reads
// from its own position.
type collection struct {
	mu      sync.Mutex
	changed *sync.Cond // history has grown, or a watch has ended

	empty   loadgen.Object   // of the resource's type
	objects []loadgen.Object // in no order that means anything, but the same in each run
	index   map[name]int     // in objects
	version uint64           // resource version of the last event

	history history
	mark    uint64    // a position that the history had reached ...
	marked  time.Time // ... when this was due
	floor   uint64    // resource versions below it are gone
	watches map[*watcher]struct{}

	paged map[uint64][]loadgen.Object // by version: lists of which pages are left
}

type name struct{ namespace, name string }

// maxPaged is how many lists can be read in pages at a time.
const maxPaged = 8

// page remembers a list for its further pages.
func (c *collection) page(version uint64, objects []loadgen.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.paged[version]; !known && len(c.paged) == maxPaged {
		delete(c.paged, slices.Min(slices.Collect(maps.Keys(c.paged))))
	}
	c.paged[version] = objects
}

// The history keeps the events of so long at least, and of twice as long at
// most, for watches that come back: a real server's watch cache keeps those of
// 75 seconds.
const fresh = 75 * time.Second

// remembered is how many of them it keeps, and how far a watch may be behind.
const remembered = 50_000

func newCollection(empty loadgen.Object) *collection {
	c := &collection{empty: empty, version: 1, index: map[name]int{}, watches: map[*watcher]struct{}{}, paged: map[uint64][]loadgen.Object{}}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// append makes an event happen and returns the object's previous version, nil
// if there is none.
func (c *collection) append(kind watch.EventType, object loadgen.Object) loadgen.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64); err == nil {
		c.version = max(c.version, version)
	}
	key := name{object.GetNamespace(), object.GetName()}
	i, known := c.index[key]
	var previous loadgen.Object
	if known {
		previous = c.objects[i]
	}
	switch {
	case kind != watch.Deleted && known:
		c.objects[i] = object
	case kind != watch.Deleted:
		c.index[key] = len(c.objects)
		c.objects = append(c.objects, object)
	case known:
		last := len(c.objects) - 1
		moved := c.objects[last]
		c.objects[i], c.objects[last] = moved, nil
		c.objects = c.objects[:last]
		c.index[name{moved.GetNamespace(), moved.GetName()}] = i
		delete(c.index, key)
	}
	c.record(kind, object)
	return previous
}

// repeat sends a version once more that has happened before.
func (c *collection) repeat(kind watch.EventType, object loadgen.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(kind, object)
}

func (c *collection) record(kind watch.EventType, object loadgen.Object) {
	c.history.append(entry{c.version, watch.Event{Type: kind, Object: object}})
	c.changed.Broadcast()
	if c.history.len() >= 2*remembered {
		c.trim(c.history.begin + remembered)
	}
}

// trim forgets the events before a position, or those that no watch still has
// to read.
func (c *collection) trim(position uint64) {
	for w := range c.watches {
		position = min(position, w.position)
	}
	if position > c.history.begin {
		c.floor = max(c.floor, c.history.at(position-1).version)
		c.history.trim(position)
	}
}

// room forgets what is no longer fresh when an event is due, and waits until the
// slowest watch has read enough of a full history.
func (c *collection) room(ctx context.Context, due time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if due.Sub(c.marked) >= fresh {
		c.trim(c.mark)
		c.mark, c.marked = c.history.end, due
	}
	if c.history.len() < 2*remembered {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer stop()
	for ctx.Err() == nil {
		if c.trim(c.history.begin + remembered); c.history.len() < 2*remembered {
			break
		}
		c.changed.Wait()
	}
	return ctx.Err()
}

// compact drops the history. It ends the watches, whose resource versions are
// gone; new ones may begin at the present version.
func (c *collection) compact() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.trim(c.history.end)
	c.floor = c.version
	for w := range c.watches {
		w.end = endGone
		delete(c.watches, w)
	}
	c.changed.Broadcast()
}

// at returns the position of the first event after a resource version; false
// if the history does not reach back that far.
func (c *collection) at(version uint64) (uint64, bool) {
	if version < c.floor {
		return 0, false
	}
	return c.history.after(version), true
}
