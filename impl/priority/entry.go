package priority

import (
	"cmp"
	"math"
	"slices"

	"github.com/informerbench/informerbench/impl/internal/keytable"
)

type priorityTable[T comparable] = keytable.Table[T, priorityEntry]

// A priorityEntry is 16 bytes, which with a string as the key and its hash makes
// 36: how many an item costs is how often the garbage collector runs while a
// queue fills.
type priorityEntry struct {
	turn       uint32 // place among the items of one priority
	prev, next uint32 // links while listed; while waiting, the ready time
	word       uint32 // level, state, processing
}

// end is the link of the last entry; slots are smaller.
const end = keytable.MaxSlot + 1

// state is what an entry is besides being in processing or not.
type state uint32

const (
	idle    state = iota // only in processing
	waiting              // for its ready time
	listed               // ready, in the list of its level
	early                // ready, in the heap beside the list
	parked               // ready, but it came first while still in processing
)

const (
	stateBit   = 1 << 28
	maxLevels  = stateBit
	processing = 1 << 31
)

// level is valid unless the entry is idle.
func (e *priorityEntry) level() uint32 { return e.word % stateBit }

func (e *priorityEntry) setLevel(i uint32) { e.word = e.word&^(stateBit-1) | i }

func (e *priorityEntry) state() state { return state(e.word / stateBit % 8) }

func (e *priorityEntry) setState(s state) { e.word = e.word&^(7*stateBit) | uint32(s)*stateBit }

func (e *priorityEntry) ready() bool { return e.state() >= listed }

func (e *priorityEntry) processing() bool { return e.word >= processing }

// readyAt is when a waiting entry becomes ready.
func (e *priorityEntry) readyAt() int64 { return int64(e.prev)<<32 | int64(e.next) }

func (e *priorityEntry) setReadyAt(at int64) { e.prev, e.next = uint32(at>>32), uint32(at) }

// turn is the next turn.
func (q *priorityQueue[T]) turn() uint32 {
	if q.turns == math.MaxUint32 {
		q.renumber()
	}
	q.turns++
	return q.turns
}

// renumber gives the ready and the waiting entries the first turns, in the order
// that they have.
func (q *priorityQueue[T]) renumber() {
	var slots []uint32
	for slot, e := range q.keys.All() {
		if e.state() != idle {
			slots = append(slots, slot)
		}
	}
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Compare(q.keys.At(a).turn, q.keys.At(b).turn) })
	for i := range q.levels.all {
		q.levels.all[i].early.Clear()
	}
	for i, slot := range slots {
		e := q.keys.At(slot)
		e.turn = uint32(i + 1)
		if e.state() == early {
			q.levels.all[e.level()].early.Push(int64(e.turn), slot)
		}
	}
	q.turns = uint32(len(slots))
}
