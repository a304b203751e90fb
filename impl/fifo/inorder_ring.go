package fifo

import (
	"fmt"
	"hash/maphash"
	"iter"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.QueueWithBatch         = (*RingInOrder)(nil)
	_ cache.TransformingStore      = (*RingInOrder)(nil)
	_ cache.ReflectorBookmarkStore = (*RingInOrder)(nil)
)

// A RingInOrder is the fast in-order FIFO: a ring of deltas, each with the hash
// of its key, made once when it is queued. A batch is found by comparing hashes;
// only its own slice is allocated.
type RingInOrder struct {
	gate
	config Config
	keys   keyer
	seed   maphash.Seed
	items  slots[event]
	batch  hashSet
}

// An event is a delta and the identity of its key.
type event struct {
	cache.Delta
	id uint64
}

// An id is the hash of a key, which is odd, or one of these.
const (
	brokenKey uint64 = 2 * iota // the transformer's result has no key
	alone                       // a delta of an atomic event
)

// NewRingInOrder makes an empty in-order FIFO.
func NewRingInOrder(config Config) *RingInOrder {
	f := &RingInOrder{config: config, keys: newKeyer(config.KeyFunc), seed: maphash.MakeSeed()}
	f.init("in-order FIFO", config)
	return f
}

// Transformer is the config's; nil if there is none.
func (f *RingInOrder) Transformer() cache.TransformFunc { return f.config.Transformer }

// Add queues an Added delta. It fails with a cache.KeyError or the
// transformer's error.
func (f *RingInOrder) Add(obj any) error { return f.event(cache.Added, obj) }

// Update queues an Updated delta and fails as Add does.
func (f *RingInOrder) Update(obj any) error { return f.event(cache.Updated, obj) }

// Delete queues a Deleted delta, whether the key is known or not, and fails as
// Add does.
func (f *RingInOrder) Delete(obj any) error { return f.event(cache.Deleted, obj) }

func (f *RingInOrder) event(kind cache.DeltaType, obj any) error {
	id, err := f.identify(obj)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	return f.enqueue(kind, obj, id)
}

func (f *RingInOrder) identify(obj any) (uint64, error) {
	var buf [objectkey.Len]byte
	key, err := f.keys.appendKeyOf(buf[:0], undelta(obj))
	if err != nil {
		return brokenKey, err
	}
	return maphash.Bytes(f.seed, key) | 1, nil
}

// enqueue transforms obj, whose key has that id, and queues it.
func (f *RingInOrder) enqueue(kind cache.DeltaType, obj any, id uint64) (err error) {
	if f.config.Transformer != nil {
		if obj, err = transform(f.config.Transformer, obj); err != nil {
			return err
		}
		id, _ = f.identify(obj)
	}
	f.push(kind, obj, id)
	return nil
}

func (f *RingInOrder) push(kind cache.DeltaType, obj any, id uint64) {
	at, segment := f.items.push()
	e := &segment.slots[at%segmentLen]
	e.Type, e.Object, e.id = kind, obj, id
	f.changed.Broadcast()
	f.config.tell(f.items.len())
}

// Bookmark queues a Bookmark delta if the FIFO is atomic.
func (f *RingInOrder) Bookmark(resourceVersion string) error {
	if !f.config.Atomic {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.push(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: resourceVersion}, alone)
	return nil
}

// Replace queues tombstones for the keys that are missing from list, then a
// Replaced delta for each of its objects; an atomic FIFO queues one ReplacedAll
// delta. It fails as Add does; the objects before the one at fault stay queued,
// an atomic FIFO stays as it was.
func (f *RingInOrder) Replace(list []any, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.replace(list, resourceVersion); err != nil {
		return err
	}
	f.listCame(f.items.len())
	return nil
}

func (f *RingInOrder) replace(list []any, resourceVersion string) error {
	if f.config.Atomic {
		objs, err := transformAll(f.config.Transformer, list)
		if err != nil {
			return err
		}
		f.push(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: objs}, alone)
		return nil
	}
	tombstones, err := missing(list, f.queued(), orNone(f.config.KnownObjects), f.keys.Func)
	if err != nil {
		return err
	}
	for _, t := range tombstones {
		id, _ := f.identify(t)
		f.push(cache.Deleted, t, id)
	}
	for _, obj := range list {
		id, err := f.identify(obj)
		if err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", cache.KeyError{Obj: obj, Err: err})
		}
		if err := f.enqueue(cache.Replaced, obj, id); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

