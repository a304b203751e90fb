package core

import (
	"time"

	"github.com/informerbench/informerbench/impl/internal/keytable"
)

// Sets are the three sets of a work queue, queue, dirty and processing, in one
// table, without lock or waiting: an entry a key, whose state is two bits and
// whose place in a list is a link.
//
// Invariant: a key has an entry ⇔ it is dirty or in processing or its X is not
// zero.
type Sets[T, X comparable] struct {
	Keys keytable.Table[T, Entry[X]]
}

// An Entry is all that is known of a key.
type Entry[X comparable] struct {
	X    X      // what a queue adds; first, because an empty one would take room at the end
	Word uint32 // Dirty and Processing, and the link to the next entry of a list
}

const (
	Dirty      = 1 << 31
	Processing = 1 << 30
	// End is the link of the last entry, and the bits of a link; slots are smaller.
	End = keytable.MaxSlot + 1
)

// A List is linked entries, from Head to Tail. Both are valid while Len is not zero.
type List struct {
	Head, Tail uint32
	Len        int
}

// Push appends an entry, which is dirty and not in processing from now on.
func (s *Sets[T, X]) Push(l *List, slot uint32, e *Entry[X]) {
	e.Word = Dirty | End
	if l.Len == 0 {
		l.Head = slot
	} else {
		s.Link(l.Tail, slot)
	}
	l.Tail = slot
	l.Len++
}

// Link makes next the one after slot.
func (s *Sets[T, X]) Link(slot, next uint32) {
	e := s.Keys.At(slot)
	e.Word = e.Word&^End | next
}

// Shift takes the first entry, which has that link, out of a list.
func (l *List) Shift(next uint32) {
	l.Head = next & End
	l.Len--
}

// Held finds the entry of an item in processing; nil if it is not.
func (s *Sets[T, X]) Held(hash uint32, item T) (slot uint32, e *Entry[X]) {
	slot, found := s.Keys.Find(hash, item)
	if found {
		if e = s.Keys.At(slot); e.Word&Processing != 0 {
			return slot, e
		}
	}
	return 0, nil
}

// Hand marks an entry, which is in no list any more, as in processing only.
func (e *Entry[X]) Hand() { e.Word = Processing }

// Return ends the processing of an entry, and reports whether it is dirty.
func (e *Entry[X]) Return() (dirty bool) {
	e.Word &^= Processing
	return e.Word&Dirty != 0
}

// Release removes an entry that nothing needs any more.
func (s *Sets[T, X]) Release(slot uint32, e *Entry[X]) {
	if *e == (Entry[X]{}) {
		s.Keys.Remove(slot)
	}
}

// Started yields when the entries in processing were handed out.
func (s *Sets[T, X]) Started(yield func(time.Duration) bool) {
	for slot, e := range s.Keys.All() {
		if e.Word&Processing != 0 && !yield(s.Keys.Times(slot).Started) {
			return
		}
	}
}
