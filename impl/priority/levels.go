package priority

import (
	"math/bits"

	"github.com/informerbench/informerbench/impl/internal/dueheap"
)

// levels are the ready items of a priority queue, by priority. A program uses
// few priorities: finding one is a scan of a short slice, and finding the
// highest that has items is finding the first bit of a word. With many it is a
// map look-up, and O(log n) in a heap of levels.
//
// Most entries take their turn when they become ready and are appended to a
// list. A few come back to an earlier turn: these go into a heap beside it.
//
// Invariant: a ready entry is in the list of its level, in early, or parked, as
// its state says. Turns rise along a list, and each entry but the first knows
// the one before it. A level whose list or early is not empty is active; a level
// that counts entries is not re-used.
type levels[T comparable] struct {
	keys *priorityTable[T]
	all  []level

	// While there are no more than fewLevels, a level keeps its priority for good,
	// and the active ones are those whose bit in active is set.
	order  [fewLevels]uint8 // levels, highest priority first
	active uint             // bits by place in order

	// Once there are more, find is not nil and heap holds the active ones.
	find   map[int]uint32 // by priority
	heap   dueheap.Heap   // levels, highest priority first
	unused []uint32       // levels that can be given another priority
}

const fewLevels = 8

type level struct {
	priority   int
	head, tail uint32       // the list; tail is valid while there is a head
	early      dueheap.Heap // by turn; may hold outdated nodes
	count      int          // entries of this level, ready or waiting
	rank       uint8        // place in order
	inHeap     bool
}

// of returns the level of a priority.
func (l *levels[T]) of(priority int) uint32 {
	if l.find == nil {
		for i := range l.all {
			if l.all[i].priority == priority {
				return uint32(i)
			}
		}
		return l.add(priority)
	}
	i, ok := l.find[priority]
	if !ok {
		i = l.add(priority)
	}
	return i
}

// add makes the level of a priority.
func (l *levels[T]) add(priority int) uint32 {
	i := uint32(len(l.all))
	if n := len(l.unused); n > 0 {
		i = l.unused[n-1]
		l.unused = l.unused[:n-1]
		l.all[i] = level{priority: priority, head: end, early: l.all[i].early}
	} else {
		if i == maxLevels {
			panic("priority: a queue holds items of at most 268,435,456 priorities at a time")
		}
		l.all = append(l.all, level{priority: priority, head: end})
	}
	switch {
	case l.find != nil:
		l.find[priority] = i
	case len(l.all) <= fewLevels:
		l.arrange()
	default:
		l.change()
	}
	return i
}

// arrange gives the last level its place in order.
func (l *levels[T]) arrange() {
	last := len(l.all) - 1
	r := last
	for ; r > 0 && l.all[l.order[r-1]].priority < l.all[last].priority; r-- {
		l.order[r] = l.order[r-1]
		l.all[l.order[r]].rank = uint8(r)
	}
	l.order[r] = uint8(last)
	l.all[last].rank = uint8(r)
	higher := l.active & (1<<r - 1)
	l.active = higher | (l.active&^higher)<<1
}

// change goes from few levels to many.
func (l *levels[T]) change() {
	l.find = make(map[int]uint32, 2*fewLevels)
	for i := range l.all {
		l.find[l.all[i].priority] = uint32(i)
	}
	for ; l.active != 0; l.active &= l.active - 1 {
		l.activate(uint32(l.order[bits.TrailingZeros(l.active)]))
	}
}

// join gives an entry that is about to be ready or waiting its level.
func (l *levels[T]) join(e *priorityEntry, priority int) {
	i := l.of(priority)
	e.setLevel(i)
	l.all[i].count++
}

// leave takes back the level of an entry.
func (l *levels[T]) leave(e *priorityEntry) {
	i := e.level()
	l.all[i].count--
	if l.find != nil {
		l.recycle(i)
	}
}

// priority is the priority of an entry that has a level.
func (l *levels[T]) priority(e *priorityEntry) int { return l.all[e.level()].priority }

// insert adds an entry whose turn is the last one so far.
func (l *levels[T]) insert(e *priorityEntry, slot uint32) { l.link(e, slot, e.level()) }

// push is join and insert.
func (l *levels[T]) push(e *priorityEntry, slot uint32, priority int) {
	i := l.of(priority)
	l.all[i].count++
	l.link(e, slot, i)
}

// link appends an entry to the list of level i.
func (l *levels[T]) link(e *priorityEntry, slot, i uint32) {
	v := &l.all[i]
	e.word = e.word&processing | uint32(listed)*stateBit | i
	e.next = end
	if v.head == end {
		v.head = slot
		l.activate(i)
	} else {
		e.prev = v.tail
		l.keys.At(v.tail).next = slot
	}
	v.tail = slot
}

