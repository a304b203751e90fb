package ratelimit

import (
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/keytable"
	"github.com/informerbench/informerbench/impl/internal/meter"
	"github.com/informerbench/informerbench/impl/internal/workers"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

var _ workqueue.TypedRateLimitingInterface[string] = (*fused[string])(nil)

// fused is work queue, delaying queue and, with a Controller as its limiter,
// the limiter in one table behind one lock: each call finds its key once, and
// Get not even that.
//
// Invariant: a key has an entry ⇔ it is dirty, in processing, waiting or has
// failures here. The entries that are dirty and not in processing form the list
// from head to tail, in queue order; length is their number. For each waiting
// entry order has a node {at, slot}; the outdated nodes beyond these are
// counted. armed is not after the first node while the lock is free. last is in
// processing, or end.
type fused[T comparable] struct {
	workers.Workers
	alarm   *alarm.Alarm
	limiter workqueue.TypedRateLimiter[T] // asked for delays, unless own is set
	own     *Controller[T]                // whose failures are in the entries
	oneTime bool                          // own's clock is the queue's
	retries workqueue.CounterMetric       // nil without a name or a provider
	closed  atomic.Bool                   // ShuttingDown, readable without the lock

	keys       keytable.Table[T, entry]
	head, tail uint32
	length     int
	last       uint32 // the entry handed out last, which most calls are about, or end
	// prompt tells that the last item was done before another was handed out.
	// While that is so, and Lazy tells that hashing can't panic, calls about the last
	// item do not hash.
	prompt atomic.Bool

	order    dueheap.Heap
	waiting  int // entries
	outdated int // nodes
	armed    int64

	meter *meter.Meter
	times []times // by slot, with a meter only
}

// An entry is all that is known of a key.
type entry struct {
	at       int64  // when a waiting key is ready; 0 means that it does not wait
	word     uint32 // dirty and processing, and the link to the next queued slot
	failures uint32
}

const (
	dirty      = 1 << 31
	processing = 1 << 30
	// end is the link of the last entry; slots are smaller.
	end = keytable.MaxSlot + 1
)

// times are the moments a meter needs, valid while dirty and while processing.
type times struct{ added, started time.Duration }

// NewFusedQueue makes a rate limiting queue that keeps state, ready time,
// failures and metrics of a key in one entry. Failures are in the entry when
// limiter is a fresh *Controller, from NewDefault or NewController; any other
// limiter is asked as upstream asks it. A config with a DelayingQueue gives the
// plain queue over that one.
//
// The queue's own items become ready in the order of their times, and of equal
// times in the order of the calls.
func NewFusedQueue[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) workqueue.TypedRateLimitingInterface[T] {
	if config.DelayingQueue != nil {
		return NewHeap4Queue(limiter, config)
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	q := newFused(limiter, config)
	if q.meter != nil {
		q.meter.Run(q.update)
	}
	q.alarm.Run(klog.Background(), q.fire)
	return q
}

// newFused makes the queue without its goroutines.
func newFused[T comparable](limiter workqueue.TypedRateLimiter[T], config workqueue.TypedRateLimitingQueueConfig[T]) *fused[T] {
	q := &fused[T]{
		alarm:   alarm.New(config.Clock),
		limiter: limiter,
		head:    end,
		tail:    end,
		last:    end,
		armed:   alarm.Never,
		meter:   meter.New(config.Name, config.MetricsProvider, config.Clock),
	}
	q.Init()
	q.keys.Init()
	if q.meter != nil {
		q.retries = config.MetricsProvider.NewRetriesMetric(config.Name)
	}
	if c, ok := limiter.(*Controller[T]); ok {
		c.adopt(q, config.Clock)
	}
	return q
}

// Add queues item unless it is dirty.
func (q *fused[T]) Add(item T) {
	if !q.keys.Lazy() && q.ShuttingDown() {
		return // as upstream, even an item that can't be hashed
	}
	if q.add(q.keys.Hash(item), item) {
		q.Signal()
	}
}

func (q *fused[T]) add(hash uint32, item T) (wake bool) {
	q.Lock()
	defer q.Unlock()
	if q.ShuttingDown() {
		return false
	}
	slot, found := q.keys.Find(hash, item)
	if found && q.keys.At(slot).word&dirty != 0 {
		return false
	}
	added := q.count()
	if !found {
		slot = q.keys.Insert(hash, item)
	}
	return q.mark(slot, added)
}

// count tells the meter of an item that becomes dirty.
func (q *fused[T]) count() (added time.Duration) {
	if q.meter == nil {
		return 0
	}
	return q.meter.Add()
}

// mark makes an entry dirty that is not, and reports whether to wake a worker.
func (q *fused[T]) mark(slot uint32, added time.Duration) (wake bool) {
	if q.meter != nil {
		q.timesOf(slot).added = added
	}
	e := q.keys.At(slot)
	if e.word&processing != 0 {
		e.word |= dirty // Done will queue it
		return false
	}
	q.push(slot, e)
	return q.Wake()
}

// push queues an entry.
func (q *fused[T]) push(slot uint32, e *entry) {
	e.word = dirty | end
	if q.length == 0 {
		q.head = slot
	} else {
		word := &q.keys.At(q.tail).word
		*word = *word&^end | slot
	}
	q.tail = slot
	q.length++
}

// Len is the number of queued items.
func (q *fused[T]) Len() int {
	q.Lock()
	defer q.Unlock()
	return q.length
}

// Get hands out the oldest queued item.
func (q *fused[T]) Get() (item T, shutdown bool) {
	q.Lock()
	defer q.leave()
	for q.length == 0 {
		if q.ShuttingDown() {
			return item, true
		}
		q.Sleep()
	}
	slot := q.head
	item = q.keys.Key(slot)
	if q.meter != nil {
		t := q.timesOf(slot)
		t.started = q.meter.Get(t.added, item == item)
	}
	e := q.keys.At(slot)
	q.head = e.word & end
	e.word = processing
	if prompt := q.last == end && q.keys.Lazy(); prompt != q.prompt.Load() {
		q.prompt.Store(prompt)
	}
	q.last = slot
	q.length--
	q.Handed()
	return item, false
}

// leave ends a Get, also one that a metric panicked in: the next worker comes for
// what is queued.
func (q *fused[T]) leave() {
	wake := q.length > 0 && q.Wake()
	q.Unlock()
	if wake {
		q.Signal()
	}
}

// Done ends the processing of item; an item that is not in processing is
// ignored.
func (q *fused[T]) Done(item T) {
	if q.done(q.hash(item), item) {
		q.Signal()
	}
}

// hash is the hash of an item that probably is the last one, or zero.
func (q *fused[T]) hash(item T) uint32 {
	if q.prompt.Load() {
		return 0
	}
	return q.keys.Hash(item)
}

// find finds the entry of an item that probably is the last one.
func (q *fused[T]) find(hash uint32, item T) (slot uint32, found bool) {
	if q.last != end && q.keys.Key(q.last) == item {
		return q.last, true
	}
	return q.keys.Find(hash, item)
}

func (q *fused[T]) done(hash uint32, item T) (wake bool) {
	q.Lock()
	defer q.Unlock()
	slot, found := q.find(hash, item)
	if !found {
		return false
	}
	e := q.keys.At(slot)
	if e.word&processing == 0 {
		return false
	}
	if q.meter != nil {
		q.meter.Done(q.timesOf(slot).started)
	}
	q.Finished()
	if slot == q.last {
		q.last = end
	}
	if e.word&dirty != 0 {
		q.push(slot, e)
		return q.Wake()
	}
	e.word = 0
	q.release(slot, e)
	return false
}

// release removes an entry that nothing needs any more.
func (q *fused[T]) release(slot uint32, e *entry) {
	if *e != (entry{}) {
		return
	}
	q.keys.Remove(slot)
	if q.keys.Len() == 0 && len(q.times) > 4096 {
		q.times = nil // a burst is over
	}
}

// timesOf are the times of a slot, of which there are few more than entries.
func (q *fused[T]) timesOf(slot uint32) *times {
	if int(slot) >= len(q.times) {
		q.times = append(q.times, make([]times, int(slot)+1-len(q.times))...)
	}
	return &q.times[slot]
}

// update sets the unfinished-work metrics.
func (q *fused[T]) update() {
	q.Lock()
	defer q.Unlock()
	if q.ShuttingDown() {
		return
	}
	q.meter.Unfinished(func(yield func(time.Duration) bool) {
		for slot, e := range q.keys.All() {
			if e.word&processing != 0 && !yield(q.times[slot].started) {
				return
			}
		}
	})
}

// ShuttingDown tells whether ShutDown or ShutDownWithDrain was called.
func (q *fused[T]) ShuttingDown() bool { return q.closed.Load() }

// ShutDown drops what waits; what is queued is still handed out.
func (q *fused[T]) ShutDown() { q.shutDown(false) }

// ShutDownWithDrain is ShutDown that waits until nothing is in processing.
func (q *fused[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *fused[T]) shutDown(drain bool) {
	q.Lock()
	if !q.closed.Swap(true) {
		q.drop()
		q.alarm.Stop()
		if q.meter != nil {
			q.meter.Stop()
		}
	}
	q.Close(drain)
	if drain {
		q.Drained()
	}
	q.Unlock()
	q.alarm.Wait()
	if q.meter != nil {
		q.meter.Wait()
	}
}
