package ratelimit

import (
	"fmt"
	"sync"
	"time"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

var (
	_ workqueue.TypedRateLimitingInterface[string] = (*fused[string])(nil)
	_ delay.Rescheduler[string]                    = (*fused[string])(nil)
)

// fused is the compact queue whose entries also say when a waiting key is ready, so
// that each call finds its key once.
//
// Invariant: those of core.Queue, and of dueheap.Waiting for the entries that wait.
// armed is not after the first node while the lock is free.
type fused[T comparable] struct {
	core.Queue[T, wait]
	alarm   *alarm.Alarm
	limiter workqueue.TypedRateLimiter[T]
	asking  sync.Mutex              // held from a look whether an item waits until it does
	retries workqueue.CounterMetric // nil without a name or a provider
	options QueueOptions
	times   dueheap.Waiting
	armed   int64
}

// A wait is until when an entry waits, in nanoseconds since the earliest time there
// is; zero when it does not wait.
type wait uint64

const earliest = -1 << 63

func until(at int64) wait { return wait(at - earliest) }
func (w wait) at() int64  { return int64(w) + earliest }

// QueueOptions are what upstream's queue does not have. The zero value is a queue
// that does as upstream's.
type QueueOptions struct {
	// OnceWhileWaiting makes AddRateLimited of an item that waits already do
	// nothing: it counts no failure and takes no token, so that events which come
	// while a retry is pending do not double its delay
	// (kubernetes-sigs/controller-runtime#1594).
	OnceWhileWaiting bool
	// MaxWait bounds for how long AddRateLimited makes an item wait, whatever its
	// limiter says; zero is no bound. See WithMaxReservation for the limiter's side.
	MaxWait time.Duration
}

// NewFusedQueue makes a rate limiting queue that keeps state, ready time and
// metrics of a key in one entry. A config with a DelayingQueue gives the plain
// queue over that one.
func NewFusedQueue[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T] {
	if config.DelayingQueue != nil {
		return NewHeap4Queue(limiter, config)
	}
	return NewFusedQueueWithOptions(limiter, config, QueueOptions{})
}

// NewFusedQueueWithOptions is NewFusedQueue with options. It panics if the config
// has a DelayingQueue, which can't obey them.
func NewFusedQueueWithOptions[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T], options QueueOptions) workqueue.TypedRateLimitingInterface[T] {
	if config.DelayingQueue != nil {
		panic("ratelimit.NewFusedQueueWithOptions: config.DelayingQueue is set, expected nil: the queue keeps its own delays")
	}
	q := newFused(limiter, config, options)
	q.Run()
	q.alarm.Run(klog.Background(), q.fire)
	return q
}

// newFused makes the queue without its goroutines.
func newFused[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T], options QueueOptions) *fused[T] {
	requireLimiter(limiter)
	if options.MaxWait < 0 {
		panic(fmt.Sprintf("ratelimit.NewFusedQueueWithOptions: QueueOptions.MaxWait is %v, expected more than zero, or zero for no bound", options.MaxWait))
	}
	q := &fused[T]{alarm: alarm.New(config.Clock), limiter: limiter, armed: alarm.Never, options: options}
	q.Init(core.NewMeter(config.Name, config.MetricsProvider, config.Clock))
	q.times.Current = func(n dueheap.Node) bool {
		return q.Keys.Holds(n.Slot) && q.Keys.At(n.Slot).X.at() == n.At
	}
	if q.Meter != nil {
		q.retries = core.Made(config.MetricsProvider.NewRetriesMetric(config.Name), "retries", config.Name)
	}
	return q
}

// AddAfter queues item once d has passed; of an item that waits already the
// earlier time stays.
func (q *fused[T]) AddAfter(item T, d time.Duration) {
	if q.ShuttingDown() {
		return
	}
	if q.retries != nil {
		q.retries.Inc()
	}
	if d <= 0 {
		q.Add(item)
		return
	}
	at := alarm.In(q.alarm.Now(), d)
	hash := q.Keys.Hash(item)
	q.Lock() // nothing panics until Unlock
	if !q.ShuttingDown() {
		slot, _ := q.Keys.Enter(hash, item)
		q.schedule(slot, at)
	}
	q.Unlock()
}

// schedule makes an entry wait until at, or until it did before if that is earlier.
func (q *fused[T]) schedule(slot uint32, at int64) {
	w := &q.Keys.At(slot).X
	before := *w
	if before != 0 && at >= before.at() {
		return
	}
	*w = until(at)
	q.times.Add(at, slot, before != 0)
	if at < q.armed {
		q.armed = at
		q.alarm.Wake() // never blocks
	}
}

