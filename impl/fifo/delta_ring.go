package fifo

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.Queue             = (*RingDeltaFIFO)(nil)
	_ cache.TransformingStore = (*RingDeltaFIFO)(nil)
)

// A RingDeltaFIFO is the fast DeltaFIFO: keys and their deltas lie in one ring.
// A key costs one probe of the index to add, one to add to, one to pop; only
// Pop allocates, and what it allocates is the handler's.
//
// Invariant: each slot has a key of its own, which the index finds, and at least
// one delta.
type RingDeltaFIFO struct {
	gate
	config Config
	keys   keyer
	items  keyed[pending]
	// replace numbers the calls of Replace, from 1.
	replace uint32
}

// NewRingDeltaFIFO makes an empty DeltaFIFO.
func NewRingDeltaFIFO(config Config) *RingDeltaFIFO {
	f := &RingDeltaFIFO{
		config: config,
		keys:   newKeyer(config.KeyFunc),
		items:  keyed[pending]{seed: maphash.MakeSeed()},
	}
	f.init("DeltaFIFO", config)
	return f
}

// KeyOf is the key of an object, a tombstone or Deltas.
func (f *RingDeltaFIFO) KeyOf(obj any) (string, error) { return keyOf(f.keys.Func, obj) }

// Transformer is the config's; nil if there is none.
func (f *RingDeltaFIFO) Transformer() cache.TransformFunc { return f.config.Transformer }

// Add queues an Added delta. It fails with a cache.KeyError or the
// transformer's error.
func (f *RingDeltaFIFO) Add(obj any) error { return f.event(added, obj) }

// Update queues an Updated delta and fails as Add does.
func (f *RingDeltaFIFO) Update(obj any) error { return f.event(updated, obj) }

func (f *RingDeltaFIFO) event(kind kind, obj any) error {
	var buf [objectkey.Len]byte
	key, err := f.keys.appendKeyOf(buf[:0], obj)
	tag := f.items.tag(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	_, err = f.enqueue(tag, key, change{kind, obj})
	f.changed.Broadcast()
	return err
}

// Delete queues a Deleted delta if obj's key is queued or known, and fails as
// Add does.
func (f *RingDeltaFIFO) Delete(obj any) error {
	var buf [objectkey.Len]byte
	key, err := f.keys.appendKeyOf(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	tag := f.items.tag(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if _, s := f.items.find(tag, key); s == nil {
		if f.config.KnownObjects == nil {
			return nil
		}
		if _, known, err := f.config.KnownObjects.GetByKey(string(key)); err == nil && !known {
			return nil
		}
	}
	_, err = f.enqueue(tag, key, change{deleted, obj})
	f.changed.Broadcast()
	return err
}

// enqueue adds to the key's deltas and returns them.
func (f *RingDeltaFIFO) enqueue(tag uint32, key []byte, c change) (p *pending, err error) {
	if f.config.Transformer != nil {
		if c.obj, err = transform(f.config.Transformer, c.obj); err != nil {
			return nil, err
		}
	}
	if _, s := f.items.find(tag, key); s != nil {
		s.value.add(c)
		return &s.value, nil
	}
	return f.push(tag, key, c), nil
}

// push queues the first change of a key.
func (f *RingDeltaFIFO) push(tag uint32, key []byte, c change) *pending {
	s := f.items.push(tag, key)
	s.value.oldest, s.value.replace = c, 0
	return &s.value
}

// Replace queues a Replaced (or Sync) delta for each object of list, then a
// tombstone for each key that is queued or known but not in list. It fails as
// Add does; the objects before the one at fault stay queued.
func (f *RingDeltaFIFO) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	kind := synced
	if f.config.EmitReplaced {
		kind = replaced
	}
	f.replace++
	f.items.index.reserve(len(list))
	pops := 0
	var buf [objectkey.Len]byte
	key := buf[:0] // longer after a long one
	for _, obj := range list {
		var err error
		if key, err = f.keys.appendKeyOf(key[:0], obj); err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		p, err := f.enqueue(f.items.tag(key), key, change{kind, obj})
		if err != nil {
			return fmt.Errorf("couldn't enqueue object: %v", err) // as upstream's, it wraps nothing
		}
		if p.replace != f.replace {
			p.replace = f.replace
			pops++
		}
	}
	for at := f.items.slots.head; at != f.items.slots.tail; at++ {
		s := f.items.slots.at(at)
		if s.value.replace == f.replace {
			continue
		}
		last := s.value.newest().obj
		if t, ok := last.(cache.DeletedFinalStateUnknown); ok {
			last = t.Obj
		}
		s.value.add(change{deleted, cache.DeletedFinalStateUnknown{Key: string(f.items.key(at)), Obj: last}})
		pops++
	}
	known := orNone(f.config.KnownObjects)
	var tags [objectkey.Block]uint32
	for block := range slices.Chunk(known.ListKeys(), objectkey.Block) {
		for i, k := range block {
			tags[i] = f.items.tag(append(buf[:0], k...))
		}
		f.items.warm(tags[:len(block)])
		for i, k := range block {
			key := append(buf[:0], k...)
			if _, s := f.items.find(tags[i], key); s == nil {
				f.push(tags[i], key, change{deleted, tombstone(known, k)})
				pops++
			}
		}
	}
	f.listCame(pops)
	return nil
}

// Resync queues a Sync delta for each known object whose key is not queued: a
// queued event is newer than what the store has. It fails with a cache.KeyError.
func (f *RingDeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	known := orNone(f.config.KnownObjects)
	keys := known.ListKeys()
	f.items.index.reserve(len(keys))
	objs := make([]any, 0, objectkey.Block)
	for block := range slices.Chunk(keys, objectkey.Block) {
		objs = objs[:0]
		for _, key := range block {
			if obj, ok := toSync(known, key); ok {
				objs = append(objs, obj)
			}
		}
		f.keys.Warm(objs)
		if err := f.sync(objs); err != nil {
			return err
		}
	}
	return nil
}

// sync queues Sync deltas for the objects whose keys are not queued.
func (f *RingDeltaFIFO) sync(objs []any) error {
	var buf [objectkey.Len]byte
	key := buf[:0] // longer after a long one
	for _, obj := range objs {
		var err error
		if key, err = f.keys.appendKeyOf(key[:0], obj); err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		tag := f.items.tag(key)
		if _, s := f.items.find(tag, key); s == nil {
			f.push(tag, key, change{synced, obj})
		}
	}
	return nil
}

// Pop takes the oldest key, calls process with its cache.Deltas under the lock
// and returns them and process's error. It blocks while there is none; closed
// and empty, it fails with cache.ErrFIFOClosed.
func (f *RingDeltaFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.items.slots.len() == 0 {
		if f.closed {
			return nil, cache.ErrFIFOClosed
		}
		f.changed.Wait()
	}
	inInitialList := !f.isSynced
	at := f.items.slots.head
	s := f.items.slots.at(at)
	f.items.index.remove(s.tag, at)
	deltas := s.value.take()
	f.items.slots.drop()
	defer f.handled(min(1, f.initial))
	watch := started(f.items.slots.len())
	err := process(deltas, inInitialList)
	watch.stopped(f.name, 1)
	return deltas, err
}
