package fifo

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/impl/internal/objectkey"
	"k8s.io/client-go/tools/cache"
)

var _ cache.Queue = (*RingFIFO)(nil)

// A RingFIFO is the fast FIFO: keys and their latest objects lie in one ring.
//
// Invariant: the index has the oldest place of each key; that one holds the
// object. A key has several places when it was deleted and added again while
// queued; they are linked, oldest first, as each takes its turn in the order.
type RingFIFO struct {
	gate
	keys  keyer
	items keyed[place]
}

// A place is one turn of a key.
type place struct {
	obj     any
	present bool // obj is there, and was not deleted
	again   bool // the key has a later place: next; the last is at last
	next    position
	last    position
}

// NewRingFIFO makes an empty FIFO.
func NewRingFIFO(config Config) *RingFIFO {
	f := &RingFIFO{keys: newKeyer(config.KeyFunc), items: keyed[place]{seed: maphash.MakeSeed()}}
	f.init("FIFO", config)
	return f
}

// Add queues obj, or makes it the latest object of its queued key. It fails
// with a cache.KeyError.
func (f *RingFIFO) Add(obj any) error {
	var buf [objectkey.Len]byte
	key, err := f.keys.Append(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	tag := f.items.tag(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	_, s := f.items.find(tag, key)
	switch {
	case s == nil:
		f.items.push(tag, key).value = place{obj: obj, present: true}
	case s.value.present:
		s.value.obj = obj
		return nil
	default:
		s.value.obj, s.value.present = obj, true
		p, later := f.items.pushUnindexed(tag, key)
		later.value = place{}
		if s.value.again {
			last := &f.items.slots.at(s.value.last).value
			last.again, last.next = true, p
		} else {
			s.value.again, s.value.next = true, p
		}
		s.value.last = p
	}
	f.changed.Broadcast()
	return nil
}

// Update is Add.
func (f *RingFIFO) Update(obj any) error { return f.Add(obj) }

// Delete forgets obj's key. It fails with a cache.KeyError.
func (f *RingFIFO) Delete(obj any) error {
	var buf [objectkey.Len]byte
	key, err := f.keys.Append(buf[:0], obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	tag := f.items.tag(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if _, s := f.items.find(tag, key); s != nil {
		s.value.obj, s.value.present = nil, false
	}
	return nil
}

// Replace queues the objects of list instead of what is queued. It fails with a
// cache.KeyError and then changes nothing.
func (f *RingFIFO) Replace(list []any, _ string) error {
	items := f.leftover()
	items.index.reserve(len(list))
	var buf [objectkey.Len]byte
	key := buf[:0] // longer after a long one
	for _, obj := range list {
		var err error
		if key, err = f.keys.Append(key[:0], obj); err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		tag := items.tag(key)
		_, s := items.find(tag, key)
		if s == nil {
			s = items.push(tag, key)
		}
		s.value = place{obj: obj, present: true}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listCame(items.slots.len())
	f.items.slots, f.items.index = items.slots, items.index // tag reads the seed without the lock
	f.changed.Broadcast()
	return nil
}

// leftover is an empty keyed, with the memory that f has no use for at the moment.
func (f *RingFIFO) leftover() keyed[place] {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := keyed[place]{seed: f.items.seed}
	old := &f.items.slots
	if old.len() == 0 {
		items.slots, items.index = *old, f.items.index
		*old, f.items.index = slots[slot[place]]{}, index{}
		return items
	}
	items.slots.spare, items.slots.spares = old.spare, old.spares
	old.spare, old.spares = nil, 0
	return items
}

// Resync does nothing: every object is queued already.
func (f *RingFIFO) Resync() error { return nil }

// Pop takes the oldest key that was not deleted, calls process with its object
// under the lock and returns the object and process's error. It blocks while
// there is none; closed and empty, it fails with cache.ErrFIFOClosed.
func (f *RingFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The initial list counts as handled when process has returned.
	handled := 0
	defer func() { f.handled(handled) }()
	for {
		for f.items.slots.len() == 0 {
			if f.closed {
				return nil, cache.ErrFIFOClosed
			}
			f.handled(handled)
			handled = 0
			f.changed.Wait()
		}
		inInitialList := !f.isSynced
		if f.initial > handled {
			handled++
		}
		if obj, present := f.take(); present {
			return obj, process(obj, inInitialList)
		}
	}
}

// take drops the oldest place. The key's next place, if any, stands for it then.
func (f *RingFIFO) take() (obj any, present bool) {
	at := f.items.slots.head
	s := f.items.slots.at(at)
	p := s.value
	if p.again {
		f.items.index.move(s.tag, at, p.next)
		f.items.slots.at(p.next).value.last = p.last
	} else {
		f.items.index.remove(s.tag, at)
	}
	s.value = place{}
	f.items.slots.drop()
	return p.obj, p.present
}
