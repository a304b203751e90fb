package delay

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// heartbeat bounds how late a ready item is found when the clock loses a timer
// (clause 6).
const heartbeat = 10 * time.Second

// batch is how many due items are taken under one lock.
const batch = 256

// never is the ready time of an empty schedule, and of delays past 292 years.
const never = math.MaxInt64

// A schedule holds the waiting items. Times are nanoseconds since the queue
// was made. It is used under the queue's lock.
type schedule[T comparable] interface {
	// add makes item wait until at; of an item that waits already the earlier
	// time stays.
	add(item T, at int64)
	// due removes up to limit items that are ready at now and appends them to
	// into, in the order of their ready times.
	due(now int64, into []T, limit int) []T
	// next is the time at which due must be called again, or never. It is not
	// before the time of the last call of due.
	next() int64
}

var _ workqueue.TypedDelayingInterface[string] = (*delaying[string])(nil)

// delaying puts a schedule in front of a work queue. One goroutine, the loop,
// moves due items: it takes them from the schedule under the lock and adds them
// to the inner queue outside it, so order is kept because there is one mover,
// and no lock is held while foreign code (clock, metrics, inner queue) runs.
//
// Invariant: armed ≤ schedule.next() whenever mu is free, and the loop is
// awake or will wake at armed.
type delaying[T comparable] struct {
	workqueue.TypedInterface[T]

	clock   clock.WithTicker
	base    time.Time
	retries workqueue.CounterMetric // nil without a name or a provider
	foreign bool                    // the inner queue came from the caller, who may shut it down

	mu      sync.Mutex
	waiting schedule[T] // nil once shutdown began
	armed   int64
	stopped atomic.Bool

	dueItems []T // of the loop
	wake     chan struct{}
	stop     chan struct{}
	ended    chan struct{}
}

// newDelaying makes the queue and starts its loop.
func newDelaying[T comparable](config workqueue.TypedDelayingQueueConfig[T], waiting schedule[T]) *delaying[T] {
	logger := klog.Background()
	if config.Logger != nil {
		logger = *config.Logger
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	q := &delaying[T]{
		TypedInterface: config.Queue,
		foreign:        config.Queue != nil,
		clock:          config.Clock,
		base:           config.Clock.Now(),
		waiting:        waiting,
		armed:          never,
		wake:           make(chan struct{}, 1),
		stop:           make(chan struct{}),
		ended:          make(chan struct{}),
	}
	if q.TypedInterface == nil {
		q.TypedInterface = newInner(workqueue.TypedQueueConfig[T]{
			Name:            config.Name,
			MetricsProvider: config.MetricsProvider,
			Clock:           config.Clock,
		})
	}
	if config.Name != "" && config.MetricsProvider != nil {
		q.retries = config.MetricsProvider.NewRetriesMetric(config.Name)
	}
	go q.loop(logger, config.Clock.NewTicker(heartbeat))
	return q
}

// AddAfter adds item once d has passed; see the package comment for what holds
// when it waits already.
func (q *delaying[T]) AddAfter(item T, d time.Duration) {
	if q.stopped.Load() || q.foreign && q.ShuttingDown() {
		return
	}
	if q.retries != nil {
		q.retries.Inc()
	}
	if d <= 0 {
		q.Add(item)
		return
	}
	now := int64(q.clock.Since(q.base))
	at := now + int64(d)
	if at < now {
		at = never // the sum overflowed
	}
	if q.insert(item, at) {
		select {
		case q.wake <- struct{}{}:
		default: // the loop has a wake-up to come
		}
	}
}

// insert schedules item and reports whether the loop sleeps past its time. The
// unlock is deferred because hashing an interface key may panic.
func (q *delaying[T]) insert(item T, at int64) (wake bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		return false
	}
	q.waiting.add(item, at)
	if next := q.waiting.next(); next < q.armed {
		q.armed = next
		return true
	}
	return false
}

// ShutDown drops what waits and shuts the inner queue down.
func (q *delaying[T]) ShutDown() {
	q.end()
	q.TypedInterface.ShutDown()
	<-q.ended
}

// ShutDownWithDrain drops what waits and drains the inner queue.
func (q *delaying[T]) ShutDownWithDrain() {
	q.end()
	q.TypedInterface.ShutDownWithDrain()
	<-q.ended
}

// end drops what waits and tells the loop to return. It does not wait for the
// loop: an inner queue may block Add until its own shutdown.
func (q *delaying[T]) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped.Swap(true) {
		return
	}
	q.waiting = nil
	close(q.stop)
}

// loop moves due items until the shutdown of this queue or of the inner one.
func (q *delaying[T]) loop(logger klog.Logger, beat clock.Ticker) {
	defer close(q.ended)
	defer utilruntime.HandleCrashWithLogger(logger)
	defer beat.Stop()
	var timer clock.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()

	for !q.TypedInterface.ShuttingDown() {
		var ready <-chan time.Time
		switch wait, some := q.fire(); {
		case !some:
		case timer == nil:
			timer = q.clock.NewTimer(wait)
			ready = timer.C()
		default:
			// A fake clock's timer blocks its clock when it fires into a full
			// channel, so a value nobody read goes first.
			timer.Stop()
			select {
			case <-timer.C():
			default:
			}
			timer.Reset(wait)
			ready = timer.C()
		}
		select {
		case <-q.stop:
			return
		case <-q.wake:
		case <-ready:
		case <-beat.C():
		}
	}
	q.end()
}

// fire adds everything that is due to the inner queue and returns how long the
// loop may sleep, and whether anything waits.
func (q *delaying[T]) fire() (wait time.Duration, some bool) {
	for {
		now := int64(q.clock.Since(q.base))
		next := q.take(now)
		if len(q.dueItems) == 0 {
			return time.Duration(next - now), next != never
		}
		for _, item := range q.dueItems {
			q.Add(item)
		}
		clear(q.dueItems)
	}
}

// take moves a batch of due items to dueItems; when there is none it arms the
// loop for the next.
func (q *delaying[T]) take(now int64) (next int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dueItems = q.dueItems[:0]
	if q.waiting == nil {
		return never
	}
	q.dueItems = q.waiting.due(now, q.dueItems, batch)
	if len(q.dueItems) == 0 {
		q.armed = q.waiting.next()
	}
	return q.armed
}
