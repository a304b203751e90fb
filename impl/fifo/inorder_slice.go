package fifo

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.QueueWithBatch         = (*SliceInOrder)(nil)
	_ cache.TransformingStore      = (*SliceInOrder)(nil)
	_ cache.ReflectorBookmarkStore = (*SliceInOrder)(nil)
)

// A SliceInOrder is the reference in-order FIFO: a slice of deltas.
type SliceInOrder struct {
	gate
	config Config
	items  []cache.Delta
}

// NewSliceInOrder makes an empty in-order FIFO.
func NewSliceInOrder(config Config) *SliceInOrder {
	config.KeyFunc = orMeta(config.KeyFunc)
	f := &SliceInOrder{config: config}
	f.init("in-order FIFO", config)
	return f
}

// Transformer is the config's; nil if there is none.
func (f *SliceInOrder) Transformer() cache.TransformFunc { return f.config.Transformer }

// Add queues an Added delta. It fails with a cache.KeyError or the
// transformer's error.
func (f *SliceInOrder) Add(obj any) error { return f.event(cache.Added, obj) }

// Update queues an Updated delta and fails as Add does.
func (f *SliceInOrder) Update(obj any) error { return f.event(cache.Updated, obj) }

// Delete queues a Deleted delta, whether the key is known or not, and fails as
// Add does.
func (f *SliceInOrder) Delete(obj any) error { return f.event(cache.Deleted, obj) }

func (f *SliceInOrder) event(kind cache.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	return f.enqueue(kind, obj)
}

// enqueue transforms obj and queues it.
func (f *SliceInOrder) enqueue(kind cache.DeltaType, obj any) error {
	if _, err := keyOfEvent(f.config.KeyFunc, obj); err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	obj, err := transform(f.config.Transformer, obj)
	if err != nil {
		return err
	}
	f.push(kind, obj)
	return nil
}

func (f *SliceInOrder) push(kind cache.DeltaType, obj any) {
	f.items = append(f.items, cache.Delta{Type: kind, Object: obj})
	f.changed.Broadcast()
	f.config.tell(len(f.items))
}

// Bookmark queues a Bookmark delta if the FIFO is atomic.
func (f *SliceInOrder) Bookmark(resourceVersion string) error {
	if !f.config.Atomic {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.push(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: resourceVersion})
	return nil
}

// Replace queues tombstones for the keys that are missing from list, then a
// Replaced delta for each of its objects; an atomic FIFO queues one ReplacedAll
// delta. It fails as Add does; the objects before the one at fault stay queued,
// an atomic FIFO stays as it was.
func (f *SliceInOrder) Replace(list []any, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.replace(list, resourceVersion); err != nil {
		return err
	}
	f.listCame(len(f.items))
	return nil
}

func (f *SliceInOrder) replace(list []any, resourceVersion string) error {
	if f.config.Atomic {
		objs, err := transformAll(f.config.Transformer, list)
		if err != nil {
			return err
		}
		f.push(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: objs})
		return nil
	}
	tombstones, err := missing(list, slices.Values(f.items), orNone(f.config.KnownObjects), f.config.KeyFunc)
	if err != nil {
		return err
	}
	for _, t := range tombstones {
		f.push(cache.Deleted, t)
	}
	for _, obj := range list {
		if err := f.enqueue(cache.Replaced, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

// Resync queues a Sync delta for each known object whose key is not queued; an
// atomic FIFO queues one SyncAll delta. It fails with a cache.KeyError.
func (f *SliceInOrder) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.config.Atomic {
		f.push(cache.SyncAll, cache.SyncAllInfo{})
		return nil
	}
	objs, err := unqueued(slices.Values(f.items), orNone(f.config.KnownObjects), f.config.KeyFunc)
	if err != nil {
		return err
	}
	for _, obj := range objs {
		if _, err := keyOfEvent(f.config.KeyFunc, obj); err != nil {
			return fmt.Errorf("couldn't queue object: %w", cache.KeyError{Obj: obj, Err: err})
		}
		f.push(cache.Sync, obj)
	}
	return nil
}

// Pop takes the oldest delta, calls process with it as cache.Deltas and returns
// these and process's error. It blocks while there is none; closed and empty, it
// fails with cache.ErrFIFOClosed. An atomic FIFO wants a single consumer: it may
// release the lock for process.
func (f *SliceInOrder) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(); err != nil {
		return nil, err
	}
	inInitialList, initial := !f.isSynced, min(1, f.initial)
	deltas := cache.Deltas(f.take(1))
	err := f.handling(initial, 1, func() error { return process(deltas, inInitialList) })
	return deltas, err
}

// PopBatch takes the oldest deltas and calls processBatch with them, or
// processSingle if it is only one. A batch ends before a key that it has
// already, before a delta of an atomic event, at the end of the initial list and
// at the largest size. It blocks, fails and releases the lock as Pop does.
func (f *SliceInOrder) PopBatch(processBatch cache.ProcessBatchFunc, processSingle cache.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(); err != nil {
		return err
	}
	batch := f.take(f.batch())
	inInitialList, initial := !f.isSynced, min(len(batch), f.initial)
	return f.handling(initial, len(batch), func() error {
		if len(batch) == 1 {
			return processSingle(cache.Deltas(batch), inInitialList)
		}
		return processBatch(batch, inInitialList)
	})
}

func (f *SliceInOrder) await() error {
	for len(f.items) == 0 {
		if f.closed {
			return cache.ErrFIFOClosed
		}
		f.changed.Wait()
	}
	return nil
}

// batch is the number of deltas that the next batch has.
func (f *SliceInOrder) batch() int {
	limit := min(len(f.items), f.config.batch())
	if f.initial > 0 {
		limit = min(limit, f.initial)
	}
	seen := map[string]bool{}
	for n, d := range f.items[:limit] {
		if !batchable(d.Type) {
			return max(1, n)
		}
		key, err := keyOfEvent(f.config.KeyFunc, d.Object)
		if err != nil {
			return n + 1
		}
		if seen[key] {
			return n
		}
		seen[key] = true
	}
	return limit
}

func (f *SliceInOrder) take(n int) []cache.Delta {
	taken := slices.Clone(f.items[:n])
	clear(f.items[:n])
	f.items = f.items[n:]
	return taken
}

// handling calls process, with the lock released if the FIFO is atomic and not
// too long. Afterwards it counts the items of the initial list.
func (f *SliceInOrder) handling(initial, batch int, process func() error) error {
	defer f.handled(initial)
	f.config.tell(len(f.items))
	watch := started(len(f.items))
	defer func() { watch.stopped(f.name, batch) }()
	if f.config.Atomic && len(f.items) < 2*f.config.batch() {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	return process()
}
