package delay

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
	"k8s.io/client-go/util/workqueue"
)

var _ schedule[string] = (*wheel[string])(nil)

// DefaultTick is the tick of a wheel that is given none.
const DefaultTick = time.Millisecond

// NewWheel makes a delaying queue whose schedule is a hierarchical timing
// wheel: AddAfter is O(1) whatever the number of waiting items. Items are ready
// at the first multiple of tick, counted from now, that is not before their
// time: up to one tick late, never early, and in the order of their exact times.
// A tick of 0 means DefaultTick.
func NewWheel[T comparable](config workqueue.TypedDelayingQueueConfig[T], tick time.Duration) workqueue.TypedDelayingInterface[T] {
	return newDelaying(config, newWheel[T](tick))
}

const (
	wheelBits  = 6
	wheelSlots = 1 << wheelBits // as many as bits in a word that tells which are occupied
	// wheelLevels are as many as there are digits.
	wheelLevels = (64 + wheelBits - 1) / wheelBits
	// none ends a list.
	none = ^uint32(0)
	// inRipe is prev of an item that is in no list.
	inRipe = none - 1
)

// wheel is a schedule of wheelLevels levels of wheelSlots lists. A list of level l
// spans 64^l ticks. An item lies on the level of the highest digit, in base 64, in
// which its tick differs from the present tick, in the list of that digit. When
// the present reaches a list above level 0, its items move down, to where they
// would be put now.
//
// A list is in order of insertion and moving keeps that order, so a stable sort
// of the items of one tick by their exact times leaves ties in order of AddAfter.
//
// Invariant: an item whose tick is after the present is in the list of its place,
// any other is in ripe, and so is one that was due when it was added; ripe is in
// order of time; bit s of occupied[l] is set ⇔ lists[l][s] is not empty.
type wheel[T comparable] struct {
	keys     keytable.Table[T, spoke]
	tick     int64
	present  uint64 // in ticks
	occupied [wheelLevels]uint64
	lists    [wheelLevels][wheelSlots]list
	ripe     []uint32 // the slots of keys that come next, from ripe[taken]
	taken    int
}

// A spoke is one waiting item, linked to its neighbours in the list.
type spoke struct {
	at         int64
	prev, next uint32
}

type list struct{ first, last uint32 }

func newWheel[T comparable](tick time.Duration) *wheel[T] {
	switch {
	case tick < 0:
		panic(fmt.Sprintf("delay.NewWheel: tick is %v, expected more than zero, or zero for DefaultTick", tick))
	case tick == 0:
		tick = DefaultTick
	}
	w := &wheel[T]{tick: int64(tick)}
	w.keys.Init()
	w.empty()
	return w
}

func (w *wheel[T]) hash(item T) uint32 { return w.keys.Hash(item) }

func (w *wheel[T]) empty() {
	w.occupied = [wheelLevels]uint64{}
	for l := range w.lists {
		for s := range w.lists[l] {
			w.lists[l][s] = list{none, none}
		}
	}
	w.ripe, w.taken = nil, 0
}

func (w *wheel[T]) drop() {
	w.keys.Clear()
	w.empty()
}

// tickOf is the first tick that is not before at.
func (w *wheel[T]) tickOf(at int64) uint64 {
	if at <= 0 {
		return 0
	}
	return uint64((at-1)/w.tick) + 1
}

// place is where an item of a tick after the present lies.
func (w *wheel[T]) place(tick uint64) (level, slot int) {
	level = (bits.Len64(tick^w.present) - 1) / wheelBits
	return level, int(tick >> (level * wheelBits) % wheelSlots)
}

func (w *wheel[T]) add(hash uint32, item T, now, at int64) {
	w.follow(now)
	slot, waits := w.keys.Enter(hash, item)
	s := w.keys.At(slot)
	if waits {
		if at >= s.at || s.prev == inRipe {
			return // ripe items come next anyway
		}
		w.unlink(s)
	}
	s.at = at
	if tick := w.tickOf(at); tick > w.present && at > now {
		w.link(slot, s, tick)
	} else {
		w.insertRipe(slot, at) // the loop was faster than the caller's look at the clock
	}
}

func (w *wheel[T]) remove(hash uint32, item T) (at int64, waited bool) {
	slot, waited := w.keys.Find(hash, item)
	if !waited {
		return 0, false
	}
	s := w.keys.At(slot)
	if at = s.at; s.prev != inRipe {
		w.unlink(s)
	} else {
		w.ripe = append(w.ripe[:w.taken], slices.DeleteFunc(w.ripe[w.taken:], func(r uint32) bool { return r == slot })...)
	}
	w.keys.Remove(slot)
	return at, true
}

