package ratelimit

import (
	"reflect"
	"time"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"k8s.io/utils/clock"
)

const (
	// batch is how many due items are queued under one lock.
	batch = 256
	// slack is how many outdated nodes are always tolerated.
	slack = 64
)

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
	if q.addAfter(q.hash(item), item, at) {
		q.alarm.Wake()
	}
}

func (q *fused[T]) addAfter(hash uint32, item T, at int64) (early bool) {
	q.Lock() // nothing panics until Unlock
	if !q.ShuttingDown() {
		early = q.schedule(q.slotOf(hash, item), at)
	}
	q.Unlock()
	return early
}

// slotOf finds or makes the entry of an item.
func (q *fused[T]) slotOf(hash uint32, item T) uint32 {
	if q.last != end && q.keys.Key(q.last) == item {
		return q.last
	}
	slot, _ := q.keys.Enter(hash, item)
	return slot
}

// schedule makes an entry wait until at and reports whether the alarm would
// come too late.
func (q *fused[T]) schedule(slot uint32, at int64) (early bool) {
	at = max(at, 1) // 0 says that an entry does not wait
	e := q.keys.At(slot)
	switch {
	case e.at == 0:
		q.waiting++
	case at < e.at:
		q.outdated++
	default:
		return false
	}
	e.at = at
	q.order.Push(at, slot)
	q.tidy()
	if at < q.armed {
		q.armed = at
		return true
	}
	return false
}

// tidy drops the outdated nodes when they outnumber the others. Each is dropped
// once, so this costs O(1) a call in the long run.
func (q *fused[T]) tidy() {
	if q.outdated > q.waiting+slack {
		q.order.Filter(q.current)
		q.outdated = q.order.Len() - q.waiting
	}
}

// current tells a node from an outdated one. The slot of an outdated node may
// have passed to another key, even one that is ready at the same time: then
// either node stands for it, and the other is outdated.
func (q *fused[T]) current(n dueheap.Node) bool {
	return q.keys.Holds(n.Slot) && q.keys.At(n.Slot).at == n.At
}

// fire queues everything that is due.
func (q *fused[T]) fire() (next int64, goOn bool) {
	for !q.ShuttingDown() {
		next, more := q.promote(q.alarm.Now())
		if !more {
			return next, true
		}
	}
	return alarm.Never, false
}

// promote queues a batch of due items and returns when the next is due and
// whether it already may be.
func (q *fused[T]) promote(now int64) (next int64, more bool) {
	wake := false
	q.Lock()
	defer func() { // after a panic in a metric too: a worker that is to be woken must be
		q.tidy()
		q.Unlock()
		if wake {
			q.Signal()
		}
	}()
	q.order.Gather(now)
	for range batch {
		if q.order.Len() == 0 || q.order.Min().At > now {
			q.armed = alarm.Never
			if q.waiting == 0 {
				q.order.Clear()
				q.outdated = 0
			} else {
				q.armed = q.order.Min().At
			}
			return q.armed, false
		}
		n := q.order.Min()
		if !q.current(n) {
			q.order.Pop()
			q.outdated--
			continue
		}
		e := q.keys.At(n.Slot)
		isDirty := e.word&dirty != 0
		var added time.Duration
		if !isDirty {
			added = q.count() // may panic: nothing has changed yet
		}
		q.order.Pop()
		q.waiting--
		e.at = 0
		if !isDirty {
			wake = q.mark(n.Slot, added) || wake
		}
	}
	return 0, true
}

// drop forgets what waits.
func (q *fused[T]) drop() {
	q.order.Filter(func(n dueheap.Node) bool {
		if q.current(n) {
			e := q.keys.At(n.Slot)
			e.at = 0
			q.release(n.Slot, e)
		}
		return false
	})
	q.order = dueheap.Heap{}
	q.waiting, q.outdated = 0, 0
}

// AddRateLimited counts a failure of item and queues it when the limiter's
// delay has passed.
func (q *fused[T]) AddRateLimited(item T) {
	if q.own == nil {
		q.AddAfter(item, q.limiter.When(item))
		return
	}
	if q.retries != nil && !q.ShuttingDown() {
		q.retries.Inc()
	}
	now := q.alarm.Now()
	bucketNow := q.bucketTime(now)
	early, wake := q.addRateLimited(q.hash(item), item, now, bucketNow)
	if early {
		q.alarm.Wake()
	}
	if wake {
		q.Signal()
	}
}

func (q *fused[T]) addRateLimited(hash uint32, item T, now, bucketNow int64) (early, wake bool) {
	q.Lock()
	defer q.Unlock()
	slot := q.slotOf(hash, item)
	e := q.keys.At(slot)
	delay := q.fail(e, bucketNow)
	switch {
	case q.ShuttingDown():
		return false, false // the failure counts, as upstream's limiter counts it
	case delay > 0:
		return q.schedule(slot, alarm.In(now, delay)), false
	case e.word&dirty != 0:
		return false, false
	}
	return false, q.mark(slot, q.count())
}

// fail counts a failure as the controller would and returns its delay.
func (q *fused[T]) fail(e *entry, bucketNow int64) time.Duration {
	c := q.own
	return max(0, c.bucket.reserve(bucketNow), exponential(c.base, c.max, fail(&e.failures)))
}

// bucketTime is the time of the controller's bucket at the queue's time now.
func (q *fused[T]) bucketTime(now int64) int64 {
	if q.oneTime {
		return now
	}
	return q.own.now()
}

// when is the controller's When.
func (q *fused[T]) when(item T) time.Duration {
	hash, now := q.hash(item), q.bucketTime(q.alarm.Now())
	q.Lock() // nothing panics until Unlock
	delay := q.fail(q.keys.At(q.slotOf(hash, item)), now)
	q.Unlock()
	return delay
}

// Forget resets the failures of item. It does not imply Done.
func (q *fused[T]) Forget(item T) {
	if q.own == nil {
		q.limiter.Forget(item)
		return
	}
	hash := q.hash(item)
	q.Lock() // nothing panics until Unlock
	if slot, found := q.find(hash, item); found {
		e := q.keys.At(slot)
		e.failures = 0
		q.release(slot, e)
	}
	q.Unlock()
}

// NumRequeues is the limiter's count of failures since the last Forget.
func (q *fused[T]) NumRequeues(item T) int {
	if q.own == nil {
		return q.limiter.NumRequeues(item)
	}
	hash := q.hash(item)
	failures := 0
	q.Lock() // nothing panics until Unlock
	if slot, found := q.find(hash, item); found {
		failures = int(q.keys.At(slot).failures)
	}
	q.Unlock()
	return failures
}

// adopt makes a controller that was not used yet ask q, which has that clock; a
// used one refuses. Somebody may ask the controller meanwhile.
func (c *Controller[T]) adopt(q *fused[T], queueClock clock.Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys.Len() > 0 || !c.bucket.fresh() || c.adopter.Load() != nil {
		return
	}
	q.own, q.oneTime = c, sameClock(c.clock, queueClock)
	c.adopter.Store(q)
}

// sameClock tells whether one reading will do for both.
func sameClock(a, b clock.PassiveClock) bool {
	aIsReal := a == nil // as a stopwatch has it
	_, bIsReal := b.(clock.RealClock)
	if aIsReal || bIsReal {
		return aIsReal && bIsReal
	}
	return reflect.ValueOf(a).Comparable() && a == b
}
