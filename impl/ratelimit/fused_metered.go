package ratelimit

import "time"

// A fused queue with metrics holds its lock under a defer, as the meter calls the
// user's code, which may panic, and before it changes anything. One without runs no
// code of the user's.

// times are the moments a meter needs, valid while dirty and while processing.
type times struct{ added, started time.Duration }

// addMetered is Add but for the waking.
func (q *fused[T]) addMetered(hash uint32, item T) (wake bool) {
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

// getMetered is get under the lock, where the meter may panic.
func (q *fused[T]) getMetered() (item T, shutdown, wake bool) {
	q.Lock()
	defer q.Unlock()
	return q.get()
}

// doneMetered is done under the lock, where the meter may panic.
func (q *fused[T]) doneMetered(hash uint32, item T) (wake bool) {
	q.Lock()
	defer q.Unlock()
	return q.done(hash, item)
}

// count tells the meter of an item that becomes dirty.
func (q *fused[T]) count() (added time.Duration) {
	if q.meter == nil {
		return 0
	}
	return q.meter.Add()
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
