package priority

import "github.com/informerbench/informerbench/impl/internal/dueheap"

// levels are the ready items of a priority queue, by priority. A program uses
// few priorities, so finding one is a scan of a short slice; with many it is a
// map look-up, and O(log n) in a heap of levels.
//
// Most entries take their turn when they become ready and are appended to a
// list. A few come back to an earlier turn: these go into a heap beside it.
//
// Invariant: a ready entry is in the list of its level, in early, or parked, as
// its place says. Turns rise along a list. A level whose list or early is not
// empty is in the heap of levels; a level that counts entries is not re-used.
type levels[T comparable] struct {
	keys   *priorityTable[T]
	all    []level
	unused []uint32       // levels that can be given another priority
	find   map[int]uint32 // by priority, once there are more than fewLevels
	heap   []uint32       // levels, highest priority first
}

type level struct {
	priority   int
	head, tail uint32       // the list
	early      dueheap.Heap // by turn; may hold outdated nodes
	count      int          // entries of this level, wherever they are
	inHeap     bool
}

// place is where a ready entry is.
type place uint8

const (
	listed place = iota
	early
	parked // it came first, but was still in processing
)

// fewLevels is the number of levels that are searched one by one and kept for
// good.
const fewLevels = 8

// of returns the level of a priority.
func (l *levels[T]) of(priority int) uint32 {
	if l.find == nil {
		for i := range l.all {
			if l.all[i].priority == priority {
				return uint32(i)
			}
		}
	} else if i, ok := l.find[priority]; ok {
		return i
	}
	var i uint32
	if n := len(l.unused); n > 0 {
		i = l.unused[n-1]
		l.unused = l.unused[:n-1]
	} else {
		i = uint32(len(l.all))
		l.all = append(l.all, level{})
	}
	l.all[i] = level{priority: priority, head: end, tail: end, early: l.all[i].early}
	if l.find != nil {
		l.find[priority] = i
	} else if len(l.all) > fewLevels {
		l.find = make(map[int]uint32, 2*fewLevels)
		for i := range l.all {
			l.find[l.all[i].priority] = uint32(i)
		}
	}
	return i
}

// insert adds an entry whose turn is the last one so far.
func (l *levels[T]) insert(e *priorityEntry, slot uint32) {
	v := l.join(e)
	e.place, e.prev, e.next = listed, v.tail, end
	if v.tail == end {
		v.head = slot
	} else {
		l.keys.At(v.tail).next = slot
	}
	v.tail = slot
}

// insertEarly adds an entry that has an earlier turn, in O(log n).
func (l *levels[T]) insertEarly(e *priorityEntry, slot uint32) {
	v := l.join(e)
	e.place = early
	v.early.Push(int64(e.turn), slot)
	if v.early.Len() > 2*v.count+slack {
		v.early.Filter(l.current)
	}
}

// join counts an entry into the level of its priority.
func (l *levels[T]) join(e *priorityEntry) *level {
	e.level = l.of(e.priority)
	v := &l.all[e.level]
	v.count++
	if !v.inHeap {
		v.inHeap = true
		l.heap = append(l.heap, e.level)
		l.up(len(l.heap) - 1)
	}
	return v
}

// remove takes an entry out. A node in early becomes outdated.
func (l *levels[T]) remove(e *priorityEntry) {
	if e.place == listed {
		l.unlink(e)
	}
	e.place = parked // current refuses it
	l.all[e.level].count--
	l.recycle(e.level)
}

func (l *levels[T]) unlink(e *priorityEntry) {
	v := &l.all[e.level]
	if e.prev == end {
		v.head = e.next
	} else {
		l.keys.At(e.prev).next = e.next
	}
	if e.next == end {
		v.tail = e.prev
	} else {
		l.keys.At(e.next).prev = e.prev
	}
}

// unpark puts an entry back in its turn.
func (l *levels[T]) unpark(e *priorityEntry, slot uint32) {
	l.all[e.level].count--
	l.insertEarly(e, slot)
}

// current tells a node of early from an outdated one: turns are unique.
func (l *levels[T]) current(n dueheap.Node) bool {
	if !l.keys.Holds(n.Slot) {
		return false
	}
	e := l.keys.At(n.Slot)
	return e.place == early && int64(e.turn) == n.At
}

// first returns the entry to hand out: the first one not in processing of the
// highest priority. There must be one.
func (l *levels[T]) first() uint32 {
	for {
		i := l.heap[0]
		if slot := l.front(i); slot != end {
			return slot
		}
		last := len(l.heap) - 1
		l.heap[0] = l.heap[last]
		l.heap = l.heap[:last]
		l.down()
		l.all[i].inHeap = false
		l.recycle(i)
	}
}

// oldest returns the entry whose turn came first whatever its priority, in
// O(number of priorities). There must be one.
func (l *levels[T]) oldest() uint32 {
	oldest := uint32(end)
	for _, i := range l.heap {
		slot := l.front(i)
		if slot != end && (oldest == end || l.keys.At(slot).turn < l.keys.At(oldest).turn) {
			oldest = slot
		}
	}
	return oldest
}

// front returns the first entry of a level that is not in processing, or end.
func (l *levels[T]) front(i uint32) uint32 {
	v := &l.all[i]
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
		if !e.processing {
			return slot
		}
		if e.place == listed {
			l.unlink(e)
		}
		e.place = parked
	}
}

// recycle makes a level without entries available to another priority.
func (l *levels[T]) recycle(i uint32) {
	if l.find == nil || l.all[i].inHeap || l.all[i].count > 0 {
		return
	}
	delete(l.find, l.all[i].priority)
	l.all[i].early.Clear()
	l.unused = append(l.unused, i)
}

// before orders levels in the heap.
func (l *levels[T]) before(i, j uint32) bool {
	return l.all[i].priority > l.all[j].priority
}

func (l *levels[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !l.before(l.heap[i], l.heap[parent]) {
			return
		}
		l.heap[i], l.heap[parent] = l.heap[parent], l.heap[i]
		i = parent
	}
}

func (l *levels[T]) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(l.heap) {
			return
		}
		if child+1 < len(l.heap) && l.before(l.heap[child+1], l.heap[child]) {
			child++
		}
		if !l.before(l.heap[child], l.heap[i]) {
			return
		}
		l.heap[i], l.heap[child] = l.heap[child], l.heap[i]
		i = child
	}
}
