package priority

import (
	"github.com/informerbench/informerbench/impl/internal/core"
	"github.com/informerbench/informerbench/impl/internal/dueheap"
	"github.com/informerbench/informerbench/impl/internal/keytable"
)

// A place is what an entry has beside that of a compact queue, of a key that is
// ready or waits. Numbers of eight bytes are in halves, so that an entry takes no
// more than twenty-four.
type place struct {
	turnLow, turnHigh uint32 // place among the items of one priority
	low, high         uint32 // when a waiting key is ready; low is also the link back of a listed one
	level             uint32 // and flags
}

const (
	waiting  = 1 << 31 // for its ready time
	early    = 1 << 30 // ready, in the heap beside the list
	levelNum = early - 1
)

func (p *place) waits() bool { return p.level&waiting != 0 }
func (p *place) at() int64   { return int64(uint64(p.high)<<32 | uint64(p.low)) }
func (p *place) turn() int64 { return int64(uint64(p.turnHigh)<<32 | uint64(p.turnLow)) }

// levels are the ready items of a priority queue, by priority. Most are appended to
// a list when they become ready. A few come back to an earlier turn: these go into
// a heap beside it.
//
// Invariant: an entry that is ready and not in processing is in the list of its
// level, or in early if it says so; turns rise along a list, and each entry but the
// first knows the one before it. A level of such entries is in order. Of the levels
// empty count no entry, ready or waiting; there are at most eight more of them than
// of others.
type levels[T comparable] struct {
	core.Sets[T, place]
	byPriority keytable.Table[int, level]
	order      dueheap.Heap // slots of byPriority, highest priority first
	empty      int
}

type level struct {
	list    core.List
	early   *dueheap.Waiting // by turn; nil before the first
	count   int              // entries of this level
	inOrder bool
}

func (l *levels[T]) levelOf(p *place) *level { return l.byPriority.At(p.level & levelNum) }
func (l *levels[T]) priorityOf(p *place) int { return l.byPriority.Key(p.level & levelNum) }

// join gives an entry that is about to be ready or waiting its level.
func (l *levels[T]) join(p *place, priority int) {
	slot, found := l.byPriority.Enter(l.byPriority.Hash(priority), priority)
	v := l.byPriority.At(slot)
	if found && v.count == 0 {
		l.empty--
	}
	v.count++
	p.level = p.level&^levelNum | slot
}

// leave takes back the level of an entry.
func (l *levels[T]) leave(p *place) {
	v := l.levelOf(p)
	if v.count--; v.count > 0 {
		return
	}
	if l.empty++; l.empty > l.byPriority.Len()-l.empty+8 {
		l.sweep()
	}
}

// sweep forgets the levels without entries.
func (l *levels[T]) sweep() {
	l.order.Filter(func(n dueheap.Node) bool { return l.byPriority.At(n.Slot).count > 0 })
	slots := make([]uint32, 0, l.empty)
	for slot, v := range l.byPriority.All() {
		if v.count == 0 {
			slots = append(slots, slot)
		}
	}
	for _, slot := range slots {
		l.byPriority.Remove(slot)
	}
	l.empty = 0
}

// insert adds an entry that has a level and a turn: in O(1) if that is the last one.
func (l *levels[T]) insert(slot uint32) {
	e := l.Keys.At(slot)
	v := l.levelOf(&e.X)
	if !v.inOrder {
		v.inOrder = true
		l.order.Push(int64(^l.priorityOf(&e.X)), e.X.level&levelNum)
	}
	if v.list.Len == 0 || e.X.turn() > l.Keys.At(v.list.Tail).X.turn() {
		e.X.low = v.list.Tail
		l.Push(&v.list, slot, e)
		return
	}
	if v.early == nil {
		v.early = &dueheap.Waiting{Current: l.current}
	}
	e.Word = core.Dirty
	e.X.level |= early
	v.early.Add(e.X.turn(), slot, false)
}

// current tells a node of early from an outdated one: turns are unique.
func (l *levels[T]) current(n dueheap.Node) bool {
	return l.Keys.Holds(n.Slot) && l.Keys.At(n.Slot).X.level&early != 0 && l.Keys.At(n.Slot).X.turn() == n.At
}

// remove takes an entry out, which keeps its level.
func (l *levels[T]) remove(slot uint32) {
	e := l.Keys.At(slot)
	v := l.levelOf(&e.X)
	switch {
	case e.X.level&early != 0:
		e.X.level &^= early
		v.early.Remove()
	case slot == v.list.Head:
		v.list.Shift(e.Word)
	default:
		next := e.Word & core.End
		l.Link(e.X.low, next)
		if slot == v.list.Tail {
			v.list.Tail = e.X.low
		} else {
			l.Keys.At(next).X.low = e.X.low
		}
		v.list.Len--
	}
}

// front is the first entry of a level, if it has one.
func (l *levels[T]) front(v *level) (slot uint32, ok bool) {
	if v.early != nil {
		if n, ok := v.early.First(); ok && (v.list.Len == 0 || n.At < l.Keys.At(v.list.Head).X.turn()) {
			return n.Slot, true
		}
	}
	return v.list.Head, v.list.Len > 0
}

// first is the first entry of the highest priority. There must be one.
func (l *levels[T]) first() uint32 {
	for {
		v := l.byPriority.At(l.order.Min().Slot)
		if slot, ok := l.front(v); ok {
			return slot
		}
		l.order.Pop()
		v.inOrder = false
	}
}

// oldest is the entry whose turn came first whatever its priority, in O(number of
// priorities). There must be one.
func (l *levels[T]) oldest() uint32 {
	oldest, found := uint32(0), false
	for _, v := range l.byPriority.All() {
		slot, ok := l.front(v)
		if ok && (!found || l.Keys.At(slot).X.turn() < l.Keys.At(oldest).X.turn()) {
			oldest, found = slot, true
		}
	}
	return oldest
}
