package fifo

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A gate is what every FIFO has beside its items: the lock, the wait for items,
// closing, and the state of the initial list.
//
// Invariant: synced is closed ⇔ populated and initial == 0.
type gate struct {
	mu      sync.Mutex
	changed sync.Cond // there are new items, or the gate is closed
	name    string
	closed  bool

	// populated: the first Replace, Add, Update or Delete has come.
	populated bool
	// initial counts the first Replace's items that were not handled yet.
	initial  int
	isSynced bool
	synced   chan struct{}
}

var _ cache.DoneChecker = (*gate)(nil)

func (g *gate) init(kind string, config Config) {
	if config.Batch < 0 {
		panic(fmt.Sprintf("fifo: Config.Batch is %d, expected more than zero, or zero for 1,000", config.Batch))
	}
	g.name = kind
	if config.Name != "" {
		g.name += " " + config.Name
	}
	g.changed.L = &g.mu
	g.synced = make(chan struct{})
}

// Close lets Pop drain what is queued and then answer cache.ErrFIFOClosed.
// Writes are not refused.
func (g *gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.changed.Broadcast()
}

// IsClosed tells whether Close was called.
func (g *gate) IsClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// HasSynced tells whether the first Replace's items were popped and handled, or
// something else came first.
func (g *gate) HasSynced() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.isSynced
}

// HasSyncedChecker is done when HasSynced is true.
func (g *gate) HasSyncedChecker() cache.DoneChecker { return g }

// Name names the kind of queue, and what it holds if the Config says.
func (g *gate) Name() string { return g.name }

// Done is closed when HasSynced is true.
func (g *gate) Done() <-chan struct{} { return g.synced }

// The methods below need the lock.

// eventCame notes an Add, Update or Delete: before any Replace, there is no
// initial list to wait for.
func (g *gate) eventCame() {
	if !g.populated {
		g.populated = true
		g.checkSynced()
	}
}

// listCame notes a Replace; items is how many pops the initial list takes.
func (g *gate) listCame(items int) {
	if !g.populated {
		g.populated = true
		g.initial = items
		g.checkSynced()
	}
}

// handled notes that n items of the initial list were handled.
func (g *gate) handled(n int) {
	if n > 0 {
		g.initial -= n
		g.checkSynced()
	}
}

func (g *gate) checkSynced() {
	if g.initial == 0 && !g.isSynced {
		g.isSynced = true
		close(g.synced)
	}
}

// A stopwatch reports a handler that holds up a queue.
type stopwatch struct {
	start time.Duration
	depth int
}

// Upstream's thresholds (kubernetes/kubernetes#103789): a slow handler matters
// when more than slowDepth items wait for it.
const (
	slowDepth   = 10
	slowHandler = 100 * time.Millisecond
)

var epoch = time.Now()

// started starts the stopwatch of a handler that depth items wait for.
func started(depth int) stopwatch {
	if depth <= slowDepth {
		return stopwatch{}
	}
	return stopwatch{start: time.Since(epoch), depth: depth} // half the price of time.Now
}

// stopped logs if the handler of a batch of that size was slow.
func (w stopwatch) stopped(name string, batch int) {
	if w.depth == 0 {
		return
	}
	if took := time.Since(epoch) - w.start; took > min(slowHandler*time.Duration(batch), time.Second) {
		klog.Background().Info("Slow event handlers block the queue", "queue", name, "took", took, "depth", w.depth, "batch", batch)
	}
}
