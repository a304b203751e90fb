package delay

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/informerbench/informerbench/impl/queue"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// batch is how many due items are taken under one lock.
const batch = 256

// never is the ready time of an empty schedule, and of delays past 292 years.
const never = alarm.Never

// A schedule holds the waiting items. Times are nanoseconds since the queue
// was made. It is used under the queue's lock.
type schedule[T comparable] interface {
	// hash is what add wants to know of an item. It needs no lock. It panics where a
	// map would: an item of an interface type may not be comparable.
	hash(item T) uint32
	// add makes item, at now, wait until at; of an item that waits already the earlier
	// time stays. It calls no foreign code.
	add(hash uint32, item T, now, at int64)
	// due removes up to limit items that are ready at now and appends them to
	// into, in the order of their ready times.
	due(now int64, into []T, limit int) []T
	// next is asked after due, with no add between them, and is the time at which due
	// must be called again, or never. It is not before the time of that call of due.
	next() int64
	// remove removes item, and returns when it would have been ready if it waited.
	remove(hash uint32, item T) (at int64, waited bool)
	// drop removes everything.
	drop()
}

// A Rescheduler is a delaying queue whose waiting items can be given another time,
// or none. All of ours are: use a type assertion.
type Rescheduler[T comparable] interface {
	workqueue.TypedDelayingInterface[T]
	// Cancel drops a waiting AddAfter of item, and reports whether there was one.
	// What is queued or in processing stays.
	Cancel(item T) bool
	// Replace makes item ready once d has passed, sooner or later than it would
	// have been.
	Replace(item T, d time.Duration)
	// Postpone makes a waiting item ready no sooner than once d has passed, and
	// reports whether it waits.
	Postpone(item T, d time.Duration) bool
}

var _ Rescheduler[string] = (*delaying[string])(nil)

// delaying puts a schedule in front of a work queue. The alarm's goroutine moves
// due items: it takes them from the schedule under the lock and adds them to the
// inner queue outside it, so order is kept because there is one mover, and no
// lock is held while foreign code (clock, metrics, inner queue) runs.
//
// Invariant: no item is ready before armed whenever mu is free, and the alarm's
// goroutine is awake, or about to be, or will be at armed.
type delaying[T comparable] struct {
	workqueue.TypedInterface[T]

	alarm   *alarm.Alarm
	retries workqueue.CounterMetric // nil without a name or a provider
	foreign bool                    // the inner queue came from the caller, who may shut it down

	mu      sync.Mutex
	waiting schedule[T] // empty once stopped
	armed   int64
	stopped atomic.Bool // written under mu

	dueItems []T // of the alarm's goroutine
}

// newDelaying makes the queue and starts its alarm.
func newDelaying[T comparable](config workqueue.TypedDelayingQueueConfig[T], waiting schedule[T]) workqueue.TypedDelayingInterface[T] {
	logger := klog.Background()
	if config.Logger != nil {
		logger = *config.Logger
	}
	foreign := config.Queue != nil
	var retries workqueue.CounterMetric
	if core.Reports(config.Name, config.MetricsProvider, foreign) {
		retries = core.Made(config.MetricsProvider.NewRetriesMetric(config.Name), "retries", config.Name)
	}
	if !foreign {
		config.Queue = queue.NewCompact(workqueue.TypedQueueConfig[T]{
			Name:            config.Name,
			MetricsProvider: config.MetricsProvider,
			Clock:           config.Clock,
		})
	}
	q := &delaying[T]{
		TypedInterface: config.Queue,
		foreign:        foreign,
		alarm:          alarm.New(config.Clock),
		retries:        retries,
		waiting:        waiting,
		armed:          never,
	}
	q.alarm.Run(logger, q.fire)
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
	now := q.alarm.Now()
	at := alarm.In(now, d)
	hash := q.waiting.hash(item)
	q.mu.Lock() // nothing panics until Unlock
	if q.stopped.Load() {
		q.mu.Unlock()
		return
	}
	q.wait(hash, item, now, at)
	q.mu.Unlock()
}

// wait makes item wait until at, under the lock.
func (q *delaying[T]) wait(hash uint32, item T, now, at int64) {
	q.waiting.add(hash, item, now, at)
	if at < q.armed {
		q.armed = at
		q.alarm.Wake() // never blocks
	}
}

// Cancel implements Rescheduler.
func (q *delaying[T]) Cancel(item T) bool {
	return q.reschedule(item, 0, func(_, _ int64, _ bool) (int64, bool) { return 0, false })
}

// Replace implements Rescheduler.
func (q *delaying[T]) Replace(item T, d time.Duration) {
	q.reschedule(item, d, func(at, _ int64, _ bool) (int64, bool) { return at, d > 0 })
	if d <= 0 {
		q.Add(item)
	}
}

// Postpone implements Rescheduler.
func (q *delaying[T]) Postpone(item T, d time.Duration) bool {
	return q.reschedule(item, d, func(at, before int64, waited bool) (int64, bool) { return max(at, before), waited })
}

// reschedule asks next whether and until when an item is to wait, of which it tells
// the time d from now, and until when it waited if it did.
func (q *delaying[T]) reschedule(item T, d time.Duration, next func(at, before int64, waited bool) (int64, bool)) (waited bool) {
	now, hash := q.alarm.Now(), q.waiting.hash(item)
	q.mu.Lock() // nothing panics until Unlock
	defer q.mu.Unlock()
	if q.stopped.Load() {
		return false
	}
	before, waited := q.waiting.remove(hash, item)
	if at, wait := next(alarm.In(now, d), before, waited); wait {
		q.wait(hash, item, now, at)
	}
	return waited
}

// ShutDown drops what waits and shuts the inner queue down.
func (q *delaying[T]) ShutDown() {
	q.end()
	q.TypedInterface.ShutDown()
	q.awaitEnd()
}

// ShutDownWithDrain drops what waits and drains the inner queue.
func (q *delaying[T]) ShutDownWithDrain() {
	q.end()
	q.TypedInterface.ShutDownWithDrain()
	q.awaitEnd()
}

// awaitEnd returns when the alarm's goroutine has ended. A queue of the caller's may
// shut down from within its Add, in that very goroutine: nobody waits for it there,
// and it ends once Add has returned.
func (q *delaying[T]) awaitEnd() {
	if !q.foreign {
		q.alarm.Wait()
	}
}

// end drops what waits and stops the alarm. It does not wait for the alarm's
// goroutine: an inner queue may block Add until its own shutdown.
func (q *delaying[T]) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped.Swap(true) {
		return
	}
	q.waiting.drop()
	q.alarm.Stop()
}

// fire adds everything that is due to the inner queue.
func (q *delaying[T]) fire() (next int64, goOn bool) {
	for !q.TypedInterface.ShuttingDown() {
		next = q.take(q.alarm.Now())
		if len(q.dueItems) == 0 {
			return next, true
		}
		for _, item := range q.dueItems {
			q.Add(item)
		}
		clear(q.dueItems)
	}
	q.end()
	return never, false
}

// take moves a batch of due items to dueItems; when there is none it says when
// to come back.
func (q *delaying[T]) take(now int64) (next int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dueItems = q.dueItems[:0]
	if q.stopped.Load() {
		return never
	}
	q.dueItems = q.waiting.due(now, q.dueItems, batch)
	if len(q.dueItems) == 0 {
		q.armed = q.waiting.next()
	}
	return q.armed
}
