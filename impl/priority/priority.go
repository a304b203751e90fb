package priority

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
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

// priorityQueue is the core of a compact queue with a list a priority in place of
// one, and a heap of ready times. One goroutine, for delays, ends at shutdown.
//
// Invariant: those of core.Workers, levels, and dueheap.Waiting; a key has an entry
// ⇔ it is ready, waiting or in processing. ready counts the ready entries, and
// eligible those of them not in processing.
type priorityQueue[T comparable] struct {
	core.Workers
	levels[T]
	limiter  workqueue.TypedRateLimiter[T]
	retries  workqueue.CounterMetric
	depth    *levelDepth
	alarm    *alarm.Alarm
	times    dueheap.Waiting
	armed    int64 // when the alarm will ask for what is due
	ready    int
	eligible int
	turns    int64
	every    int
	gets     int
	due      []dueheap.Node // scratch of promote
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
	q := newPriorityQueue(config)
	if q.Meter != nil {
		q.Meter.Run(q.update)
	}
	q.alarm.Run(klog.Background(), q.fire)
	return q
}

// newPriorityQueue makes the queue without its goroutines.
func newPriorityQueue[T comparable](config Config[T]) *priorityQueue[T] {
	if config.RateLimiter == nil {
		config.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second)
	}
	if config.OldestEvery < 0 {
		panic(fmt.Sprintf("priority: Config.OldestEvery is %d, expected zero or more", config.OldestEvery))
	}
	q := &priorityQueue[T]{
		limiter: config.RateLimiter,
		alarm:   alarm.New(config.Clock),
		armed:   alarm.Never,
		every:   config.OldestEvery,
	}
	q.Keys.Init()
	q.byPriority.Init()
	q.times.Current = func(n dueheap.Node) bool {
		return q.Keys.Holds(n.Slot) && q.Keys.At(n.Slot).X.waits() && q.Keys.At(n.Slot).X.at() == n.At
	}
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
	if !q.Keys.Lazy() && q.Closed.Load() {
		return // as upstream, even an item that can't be hashed
	}
	hash := q.Keys.Hash(item) // may panic, as in a map, but not under the lock
	var readyAt int64
	if after > 0 {
		readyAt = alarm.In(q.alarm.Now(), after)
	}
	q.Lock()
	if !q.Closed.Load() {
		if q.retries != nil && after > 0 {
			q.Count(q.eligible, q.retries.Inc)
		}
		q.put(hash, item, priority, after > 0, readyAt)
	}
	q.Leave(q.eligible)
}

// put makes item ready, or makes it wait until readyAt.
func (q *priorityQueue[T]) put(hash uint32, item T, priority int, later bool, readyAt int64) {
	slot, _ := q.Keys.Enter(hash, item)
	e := q.Keys.At(slot)
	if e.Word&core.Dirty != 0 || e.X.waits() {
		q.again(slot, priority, later, readyAt)
		return
	}
	if q.Meter != nil && !later {
		q.countAdd(slot, priority)
	}
	q.join(&e.X, priority)
	q.takeTurn(&e.X)
	if later {
		q.wait(slot, readyAt, false)
	} else {
		q.makeReady(slot)
	}
}

// again is put of an item that is ready or waiting.
func (q *priorityQueue[T]) again(slot uint32, priority int, later bool, readyAt int64) {
	e := q.Keys.At(slot)
	old := q.priorityOf(&e.X)
	raised := priority > old
	switch {
	case e.Word&core.Dirty != 0:
		if !raised {
			return
		}
		if q.Meter != nil {
			q.Count(q.eligible, func() { q.depth.move(old, priority) })
		}
		if e.Word&core.Processing != 0 {
			q.raise(&e.X, priority)
			return
		}
		q.remove(slot)
		q.raise(&e.X, priority)
		q.insert(slot)
	case !later:
		if q.Meter != nil {
			q.countAdd(slot, max(priority, old))
		}
		e.X.level &^= waiting
		q.times.Remove()
		if raised { // else, as upstream, it keeps the turn of the delayed Add
			q.raise(&e.X, priority)
		}
		q.makeReady(slot)
	default:
		if raised {
			q.raise(&e.X, priority)
		}
		if readyAt < e.X.at() {
			q.wait(slot, readyAt, true)
		}
	}
}

// raise gives an entry that is in no list another priority, and a turn.
func (q *priorityQueue[T]) raise(p *place, priority int) {
	q.leave(p)
	q.join(p, priority)
	q.takeTurn(p)
}

