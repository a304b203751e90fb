package fifo

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.Queue             = (*SliceDeltaFIFO)(nil)
	_ cache.TransformingStore = (*SliceDeltaFIFO)(nil)
)

// A SliceDeltaFIFO is the reference DeltaFIFO: each key's deltas in a map, the
// order of the keys in a slice.
//
// Invariant: a key is in order, once, ⇔ it is in items, with at least one delta.
type SliceDeltaFIFO struct {
	gate
	config Config
	items  map[string]cache.Deltas
	order  []string
}

// NewSliceDeltaFIFO makes an empty DeltaFIFO.
func NewSliceDeltaFIFO(config Config) *SliceDeltaFIFO {
	config.KeyFunc = orMeta(config.KeyFunc)
	f := &SliceDeltaFIFO{config: config, items: map[string]cache.Deltas{}}
	f.init("DeltaFIFO", config)
	return f
}

// KeyOf is the key of an object, a tombstone or Deltas.
func (f *SliceDeltaFIFO) KeyOf(obj any) (string, error) { return keyOf(f.config.KeyFunc, obj) }

// Transformer is the config's; nil if there is none.
func (f *SliceDeltaFIFO) Transformer() cache.TransformFunc { return f.config.Transformer }

// Add queues an Added delta. It fails with a cache.KeyError or the
// transformer's error.
func (f *SliceDeltaFIFO) Add(obj any) error { return f.event(cache.Added, obj) }

// Update queues an Updated delta and fails as Add does.
func (f *SliceDeltaFIFO) Update(obj any) error { return f.event(cache.Updated, obj) }

func (f *SliceDeltaFIFO) event(kind cache.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	return f.enqueue(kind, obj)
}

// Delete queues a Deleted delta if obj's key is queued or known, and fails as
// Add does.
func (f *SliceDeltaFIFO) Delete(obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if _, queued := f.items[key]; !queued {
		if _, known, err := orNone(f.config.KnownObjects).GetByKey(key); err == nil && !known {
			return nil
		}
	}
	return f.enqueue(cache.Deleted, obj)
}

// enqueue transforms obj and appends it to its key's deltas.
func (f *SliceDeltaFIFO) enqueue(kind cache.DeltaType, obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if obj, err = transform(f.config.Transformer, obj); err != nil {
		return err
	}
	f.push(key, cache.Delta{Type: kind, Object: obj})
	return nil
}

func (f *SliceDeltaFIFO) push(key string, d cache.Delta) {
	deltas, queued := f.items[key]
	if !queued {
		f.order = append(f.order, key)
	}
	switch newest := deltas.Newest(); {
	case newest == nil || newest.Type != cache.Deleted || d.Type != cache.Deleted:
		f.items[key] = append(deltas, d)
	case supersedes(newest.Object):
		*newest = d
	}
	f.changed.Broadcast()
}

// Replace queues a Replaced (or Sync) delta for each object of list, then a
// tombstone for each key that is queued or known but not in list. It fails as
// Add does; the objects before the one at fault stay queued.
func (f *SliceDeltaFIFO) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := cache.Sync
	if f.config.EmitReplaced {
		kind = cache.Replaced
	}
	listed := make(map[string]bool, len(list))
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		listed[key] = true
		if err := f.enqueue(kind, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %v", err) // as upstream's, it wraps nothing
		}
	}
	tombstones := 0
	bury := func(t cache.DeletedFinalStateUnknown) {
		tombstones++
		f.push(t.Key, cache.Delta{Type: cache.Deleted, Object: t})
	}
	for _, key := range f.order {
		if listed[key] {
			continue
		}
		last := f.items[key].Newest().Object
		if t, ok := last.(cache.DeletedFinalStateUnknown); ok {
			last = t.Obj
		}
		bury(cache.DeletedFinalStateUnknown{Key: key, Obj: last})
	}
	known := orNone(f.config.KnownObjects)
	for _, key := range known.ListKeys() {
		if _, queued := f.items[key]; queued {
			continue
		}
		bury(tombstone(known, key))
	}
	f.listCame(len(listed) + tombstones)
	return nil
}

// Resync queues a Sync delta for each known object whose key is not queued: a
// queued event is newer than what the store has. It fails with a cache.KeyError.
func (f *SliceDeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := orNone(f.config.KnownObjects)
	for _, key := range known.ListKeys() {
		obj, ok := toSync(known, key)
		if !ok {
			continue
		}
		key, err := f.KeyOf(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if _, queued := f.items[key]; !queued {
			f.push(key, cache.Delta{Type: cache.Sync, Object: obj})
		}
	}
	return nil
}

// Pop takes the oldest key, calls process with its cache.Deltas under the lock
// and returns them and process's error. It blocks while there is none; closed
// and empty, it fails with cache.ErrFIFOClosed.
func (f *SliceDeltaFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.order) == 0 {
		if f.closed {
			return nil, cache.ErrFIFOClosed
		}
		f.changed.Wait()
	}
	inInitialList := !f.isSynced
	key := f.order[0]
	f.order[0] = ""
	f.order = f.order[1:]
	deltas := f.items[key]
	delete(f.items, key)
	defer f.handled(min(1, f.initial))
	watch := started(len(f.order))
	err := process(deltas, inInitialList)
	watch.stopped(f.name, 1)
	return deltas, err
}
