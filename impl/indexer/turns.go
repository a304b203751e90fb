package indexer

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

// turns says when a lister gives way to others, which counts when listers keep all
// processors busy: Go lets each of them go on for 10 ms, and a writer who comes when a
// write is due waits for all of these slices before it.
//
//   - While there are writes, a lister gives way after a slice.
//   - Nobody takes all the time: listers go on for some times as long as what was
//     written meanwhile took, and for as long as they were away if that was long.
type turns struct {
	gave    atomic.Int64  // when a lister last gave way or saw no need to, in nanoseconds since epoch
	until   atomic.Int64  // until when listers go on
	written atomic.Uint64 // writes that listers know of
	learned atomic.Int64  // when they learned of the last, in nanoseconds since epoch
}

const (
	// slice is how long listers go on, some hundred times what it takes to give way.
	slice = 200 * time.Microsecond
	// perWrite is how long they go on for a write that was made when one gave way.
	perWrite = 20 * time.Microsecond
	// overlong is longer than listers alone keep one away that gave way.
	overlong = 3 * time.Millisecond
	// longest is how long listers go on at most after one gave way.
	longest = 100 * time.Millisecond
	// idle is after how long without a write listers give way no more: one that does may
	// go on at another processor, whose caches hold nothing of what it reads.
	idle = 100 * time.Millisecond
	// large is how many elements a list has after which the clock is asked; after
	// smaller ones it is as often as is in proportion.
	large = 8192
)

var epoch = time.Now()

// listed gives way after a list of n elements if it is time to. The caller's snapshot
// is done.
func (s *SnapshotStore) listed(n int) {
	if n < large && rand.IntN(large) >= n {
		return
	}
	t, now := &s.turns, time.Since(epoch)
	if !t.due(now) {
		return
	}
	written := s.written()
	t.gave.Store(int64(now))
	if !t.needed(now, written) {
		return
	}
	runtime.Gosched()
	t.back(time.Since(epoch), s.written()-written)
}

// due tells whether it is time to give way.
func (t *turns) due(now time.Duration) bool {
	return now >= time.Duration(t.until.Load()) && now-time.Duration(t.gave.Load()) >= slice
}

// needed tells whether somebody writes at all, when there were so many writes.
func (t *turns) needed(now time.Duration, written uint64) bool {
	if t.written.Load() != written {
		t.written.Store(written)
		t.learned.Store(int64(now))
	}
	return now-time.Duration(t.learned.Load()) < idle
}

// back notes that a lister has a processor again, after so many writes. Others may have
// given way later than he did, so since then no lister may have run.
func (t *turns) back(now time.Duration, writes uint64) {
	turn := time.Duration(min(writes, uint64(longest/perWrite))) * perWrite
	if away := now - time.Duration(t.gave.Load()); away > overlong {
		turn = max(turn, away)
	}
	t.until.Store(int64(now + min(turn, longest)))
}

// written is how many writes there were.
func (s *SnapshotStore) written() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.clock.now
}
