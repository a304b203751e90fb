package priority

import (
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/gate"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

var _ priorityqueue.PriorityQueue[string] = (*priorityQueue[string])(nil)

// Config configures a priority queue. The zero value is a queue as
// controller-runtime makes it without options.
type Config[T comparable] struct {
	// Name is the name in the metrics; a queue without one has no metrics.
	Name string
	// Clock is for delays and metrics; nil is the real one.
	Clock clock.WithTicker
	// MetricsProvider makes the metrics; see ProviderByPriority. Without one a queue
	// that has a name says in the log that it reports nowhere.
	MetricsProvider workqueue.MetricsProvider
	// RateLimiter answers AddRateLimited; nil is a back-off for each item from
	// 5 ms, doubling up to 1,000 s.
	RateLimiter workqueue.TypedRateLimiter[T]
	// OldestEvery makes every so many-th Get take the item that has been ready
	// for longest, whatever its priority, so that a steady stream of important
	// items can't keep the others waiting for ever
	// (kubernetes-sigs/controller-runtime#3261, #3496). Zero is never.
	OldestEvery int
}

// priorityQueue is one lock around one table: an entry a key, which is linked
// into the list of its priority when it is ready and named in a heap of times
// when it waits. One goroutine, for delays, ends at shutdown.
//
// Invariant: a key has an entry ⇔ it is ready, waiting or in processing; ready
// counts the ready entries, and eligible those of them not in processing. last
// is in processing, or end.
type priorityQueue[T comparable] struct {
	gate.Gate
	limiter  workqueue.TypedRateLimiter[T]
	retries  workqueue.CounterMetric
	depth    *levelDepth
	alarm    *alarm.Alarm
	keys     priorityTable[T]
	levels   levels[T]
	times    dueheap.Heap // of waiting entries, and outdated nodes
	waiting  int
	armed    int64 // when the alarm will ask for what is due
	ready    int
	eligible int
	last     uint32 // the entry handed out last, often the next to be done
	// prompt tells that the last item was done before another was handed out.
	// While that is so, and Lazy tells that hashing can't panic, Done does not hash.
	prompt  atomic.Bool
	turns   uint32
	every   int
	gets    int
	due     []uint32  // scratch of promote
	moments []moments // by slot, with metrics
}

// New makes a priority queue with controller-runtime's options, where
// priorityqueue.New stands. As controller-runtime's it drops what is queued at
// shutdown and its Len counts an item in processing that was added again.
// Opts.Log is not used.
func New[T comparable](name string, opts ...priorityqueue.Opt[T]) priorityqueue.PriorityQueue[T] {
	var o priorityqueue.Opts[T]
	for _, opt := range opts {
		opt(&o)
	}
	return NewWithConfig(Config[T]{Name: name, RateLimiter: o.RateLimiter, MetricsProvider: o.MetricProvider})
}

// NewWithConfig makes a priority queue.
func NewWithConfig[T comparable](config Config[T]) priorityqueue.PriorityQueue[T] {
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	q := newPriorityQueue(config)
	if q.Meter != nil {
		q.Meter.Run(q.tally)
	}
	q.alarm.Run(klog.Background(), q.fire)
	return q
}

// newPriorityQueue makes the queue without its goroutines.
func newPriorityQueue[T comparable](config Config[T]) *priorityQueue[T] {
	if config.RateLimiter == nil {
		config.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second)
	}
	q := &priorityQueue[T]{
		limiter: config.RateLimiter,
		alarm:   alarm.New(config.Clock),
		armed:   alarm.Never,
		every:   config.OldestEvery,
		last:    end,
	}
	q.keys.InitWide()
	q.levels.keys = &q.keys
	q.measure(config)
	return q
}

// Add makes item ready at priority zero.
func (q *priorityQueue[T]) Add(item T) { q.add(0, 0, item) }

// AddAfter makes item ready at priority zero after d.
func (q *priorityQueue[T]) AddAfter(item T, d time.Duration) { q.add(d, 0, item) }

