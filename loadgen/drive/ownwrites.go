package drive

import (
	"strconv"
	"sync"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"k8s.io/client-go/tools/cache"
)

// ownWrites measure how long a controller waits until it can read what it wrote, as
// if each event were a write of its own. It waits as controller-runtime's client does
// (client.CacheOptions.EnableReadYourWritesConsistency): until a handler of its own
// was told of the write's resource version or a later one.
type ownWrites struct {
	now    func() time.Duration
	warmup time.Duration
	meter  *meter

	mu      sync.Mutex
	pending map[*resource][]write // in the order of their versions
}

func newOwnWrites(now func() time.Duration, warmup time.Duration, m *meter) *ownWrites {
	return &ownWrites{now: now, warmup: warmup, meter: m, pending: map[*resource][]write{}}
}

// A write is an event that no handler was told of yet.
type write struct {
	version uint64
	due     time.Duration
}

// written notes an event. One without a number as its version can't be waited for.
func (w *ownWrites) written(r *resource, rv string, due time.Duration) {
	version, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[r] = append(w.pending[r], write{version, due})
}

// told ends the waiting of the writes up to the object's version.
func (w *ownWrites) told(r *resource, obj any) {
	o, ok := obj.(loadgen.Object)
	if !ok {
		return // a tombstone: the next event says as much
	}
	version, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.pending[r]
	for now := w.now(); len(waiting) > 0 && waiting[0].version <= version; waiting = waiting[1:] {
		if waiting[0].due >= w.warmup {
			w.meter.record(now - waiting[0].due)
		}
	}
	w.pending[r] = waiting
}

func (w *ownWrites) handler(r *resource) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.told(r, obj) },
		UpdateFunc: func(_, obj any) { w.told(r, obj) },
		DeleteFunc: func(obj any) { w.told(r, obj) },
	}
}
