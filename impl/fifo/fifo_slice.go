package fifo

import (
	"k8s.io/client-go/tools/cache"
)

var _ cache.Queue = (*SliceFIFO)(nil)

// A SliceFIFO is the reference FIFO: the latest objects in a map, the order of
// their keys in a slice.
//
// Invariant: every key in items is in order. A deleted key stays in order and is
// skipped when it is popped; added again meanwhile, it is popped at its old
// place.
type SliceFIFO struct {
	gate
	keyFunc cache.KeyFunc
	items   map[string]any
	order   []string
}

// NewSliceFIFO makes an empty FIFO.
func NewSliceFIFO(config Config) *SliceFIFO {
	f := &SliceFIFO{keyFunc: orMeta(config.KeyFunc), items: map[string]any{}}
	f.init("FIFO", config)
	return f
}

// Add queues obj, or makes it the latest object of its queued key. It fails
// with a cache.KeyError.
func (f *SliceFIFO) Add(obj any) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	if _, queued := f.items[key]; !queued {
		f.order = append(f.order, key)
	}
	f.items[key] = obj
	f.changed.Broadcast()
	return nil
}

// Update is Add.
func (f *SliceFIFO) Update(obj any) error { return f.Add(obj) }

// Delete forgets obj's key. It fails with a cache.KeyError.
func (f *SliceFIFO) Delete(obj any) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.eventCame()
	delete(f.items, key)
	return nil
}

// Replace queues the objects of list instead of what is queued. It fails with a
// cache.KeyError and then changes nothing.
func (f *SliceFIFO) Replace(list []any, _ string) error {
	items := make(map[string]any, len(list))
	order := make([]string, 0, len(list))
	for _, obj := range list {
		key, err := f.keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if _, twice := items[key]; !twice {
			order = append(order, key)
		}
		items[key] = obj
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listCame(len(order))
	f.items, f.order = items, order
	f.changed.Broadcast()
	return nil
}

// Resync does nothing: every object is queued already.
func (f *SliceFIFO) Resync() error { return nil }

// Pop takes the oldest key that was not deleted, calls process with its object
// under the lock and returns the object and process's error. It blocks while
// there is none; closed and empty, it fails with cache.ErrFIFOClosed.
func (f *SliceFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The initial list counts as handled when process has returned.
	handled := 0
	defer func() { f.handled(handled) }()
	for {
		for len(f.order) == 0 {
			if f.closed {
				return nil, cache.ErrFIFOClosed
			}
			f.handled(handled)
			handled = 0
			f.changed.Wait()
		}
		inInitialList := !f.isSynced
		key := f.order[0]
		f.order[0] = ""
		f.order = f.order[1:]
		if f.initial > handled {
			handled++
		}
		obj, queued := f.items[key]
		if !queued {
			continue
		}
		delete(f.items, key)
		return obj, process(obj, inInitialList)
	}
}