// insertEarly adds an entry that has an earlier turn, in O(log n).
func (l *levels[T]) insertEarly(e *priorityEntry, slot uint32) {
	v := &l.all[e.level()]
	e.setState(early)
	v.early.Push(int64(e.turn), slot)
	if v.early.Len() > 2*v.count+slack {
		v.early.Filter(l.current)
	}
	l.activate(e.level())
}

// activate notes that a level has ready entries.
func (l *levels[T]) activate(i uint32) {
	v := &l.all[i]
	if l.find == nil {
		l.active |= 1 << v.rank
	} else if !v.inHeap {
		v.inHeap = true
		l.heap.Push(int64(^v.priority), i)
	}
}

// remove takes an entry out. A node in early becomes outdated.
func (l *levels[T]) remove(e *priorityEntry, slot uint32) {
	if e.state() == listed {
		if v := &l.all[e.level()]; v.head == slot {
			v.head = e.next
		} else {
			l.unlink(v, e, slot)
		}
	}
	e.setState(parked) // current refuses it
}

// unlink takes an entry that is not the head out of a list.
func (l *levels[T]) unlink(v *level, e *priorityEntry, slot uint32) {
	l.keys.At(e.prev).next = e.next
	if v.tail == slot {
		v.tail = e.prev
	} else {
		l.keys.At(e.next).prev = e.prev
	}
}

// current tells a node of early from an outdated one: turns are unique.
func (l *levels[T]) current(n dueheap.Node) bool {
	if !l.keys.Holds(n.Slot) {
		return false
	}
	e := l.keys.At(n.Slot)
	return e.state() == early && int64(e.turn) == n.At
}

// first returns the entry to hand out: the first one not in processing of the
// highest priority. There must be one.
func (l *levels[T]) first() uint32 {
	for l.find == nil {
		if slot := l.front(uint32(l.order[bits.TrailingZeros(l.active)%fewLevels])); slot != end {
			return slot
		}
		l.active &= l.active - 1
	}
	for {
		i := l.heap.Min().Slot
		if slot := l.front(i); slot != end {
			return slot
		}
		l.heap.Pop()
		l.all[i].inHeap = false
		l.recycle(i)
	}
}

// pop takes out the head of the highest level's list, where it is the entry to hand out.
func (l *levels[T]) pop() (slot uint32, e *priorityEntry, priority int) {
	if l.find == nil {
		v := &l.all[l.order[bits.TrailingZeros(l.active)%fewLevels]]
		if slot = v.head; slot != end && v.early.Len() == 0 {
			if e = l.keys.At(slot); !e.processing() {
				v.head = e.next
				v.count--
				return slot, e, v.priority
			}
		}
	}
	slot = l.first()
	e = l.keys.At(slot)
	priority = l.priority(e)
	l.remove(e, slot)
	l.leave(e)
	return slot, e, priority
}

// oldest returns the entry whose turn came first whatever its priority, in
// O(number of priorities). There must be one.
func (l *levels[T]) oldest() uint32 {
	oldest := uint32(end)
	compare := func(i uint32) {
		slot := l.front(i)
		if slot != end && (oldest == end || l.keys.At(slot).turn < l.keys.At(oldest).turn) {
			oldest = slot
		}
	}
	for active := l.active; active != 0; active &= active - 1 {
		compare(uint32(l.order[bits.TrailingZeros(active)]))
	}
	for i := range l.all {
		if l.all[i].inHeap {
			compare(uint32(i))
		}
	}
	return oldest
}

// front returns the first entry of a level that is not in processing, or end.
func (l *levels[T]) front(i uint32) uint32 {
	v := &l.all[i]
	if v.head != end && v.early.Len() == 0 && !l.keys.At(v.head).processing() {
		return v.head
	}
	return l.settle(v)
}

// settle is front when the head of the list is not the one.
func (l *levels[T]) settle(v *level) uint32 {
	for {
		for v.early.Len() > 0 && !l.current(v.early.Min()) {
			v.early.Pop()
		}
		slot := v.head
		if v.early.Len() > 0 && (slot == end || v.early.Min().At < int64(l.keys.At(slot).turn)) {
			slot = v.early.Min().Slot
		}
		if slot == end {
			return end
		}
		e := l.keys.At(slot)
		if !e.processing() {
			return slot
		}
		l.remove(e, slot)
	}
}

// recycle makes a level without entries available to another priority.
func (l *levels[T]) recycle(i uint32) {
	if l.all[i].inHeap || l.all[i].count > 0 {
		return
	}
	delete(l.find, l.all[i].priority)
	l.all[i].early.Clear()
	l.unused = append(l.unused, i)
}
