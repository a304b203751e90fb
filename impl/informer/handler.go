package informer

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
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
	resyncing bool        // guarded by the fanout's mu

	mu      sync.Mutex
	wake    sync.Cond
	asleep  bool
	pending []delivery // unbounded: a slow handler holds up nobody
	spare   []delivery // the array that pending had before
	closed  atomic.Bool
	stalled *atomic.Int32 // the informer's

	finished chan struct{} // closed when the last call has returned
	crashed  bool          // the last call panicked; only the goroutine looks
}

// A delivery is a batch for one handler.
type delivery struct {
	*batch
	resyncing bool // the handler asked for the batch's resyncs
}

func newHandler(logger klog.Logger, target cache.ResourceEventHandler, example runtime.Object, stalled *atomic.Int32) *handler {
	h := &handler{logger: logger, target: target, stalled: stalled, finished: make(chan struct{}), resyncing: true}
	h.wake.L = &h.mu
	h.synced.init(func() string { return nameOf(example, target) })
	return h
}

// nameOf is what upstream calls a handler: by its functions, as logs of what a
// program waits for could not tell one handler of functions from the other by
// the type. An informer of upstream's that never runs gives the name.
func nameOf(example runtime.Object, target cache.ResourceEventHandler) string {
	registration, err := cache.NewSharedIndexInformer(nil, example, 0, nil).AddEventHandler(target)
	if err != nil {
		return fmt.Sprintf("event handler %T", target)
	}
	return registration.HasSyncedChecker().Name()
}

// HasSynced tells whether the handler has seen all of the initial list.
func (h *handler) HasSynced() bool { return cache.IsDone(&h.synced) }

// HasSyncedChecker is done when HasSynced is true.
func (h *handler) HasSyncedChecker() cache.DoneChecker { return &h.synced }

// ShutdownChan is closed when the handler was removed or the informer stopped,
// and the last call has returned. cache.ShutDownEventHandler waits for it.
func (h *handler) ShutdownChan() <-chan struct{} { return h.finished }

// push never blocks. It wakes the goroutine only if that sleeps: while the
// handler is busy, batches gather at the price of an append.
func (h *handler) push(d delivery) {
	h.mu.Lock()
	h.pending = append(h.pending, d)
	wake := h.asleep
	h.asleep = false
	h.mu.Unlock()
	if wake {
		h.stalled.Add(1)
		h.wake.Signal()
	}
}

// close drops what is pending.
func (h *handler) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed.Store(true)
	h.pending = nil
	h.wake.Signal()
}

// run delivers until close. It takes all that is pending at once.
func (h *handler) run() {
	defer close(h.finished)
	for {
		taken := h.take()
		if taken == nil {
			return
		}
		for i := range taken {
			if !h.deliver(taken[i]) {
				return
			}
			taken[i] = delivery{}
		}
		if cap(taken) <= maxSpare {
			h.spare = taken
		}
	}
}

// maxSpare is how many deliveries' room a handler keeps after a backlog.
const maxSpare = 4096

func (h *handler) take() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.pending) == 0 && !h.closed.Load() {
		h.asleep = true
		h.wake.Wait()
		if !h.asleep { // push has woken it, not close
			h.stalled.Add(-1)
		}
	}
	taken := h.pending
	h.pending, h.spare = h.spare[:0], nil
	return taken
}

// deliver makes the calls of a batch. It is false when the handler was closed.
func (h *handler) deliver(d delivery) bool {
	for next := 0; next < len(d.notifications); {
		if h.crashed {
			time.Sleep(time.Second) // a handler that always panics must not take all the time
		}
		if !h.call(d, &next) {
			return false
		}
	}
	d.finished()
	return true
}

// call makes the calls from next on. A panic ends the process, unless
// utilruntime.ReallyCrash was set to false: then its notification is skipped.
func (h *handler) call(d delivery, next *int) (open bool) {
	open, h.crashed = true, true
	defer utilruntime.HandleCrashWithLogger(h.logger)
	for *next < len(d.notifications) {
		if h.closed.Load() {
			return false
		}
		n := &d.notifications[*next]
		*next++
		switch n.kind {
		case added:
			h.target.OnAdd(n.new, false)
		case initialAdd:
			h.target.OnAdd(n.new, true)
			h.synced.seen()
		case updated:
			h.target.OnUpdate(n.old, n.new)
		case resynced:
			if d.resyncing {
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
	name     func() string
	unseen   atomic.Int64
	upstream atomic.Bool
	once     sync.Once
	done     chan struct{}
}

func (t *tracker) init(name func() string) { t.name, t.done = name, make(chan struct{}) }

// Name says what is waited for.
func (t *tracker) Name() string { return t.name() }

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