// AddRateLimited makes item ready at priority zero when the rate limiter says.
func (q *priorityQueue[T]) AddRateLimited(item T) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// AddWithOpts makes items ready, in their order. An item that is there already
// keeps the earlier one of its ready times and the higher one of its priorities;
// if that raises it, it goes behind the items that had this priority.
func (q *priorityQueue[T]) AddWithOpts(o priorityqueue.AddOpts, items ...T) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, item := range items {
		after := o.After
		if o.RateLimited {
			if q.ShuttingDown() {
				return
			}
			if d := q.limiter.When(item); after == 0 || d < after {
				after = d
			}
		}
		q.add(after, priority, item)
	}
}

func (q *priorityQueue[T]) add(after time.Duration, priority int, item T) {
	if !q.keys.Lazy() && q.Closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	hash := q.keys.Hash(item) // may panic, as in a map, but not under the lock
	var readyAt int64
	if after > 0 {
		readyAt = alarm.In(q.alarm.Now(), after)
	}
	q.Lock()
	if q.Closed.Load() {
		q.Unlock()
		return
	}
	if q.retries != nil && after > 0 {
		q.guarded(func() time.Duration { q.retries.Inc(); return 0 })
	}
	slot, absent := q.enter(hash, item)
	if !absent && q.keys.At(slot).state() != idle {
		q.update(slot, priority, readyAt)
		q.leave()
		return
	}
	if q.Meter != nil {
		var added time.Duration
		if after <= 0 {
			added = q.countAdd(priority)
		}
		if absent {
			slot = q.keys.Insert(hash, item)
		}
		q.momentsOf(slot).added = added
	}
	e := q.keys.At(slot)
	e.turn = q.turn()
	if after > 0 {
		q.levels.join(e, priority)
		q.wait(e, slot, readyAt)
	} else {
		q.count(e)
		q.levels.push(e, slot, priority)
	}
	if q.Due(q.eligible) {
		q.leave()
		return
	}
	q.Unlock()
}

// enter finds the entry of an item. If there is none it makes one, but not with
// metrics: they come first.
func (q *priorityQueue[T]) enter(hash uint32, item T) (slot uint32, absent bool) {
	if q.Meter != nil {
		slot, found := q.keys.Find(hash, item)
		return slot, !found
	}
	slot, _ = q.keys.Enter(hash, item)
	return slot, false
}

// update adds an item again that is ready or waiting. Zero readyAt is now.
func (q *priorityQueue[T]) update(slot uint32, priority int, readyAt int64) {
	e := q.keys.At(slot)
	old := q.levels.priority(e)
	raised := priority > old
	switch {
	case e.ready() && raised:
		if q.Meter != nil {
			q.guarded(func() time.Duration { q.depth.move(old, priority); return 0 })
		}
		q.unqueue(e, slot)
		q.raise(e, priority)
		q.queue(e, slot)
	case e.state() == waiting && readyAt == 0:
		if q.Meter != nil {
			q.momentsOf(slot).added = q.countAdd(max(priority, old))
		}
		q.waiting--
		if raised {
			q.raise(e, priority)
			q.queue(e, slot)
		} else { // as upstream, it keeps the turn of the delayed Add
			q.count(e)
			q.levels.insertEarly(e, slot)
		}
	case e.state() == waiting:
		if raised {
			q.raise(e, priority)
		}
		if readyAt < e.readyAt() {
			q.waiting--
			q.wait(e, slot, readyAt)
		}
	}
}

// raise gives an entry that is in no list another priority, and a turn.
func (q *priorityQueue[T]) raise(e *priorityEntry, priority int) {
	q.levels.leave(e)
	q.levels.join(e, priority)
	e.turn = q.turn()
}

// queue makes ready an entry that just took its turn.
func (q *priorityQueue[T]) queue(e *priorityEntry, slot uint32) {
	q.count(e)
	q.levels.insert(e, slot)
}

// count counts an entry into the ready ones.
func (q *priorityQueue[T]) count(e *priorityEntry) {
	q.ready++
	if !e.processing() {
		q.eligible++
	}
}