func (q *priorityQueue[T]) takeTurn(p *place) {
	q.turns++
	p.turnLow, p.turnHigh = uint32(q.turns), uint32(q.turns>>32)
}

// makeReady makes ready an entry that has its level and its turn. One in processing
// is put into its place when it is done.
func (q *priorityQueue[T]) makeReady(slot uint32) {
	q.ready++
	if e := q.Keys.At(slot); e.Word&core.Processing != 0 {
		e.Word |= core.Dirty
		return
	}
	q.eligible++
	q.insert(slot)
}

// wait makes an entry ready at a later time.
func (q *priorityQueue[T]) wait(slot uint32, at int64, waits bool) {
	p := &q.Keys.At(slot).X
	p.level |= waiting
	p.low, p.high = uint32(at), uint32(at>>32)
	q.times.Add(at, slot, waits)
	if at < q.armed {
		q.armed = at
		q.alarm.Wake()
	}
}

// batch is how many due items are made ready under one lock, and those of the same
// time as the last.
const batch = 256

// fire makes ready what is due and returns when to look again.
func (q *priorityQueue[T]) fire() (next int64, goOn bool) {
	for !q.Closed.Load() {
		if next, more := q.promote(q.alarm.Now()); !more {
			return next, true
		}
	}
	return 0, false
}

// promote makes ready a batch of what is due, those of one time in the order of their
// turns: as upstream, each takes its turn among the ready ones now.
func (q *priorityQueue[T]) promote(now int64) (next int64, more bool) {
	q.Lock()
	defer func() { q.Leave(q.eligible) }() // after a panic in a metric too
	q.due = q.due[:0]
	for q.times.Gather(now); len(q.due) < batch || q.times.Next(alarm.Never) == q.due[len(q.due)-1].At; {
		n, ok := q.times.Due(now)
		if !ok {
			break
		}
		q.Keys.At(n.Slot).X.level &^= waiting
		q.due = append(q.due, n)
	}
	slices.SortFunc(q.due, func(a, b dueheap.Node) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(q.Keys.At(a.Slot).X.turn(), q.Keys.At(b.Slot).X.turn()))
	})
	for _, n := range q.due {
		p := &q.Keys.At(n.Slot).X
		if q.Meter != nil {
			q.depth.priority = q.priorityOf(p)
			q.Keys.Times(n.Slot).Added = q.Meter.Add()
		}
		q.takeTurn(p)
		q.makeReady(n.Slot)
	}
	more = len(q.due) >= batch
	if cap(q.due) > 2*batch {
		q.due = nil // a burst of one time is over
	}
	q.armed = q.times.Next(alarm.Never)
	return q.armed, more
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
			q.Leave(q.eligible)
			return item, 0, true
		}
		q.Sleep()
	}
	slot := q.next()
	e := q.Keys.At(slot)
	item, priority = q.Keys.Key(slot), q.priorityOf(&e.X)
	if q.Meter != nil {
		q.Count(q.eligible, func() {
			q.depth.priority = priority
			q.Meter.Get(q.Keys.Times(slot), item == item)
		})
	}
	q.remove(slot)
	q.leave(&e.X)
	e.X = place{}
	e.Hand()
	q.ready--
	q.eligible--
	q.Handed()
	q.Leave(q.eligible)
	return item, priority, false
}

// next chooses the entry to hand out.
func (q *priorityQueue[T]) next() uint32 {
	if q.every > 0 {
		if q.gets++; q.gets >= q.every {
			q.gets = 0
			return q.oldest()
		}
	}
	return q.first()
}

// Done ends the processing of item. One that was added meanwhile can be got.
func (q *priorityQueue[T]) Done(item T) {
	hash := q.Keys.Hash(item)
	q.Lock()
	slot, e := q.Held(hash, item)
	if e == nil {
		q.Unlock()
		return
	}
	if q.Meter != nil {
		q.Count(q.eligible, func() { q.Meter.Done(q.Keys.Times(slot)) })
	}
	q.Finished()
	if e.Return() {
		q.eligible++
		q.insert(slot)
	} else if !e.X.waits() {
		q.Keys.Remove(slot)
	}
	q.Leave(q.eligible)
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
	q.Workers.ShutDown()
	q.alarm.Wait()
}

// ShutDownWithDrain is ShutDown and waits until no item is in processing, which
// upstream's does not.
func (q *priorityQueue[T]) ShutDownWithDrain() {
	q.alarm.Stop()
	q.Workers.ShutDownWithDrain()
	q.alarm.Wait()
}
