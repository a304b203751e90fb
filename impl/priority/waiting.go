package priority

import (
	"cmp"
	"slices"

	"github.com/informerbench/informerbench/impl/internal/alarm"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
)

// slack is how many outdated nodes of the heap of times are always tolerated.
const slack = 64

// wait makes an entry ready at a later time. A node that the heap holds for it
// already becomes outdated.
func (q *priorityQueue[T]) wait(e *priorityEntry, slot uint32, at int64) {
	e.setState(waiting)
	e.setReadyAt(at)
	q.waiting++
	q.times.Push(at, slot)
	if q.times.Len() > 2*q.waiting+slack {
		q.times.Filter(q.current)
	}
	if at < q.armed {
		q.armed = at
		q.alarm.Wake()
	}
}

// current tells a node from an outdated one.
func (q *priorityQueue[T]) current(n dueheap.Node) bool {
	if !q.keys.Holds(n.Slot) {
		return false
	}
	e := q.keys.At(n.Slot)
	return e.state() == waiting && e.readyAt() == n.At
}

// fire makes ready what is due and returns when to look again.
func (q *priorityQueue[T]) fire() (next int64, goOn bool) {
	q.Lock()
	defer q.leave()
	if q.Closed.Load() {
		return 0, false
	}
	now := q.alarm.Now()
	for q.times.Gather(now); q.times.Len() > 0 && q.times.Min().At <= now; {
		q.promote()
	}
	q.armed = alarm.Never
	if q.times.Len() > 0 {
		q.armed = q.times.Min().At
	} else {
		q.times.Clear()
	}
	return q.armed, true
}

// promote makes ready the entries of the earliest time, in the order of their
// turns: as upstream, each takes its turn among the ready ones now.
func (q *priorityQueue[T]) promote() {
	q.due = q.due[:0]
	for at := q.times.Min().At; q.times.Len() > 0 && q.times.Min().At == at; {
		if n := q.times.Pop(); q.current(n) {
			q.due = append(q.due, n.Slot)
		}
	}
	if len(q.due) > 1 {
		slices.SortFunc(q.due, func(a, b uint32) int { return cmp.Compare(q.keys.At(a).turn, q.keys.At(b).turn) })
		q.due = slices.Compact(q.due) // a slot may have two nodes of one time
	}
	for _, slot := range q.due {
		e := q.keys.At(slot)
		if q.Meter != nil {
			q.depth.priority = q.levels.priority(e)
			q.momentsOf(slot).added = q.Meter.Add()
		}
		e.turn = q.turn()
		q.waiting--
		q.queue(e, slot)
	}
}