// unqueue takes a ready entry out of the ready ones.
func (q *priorityQueue[T]) unqueue(e *priorityEntry, slot uint32) {
	q.levels.remove(e, slot)
	e.setState(idle)
	q.ready--
	if !e.processing() {
		q.eligible--
	}
}

// Get is GetWithPriority without the priority.
func (q *priorityQueue[T]) Get() (item T, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority takes the ready item of the highest priority, and of several
// the first. As upstream's, it reports a shutdown at once and leaves what is
// queued.
func (q *priorityQueue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	q.Lock()
	for q.eligible == 0 || q.Closed.Load() {
		if q.Closed.Load() {
			q.leave()
			return item, 0, true
		}
		q.Sleep()
	}
	var slot uint32
	var e *priorityEntry
	if q.Meter == nil && q.every == 0 {
		slot, e, priority = q.levels.pop()
	} else {
		slot = q.next()
		e = q.keys.At(slot)
		priority = q.levels.priority(e)
		if q.Meter != nil {
			q.countGet(slot, priority)
		}
		q.levels.remove(e, slot)
		q.levels.leave(e)
	}
	item = q.keys.Key(slot)
	e.word = processing
	q.ready--
	q.eligible--
	if prompt := q.last == end && q.keys.Lazy(); prompt != q.prompt.Load() {
		q.prompt.Store(prompt)
	}
	q.last = slot
	q.Handed()
	if q.Due(q.eligible) {
		q.leave()
		return item, priority, false
	}
	q.Unlock()
	return item, priority, false
}

// next chooses the entry to hand out.
func (q *priorityQueue[T]) next() uint32 {
	if q.every > 0 {
		if q.gets++; q.gets >= q.every {
			q.gets = 0
			return q.levels.oldest()
		}
	}
	return q.levels.first()
}

// Done ends the processing of item. One that was added meanwhile can be got.
func (q *priorityQueue[T]) Done(item T) {
	var hash uint32
	if !q.prompt.Load() {
		hash = q.keys.Hash(item)
	}
	q.Lock()
	slot, found := q.held(hash, item)
	if !found {
		q.Unlock()
		return
	}
	if q.Meter != nil {
		q.countDone(slot)
	}
	q.Finished()
	if slot == q.last {
		q.last = end
	}
	e := q.keys.At(slot)
	e.word &^= processing
	switch e.state() {
	case idle:
		q.keys.Remove(slot)
		if q.keys.Len() == 0 && len(q.moments) > manyMoments {
			q.moments = nil // a burst is over
		}
		q.Unlock() // nobody has to come for that
		return
	case listed, early:
		q.eligible++
	case parked:
		q.eligible++
		q.levels.insertEarly(e, slot)
	}
	q.leave()
}

// held finds the entry of an item in processing.
func (q *priorityQueue[T]) held(hash uint32, item T) (slot uint32, found bool) {
	if q.last != end && q.keys.Key(q.last) == item {
		return q.last, true
	}
	slot, found = q.keys.Find(hash, item)
	return slot, found && q.keys.At(slot).processing()
}

// Forget tells the rate limiter that item succeeded.
func (q *priorityQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is how often the rate limiter saw item fail.
func (q *priorityQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// Len is the number of ready items. As upstream's, it counts an item in
// processing that was added again.
func (q *priorityQueue[T]) Len() int {
	q.Lock()
	defer q.Unlock()
	return q.ready
}

// ShutDown makes every Get return.
func (q *priorityQueue[T]) ShutDown() {
	q.alarm.Stop()
	q.Gate.ShutDown()
	q.alarm.Wait()
}

// ShutDownWithDrain is ShutDown and waits until no item is in processing, which
// upstream's does not.
func (q *priorityQueue[T]) ShutDownWithDrain() {
	q.alarm.Stop()
	q.Gate.ShutDownWithDrain()
	q.alarm.Wait()
}

// leave ends an operation.
func (q *priorityQueue[T]) leave() { q.Leave(q.eligible) }
