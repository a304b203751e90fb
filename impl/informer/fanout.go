package informer

import (
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// A fanout gives batches to handlers.
type fanout struct {
	mu       sync.Mutex
	handlers []*handler
	started  bool
	synced   bool // all of the initial list was published
	running  sync.WaitGroup
}

// add adds a handler, which first gets the stored objects.
func (f *fanout) add(h *handler, stored []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers = append(f.handlers, h)
	if len(stored) > 0 {
		b := make(batch, len(stored))
		for i, obj := range stored {
			b[i] = notification{kind: initialAdd, new: obj}
		}
		h.synced.expect(len(stored))
		h.push(delivery{batch: b})
	}
	if f.synced {
		h.synced.sourceSynced()
	}
	if f.started {
		f.run(h)
	}
}

func (f *fanout) run(h *handler) {
	f.running.Go(h.run)
	f.running.Go(h.pace.run)
}

func (f *fanout) remove(h *handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.handlers, h)
	if i < 0 {
		return
	}
	f.handlers = slices.Delete(f.handlers, i, i+1)
	h.close()
	if !f.started {
		close(h.finished)
	}
}

// start starts the handlers.
func (f *fanout) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = true
	for _, h := range f.handlers {
		f.run(h)
	}
}

// stop drops what is pending and waits for the calls that are under way.
func (f *fanout) stop() {
	f.mu.Lock()
	for _, h := range f.handlers {
		h.close()
	}
	f.handlers = nil
	f.mu.Unlock()
	f.running.Wait()
}

// sourceSynced tells the handlers that all of the initial list was published.
func (f *fanout) sourceSynced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true
	for _, h := range f.handlers {
		h.synced.sourceSynced()
	}
}

// publish gives b to every handler. Updates that changed nothing count only for
// handlers that are due for a resync, as all are until the first check; those of
// lists and resyncs never for one that wants no resyncs.
func (f *fanout) publish(b batch) {
	initial, resyncs, repeats := 0, 0, 0
	for i := range b {
		switch b[i].kind {
		case initialAdd:
			initial++
		case resynced:
			resyncs++
		case repeated:
			repeats++
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.handlers {
		d := delivery{b, h.resyncing && h.resync.period != 0, h.resyncing}
		skipped := 0
		if !d.resyncs {
			skipped += resyncs
		}
		if !d.repeats {
			skipped += repeats
		}
		if skipped == len(b) {
			continue // all of it, or a bookmark, of which there is nothing to tell
		}
		if initial > 0 {
			h.synced.expect(initial)
		}
		h.push(d)
	}
}

// shouldResync tells whether a handler is due, and makes the coming resync go to
// those that are.
func (f *fanout) shouldResync() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	any := false
	for _, h := range f.handlers {
		h.resyncing = h.resync.due(now)
		any = any || h.resyncing
	}
	return any
}

func (f *fanout) resyncCheckChanged(logger klog.Logger, check time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.handlers {
		h.resync.set(logger, check)
	}
}