// follow moves the present to now if no list begins until then, so that new
// items lie as low as they can.
func (w *wheel[T]) follow(now int64) {
	if now <= 0 {
		return
	}
	if tick := uint64(now / w.tick); tick > w.present {
		if level, slot := w.first(); level == wheelLevels || w.begin(level, slot) > tick {
			w.present = tick
		}
	}
}

// first is the list that begins next. Every list of a level begins before those
// of the levels above, and on a level they are in order. Level wheelLevels means
// that all are empty.
func (w *wheel[T]) first() (level, slot int) {
	for level < wheelLevels && w.occupied[level] == 0 {
		level++
	}
	if level == wheelLevels {
		return level, 0
	}
	return level, bits.TrailingZeros64(w.occupied[level])
}

// begin is the first tick of a list: the present's digits above, the list's own,
// zeros below.
func (w *wheel[T]) begin(level, slot int) uint64 {
	above := (level + 1) * wheelBits // at most 66: a shift beyond 63 gives 0
	return w.present>>above<<above | uint64(slot)<<(level*wheelBits)
}

func (w *wheel[T]) link(slot uint32, s *spoke, tick uint64) {
	level, digit := w.place(tick)
	l := &w.lists[level][digit]
	s.prev, s.next = l.last, none
	if l.last == none {
		l.first = slot
		w.occupied[level] |= 1 << digit
	} else {
		w.keys.At(l.last).next = slot
	}
	l.last = slot
}

func (w *wheel[T]) unlink(s *spoke) {
	level, digit := w.place(w.tickOf(s.at))
	l := &w.lists[level][digit]
	if s.prev == none {
		l.first = s.next
	} else {
		w.keys.At(s.prev).next = s.next
	}
	if s.next == none {
		l.last = s.prev
	} else {
		w.keys.At(s.next).prev = s.prev
	}
	if l.first == none {
		w.occupied[level] &^= 1 << digit
	}
}

// insertRipe puts a late item where it belongs.
func (w *wheel[T]) insertRipe(slot uint32, at int64) {
	i := len(w.ripe)
	for i > w.taken && w.keys.At(w.ripe[i-1]).at > at {
		i--
	}
	w.keys.At(slot).prev = inRipe
	w.ripe = slices.Insert(w.ripe, i, slot)
}

// advance moves the present towards now until limit items are ripe.
func (w *wheel[T]) advance(now int64, limit int) {
	if now <= 0 {
		return
	}
	target := uint64(now / w.tick)
	for w.present < target && len(w.ripe)-w.taken < limit {
		level, digit := w.first()
		if level == wheelLevels || w.begin(level, digit) > target {
			w.present = target
			return
		}
		w.present = w.begin(level, digit)
		w.open(level, digit)
	}
}

// open empties the list that the present has reached: items of this tick are
// ripe, the others move down.
func (w *wheel[T]) open(level, digit int) {
	l := &w.lists[level][digit]
	slot := l.first
	*l = list{none, none}
	w.occupied[level] &^= 1 << digit
	before, sorted, last := len(w.ripe), true, int64(0)
	for slot != none {
		s := w.keys.At(slot)
		next := s.next
		if tick := w.tickOf(s.at); tick > w.present {
			w.link(slot, s, tick)
		} else {
			sorted = sorted && s.at >= last
			last = s.at
			s.prev = inRipe
			w.ripe = append(w.ripe, slot)
		}
		slot = next
	}
	if !sorted {
		slices.SortStableFunc(w.ripe[before:], func(a, b uint32) int {
			return cmp.Compare(w.keys.At(a).at, w.keys.At(b).at)
		})
	}
}

func (w *wheel[T]) due(now int64, into []T, limit int) []T {
	w.advance(now, limit)
	ripe := w.ripe[w.taken:min(w.taken+limit, len(w.ripe))]
	for i, slot := range ripe {
		if w.keys.At(slot).at > now { // the clock went back
			ripe = ripe[:i]
			break
		}
	}
	for _, slot := range ripe {
		into = append(into, w.keys.Key(slot))
		w.keys.Remove(slot)
	}
	w.taken += len(ripe)
	if w.taken == len(w.ripe) {
		w.ripe, w.taken = w.ripe[:0], 0
		if cap(w.ripe) > 4096 {
			w.ripe = nil
		}
	}
	return into
}

func (w *wheel[T]) next() int64 {
	if w.taken < len(w.ripe) {
		return w.keys.At(w.ripe[w.taken]).at
	}
	level, digit := w.first()
	if level == wheelLevels {
		return never
	}
	if begin := w.begin(level, digit); begin <= uint64(never/w.tick) {
		return int64(begin) * w.tick
	}
	return never
}