// unschedule makes an entry wait no longer.
func (q *fused[T]) unschedule(slot uint32) {
	q.Keys.At(slot).X = 0
	q.times.Remove()
}

// Cancel drops a waiting AddAfter of item, and reports whether there was one.
func (q *fused[T]) Cancel(item T) bool {
	_, waited := q.reschedule(item, nil)
	return waited
}

// Replace makes item ready once d has passed, sooner or later than it would have been.
func (q *fused[T]) Replace(item T, d time.Duration) {
	at := alarm.In(q.alarm.Now(), d)
	closed, _ := q.reschedule(item, func(int64, bool) (int64, bool) { return at, d > 0 })
	if d <= 0 && !closed {
		q.Add(item)
	}
}

// Postpone makes a waiting item ready no sooner than once d has passed, and reports
// whether it waits.
func (q *fused[T]) Postpone(item T, d time.Duration) bool {
	at := alarm.In(q.alarm.Now(), d)
	_, waited := q.reschedule(item, func(before int64, waited bool) (int64, bool) { return max(at, before), waited })
	return waited
}

// reschedule ends the waiting of item, and asks next whether and until when it is to
// wait instead. Without next it is not.
func (q *fused[T]) reschedule(item T, next func(before int64, waited bool) (at int64, wait bool)) (closed, waited bool) {
	hash := q.Keys.Hash(item)
	q.Lock()
	defer q.Unlock()
	if q.ShuttingDown() {
		return true, false
	}
	slot, _ := q.Keys.Enter(hash, item)
	before := q.Keys.At(slot).X
	waited = before != 0
	if waited {
		q.unschedule(slot)
	}
	if next != nil {
		if at, waits := next(before.at(), waited); waits {
			q.schedule(slot, at)
		}
	}
	q.Release(slot, q.Keys.At(slot))
	return false, waited
}

// batch is how many due items are queued under one lock.
const batch = 256

// fire queues everything that is due.
func (q *fused[T]) fire() (next int64, goOn bool) {
	for !q.ShuttingDown() {
		if next, more := q.promote(q.alarm.Now()); !more {
			return next, true
		}
	}
	return alarm.Never, false
}

// promote queues a batch of due items and returns when the next is due and
// whether it already may be.
func (q *fused[T]) promote(now int64) (next int64, more bool) {
	q.Lock()
	defer func() { q.Leave(q.Ready.Len) }() // after a panic in a metric too
	q.times.Gather(now)
	for range batch {
		n, ok := q.times.Due(now)
		if !ok {
			q.armed = q.times.Next(alarm.Never)
			return q.armed, false
		}
		q.Keys.At(n.Slot).X = 0
		q.MarkCounted(n.Slot) // if that panics, the process ends as upstream's does
	}
	return 0, true
}

// AddRateLimited counts a failure of item and queues it when the limiter's
// delay has passed.
func (q *fused[T]) AddRateLimited(item T) {
	if q.options.OnceWhileWaiting {
		q.asking.Lock()
		defer q.asking.Unlock() // the limiter may panic
		if q.isWaiting(item) {
			return
		}
	}
	q.AddAfter(item, q.bound(q.limiter.When(item)))
}

func (q *fused[T]) bound(d time.Duration) time.Duration {
	if q.options.MaxWait > 0 {
		return min(d, q.options.MaxWait)
	}
	return d
}

// isWaiting reports whether item waits.
func (q *fused[T]) isWaiting(item T) bool {
	hash := q.Keys.Hash(item)
	q.Lock()
	defer q.Unlock()
	slot, found := q.Keys.Find(hash, item)
	return found && q.Keys.At(slot).X != 0
}

// Forget resets the limiter's failures of item. It does not imply Done.
func (q *fused[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is the limiter's count of failures since the last Forget.
func (q *fused[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// ShutDown drops what waits; what is queued is still handed out.
func (q *fused[T]) ShutDown() {
	q.end()
	q.Queue.ShutDown()
	q.alarm.Wait()
}

// ShutDownWithDrain is ShutDown that waits until nothing is in processing.
func (q *fused[T]) ShutDownWithDrain() {
	q.end()
	q.Queue.ShutDownWithDrain()
	q.alarm.Wait()
}

// end forgets what waits and ends the alarm.
func (q *fused[T]) end() {
	q.Lock()
	defer q.Unlock()
	if q.Closed.Swap(true) {
		return
	}
	q.times.Filter(func(n dueheap.Node) bool {
		if q.times.Current(n) {
			e := q.Keys.At(n.Slot)
			e.X = 0
			q.Release(n.Slot, e)
		}
		return false
	})
	q.times = dueheap.Waiting{}
	q.alarm.Stop()
}
