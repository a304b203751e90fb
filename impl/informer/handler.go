package informer

import (
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A handler delivers notifications to one cache.ResourceEventHandler, in one
// goroutine. It is the registration too.
type handler struct {
	logger klog.Logger
	target cache.ResourceEventHandler
	synced tracker

	resync    resyncTimer // guarded by the fanout's mu
	resyncing bool        // it is due, which counts until the next check; guarded by the fanout's mu

	mu      sync.Mutex
	wake    sync.Cond
	pending []delivery        // unbounded: a slow handler holds up nobody
	spare   []delivery        // the array that pending had before
	backlog cache.GaugeMetric // told waiting; nil if nobody wants to know
	waiting int               // notifications that the handler was not called for yet
	closed  atomic.Bool
	removed chan struct{} // closed with it

	pace     *pacer
	finished chan struct{} // closed when the last call has returned
	crashed  bool          // the last call panicked; only the goroutine looks
}

// A delivery is a batch for one handler.
type delivery struct {
	batch
	resyncs, repeats bool // the handler is to be told of these
}

// newHandler makes a handler that waits for what has the name source.
func newHandler(logger klog.Logger, target cache.ResourceEventHandler, source string) *handler {
	h := &handler{logger: logger, target: target, pace: newPacer(), removed: make(chan struct{}), finished: make(chan struct{}), resyncing: true}
	h.wake.L = &h.mu
	h.synced.init(source + " + event handler " + nameOf(target))
	return h
}

// HasSynced reports whether the handler has seen all of the initial list.
func (h *handler) HasSynced() bool { return cache.IsDone(&h.synced) }

// HasSyncedChecker is done when HasSynced is true.
func (h *handler) HasSyncedChecker() cache.DoneChecker { return &h.synced }

// ShutdownChan is closed when the handler was removed or the informer stopped,
// and the last call has returned. cache.ShutDownEventHandler waits for it.
func (h *handler) ShutdownChan() <-chan struct{} { return h.finished }

// push never blocks.
func (h *handler) push(d delivery) {
	h.mu.Lock()
	h.pending = append(h.pending, d)
	if h.backlog != nil {
		h.waiting += len(d.batch)
		h.backlog.Set(float64(h.waiting))
	}
	wake := len(h.pending) == 1 // else the goroutine is busy, or was woken before
	h.mu.Unlock()
	if wake {
		h.wake.Signal()
	}
}

// took tells the gauge that a notification does not wait any more.
func (h *handler) took() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed.Load() {
		h.waiting--
		h.backlog.Set(float64(h.waiting))
	}
}

// close drops what is pending.
func (h *handler) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed.Swap(true) {
		close(h.removed)
	}
	h.pending = nil
	if h.backlog != nil {
		h.backlog.Set(0)
	}
	h.wake.Signal()
}

// run delivers until close. It takes all that is pending at once.
func (h *handler) run() {
	defer close(h.finished)
	defer h.pace.end()
	for taken := h.take(); taken != nil; taken = h.take() {
		for i := range taken {
			if !h.deliver(taken[i]) {
				break
			}
			taken[i] = delivery{}
		}
		h.pace.rest()
		if cap(taken) <= maxSpare {
			h.spare = taken
		}
	}
}

// maxSpare is how many deliveries' room a handler keeps after a backlog.
const maxSpare = 4096

// take waits for deliveries; nil means that the handler was closed.
func (h *handler) take() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.pending) == 0 && !h.closed.Load() {
		h.wake.Wait()
	}
	taken := h.pending
	h.pending, h.spare = h.spare[:0], nil
	if h.closed.Load() {
		return nil
	}
	return taken
}

// deliver makes the calls of a batch. It is false when the handler was closed.
func (h *handler) deliver(d delivery) (open bool) {
	for next := 0; next < len(d.batch); {
		if h.crashed {
			h.pace.rest()
			select { // a handler that always panics must not take all the time
			case <-time.After(time.Second):
			case <-h.removed:
			}
		}
		if !h.call(d, &next) {
			return false
		}
	}
	return true
}

// call makes the calls from next on. A panic ends the process, unless
// utilruntime.ReallyCrash was set to false: then its notification is skipped. An
// initial object counts as seen all the same, else the registration would never sync.
func (h *handler) call(d delivery, next *int) (open bool) {
	var n *notification
	open, h.crashed = true, true
	defer func() {
		if h.crashed && n != nil && n.kind == initialAdd {
			h.synced.seen()
		}
	}()
	defer utilruntime.HandleCrashWithLogger(h.logger)
	for *next < len(d.batch) {
		if h.closed.Load() {
			open, h.crashed = false, false
			return open
		}
		n = &d.batch[*next]
		*next++
		if h.backlog != nil {
			h.took()
		}
		h.pace.before()
		switch n.kind {
		case added:
			h.target.OnAdd(n.new, false)
		case initialAdd:
			h.target.OnAdd(n.new, true)
			h.synced.seen()
		case updated:
			h.target.OnUpdate(n.old, n.new)
		case resynced:
			if d.resyncs {
				h.target.OnUpdate(n.old, n.new)
			}
		case repeated:
			if d.repeats {
				h.target.OnUpdate(n.old, n.new)
			}
		case deleted:
			h.target.OnDelete(n.old)
		}
	}
	h.crashed = false
	return true
}

// A tracker is done when the source has synced and the handler has seen every
// object of the initial list.
type tracker struct {
	name     string
	unseen   atomic.Int64
	upstream atomic.Bool
	once     sync.Once
	done     chan struct{}
}

func (t *tracker) init(name string) { t.name, t.done = name, make(chan struct{}) }

// Name says what is waited for.
func (t *tracker) Name() string { return t.name }

// Done is closed when the tracker is done.
func (t *tracker) Done() <-chan struct{} { return t.done }

func (t *tracker) expect(n int) { t.unseen.Add(int64(n)) }

func (t *tracker) seen() {
	if t.unseen.Add(-1) == 0 && t.upstream.Load() {
		t.finish()
	}
}

func (t *tracker) sourceSynced() {
	t.upstream.Store(true)
	if t.unseen.Load() == 0 {
		t.finish()
	}
}

func (t *tracker) finish() { t.once.Do(func() { close(t.done) }) }