// Resync queues a Sync delta for each known object whose key is not queued; an
// atomic FIFO queues one SyncAll delta. It fails with a cache.KeyError.
func (f *RingInOrder) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.config.Atomic {
		f.push(cache.SyncAll, cache.SyncAllInfo{}, alone)
		return nil
	}
	objs, err := unqueued(f.queued(), orNone(f.config.KnownObjects), f.keys.Func)
	if err != nil {
		return err
	}
	for _, obj := range objs {
		id, err := f.identify(obj)
		if err != nil {
			return fmt.Errorf("couldn't queue object: %w", cache.KeyError{Obj: obj, Err: err})
		}
		f.push(cache.Sync, obj, id)
	}
	return nil
}

func (f *RingInOrder) queued() iter.Seq[cache.Delta] {
	return func(yield func(cache.Delta) bool) {
		for at := f.items.head; at != f.items.tail; at++ {
			if !yield(f.items.at(at).Delta) {
				return
			}
		}
	}
}

// Pop takes the oldest delta, calls process with it as cache.Deltas and returns
// these and process's error. It blocks while there is none; closed and empty, it
// fails with cache.ErrFIFOClosed. An atomic FIFO wants a single consumer: it may
// release the lock for process.
func (f *RingInOrder) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(); err != nil {
		return nil, err
	}
	inInitialList := !f.isSynced
	var deltas any = cache.Deltas{f.takeOne()}
	defer f.handled(min(1, f.initial))
	f.config.tell(f.items.len())
	watch := started(f.items.len())
	if f.mayRelease() {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	err := process(deltas, inInitialList)
	watch.stopped(f.name, 1)
	return deltas, err
}

// PopBatch takes the oldest deltas and calls processBatch with them, or
// processSingle if it is only one. A batch ends before a key that it has
// already, before a delta of an atomic event, at the end of the initial list and
// at the largest size. It blocks, fails and releases the lock as Pop does.
func (f *RingInOrder) PopBatch(processBatch cache.ProcessBatchFunc, processSingle cache.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(); err != nil {
		return err
	}
	inInitialList := !f.isSynced
	n := f.batchSize()
	var one any
	var batch []cache.Delta
	if n == 1 {
		one = cache.Deltas{f.takeOne()}
	} else {
		batch = f.take(n)
	}
	defer f.handled(min(n, f.initial))
	f.config.tell(f.items.len())
	watch := started(f.items.len())
	if f.mayRelease() {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	var err error
	if n == 1 {
		err = processSingle(one, inInitialList)
	} else {
		err = processBatch(batch, inInitialList)
	}
	watch.stopped(f.name, n)
	return err
}

func (f *RingInOrder) await() error {
	for f.items.len() == 0 {
		if f.closed {
			return cache.ErrFIFOClosed
		}
		f.changed.Wait()
	}
	return nil
}

// mayRelease tells whether the lock is to be released for the handler.
func (f *RingInOrder) mayRelease() bool { return f.config.Atomic && f.items.len() < 2*f.config.batch() }

// batchSize is the number of deltas that the next batch has. Two keys with the
// same hash would end a batch early, which changes nothing for the handler.
func (f *RingInOrder) batchSize() int {
	limit := min(f.items.len(), f.config.batch())
	if f.initial > 0 {
		limit = min(limit, f.initial)
	}
	f.batch.reserve(limit)
	defer f.batch.clear()
	for n := range limit {
		switch id := f.items.at(f.items.head + position(n)).id; id {
		case alone:
			return max(1, n)
		case brokenKey:
			return n + 1
		default:
			if !f.batch.add(id) {
				return n
			}
		}
	}
	return limit
}

// take moves the oldest n deltas into a slice of their own, for the handler to
// keep.
func (f *RingInOrder) take(n int) []cache.Delta {
	taken := make([]cache.Delta, n)
	for i := range taken {
		taken[i] = f.takeOne()
	}
	return taken
}

func (f *RingInOrder) takeOne() cache.Delta {
	e := f.items.at(f.items.head)
	d := e.Delta
	e.Delta = cache.Delta{}
	f.items.drop()
	return d
}
