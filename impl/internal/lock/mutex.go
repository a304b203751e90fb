// Package lock has a mutex for sections of some tens of nanoseconds, where its own
// cost is a large part of all that is done.
package lock

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Mutex is a sync.Mutex that costs half as much while nobody waits: to lock it
// is one atomic instruction, to unlock it none. The zero Mutex is unlocked.
//
// Unlock clears locked, then looks whether someone waits; who waits says so, then
// looks at locked. If neither look is made before the write that precedes it is
// seen, one of the two sees what the other wrote. That takes an atomic
// instruction on either side. Here Unlock does without, where the processor gives
// plain writes the order that the lock needs (see unlock): who waits looks at
// locked again when a write of an Unlock that it may have met has had the time to
// be seen, and after a millisecond should that not have been enough. The monitors
// of the Java virtual machine HotSpot do that, too. Elsewhere, and under the race
// detector, the write is atomic and nobody is missed.
//
// Where one processor takes the lock again and again and another wants it too, it
// is best that the other does nothing: the lines that the lock guards stay in one
// cache. With a sync.Mutex each Unlock wakes one of those who wait, and it mostly
// comes too late and parks again. Here only one of them at a time tries; the
// others wait for their turn. After some more Unlocks it is given the lock, and
// wakes on the processor of the one that gave it: that one parks when it wants
// the lock next, so the two go on by turns on one processor, where they do not
// meet, until another that has nothing to do takes one of them.
type Mutex struct {
	locked  uint32
	waiting atomic.Uint32 // 1 when the one that tries wants to be given the lock
	left    int32         // Unlocks until it is; they may miss one another's counting

	turn   sync.Mutex    // of those who found the Mutex locked
	given  chan struct{} // of the one that tries
	again  *time.Timer   // of the one that tries
	tenure int32         // or 1; set together with given
}

const (
	// tenure is how many Unlocks there are before the lock is given to the one that
	// tries. It is asleep by then: it wakes where it is if it is not.
	tenure = 64
	// patience is how long the one that tries sleeps before it looks again by itself
	// and wants to be given the lock by the next Unlock.
	patience = time.Millisecond
)

// TryLock locks m if it is free, and reports whether it did.
func (m *Mutex) TryLock() bool { return atomic.CompareAndSwapUint32(&m.locked, 0, 1) }

// Lock locks m. It is no call if m is free.
func (m *Mutex) Lock() {
	if !m.TryLock() {
		m.wait()
	}
}

// Unlock unlocks m, which must be locked.
func (m *Mutex) Unlock() { unlock(m) }

// Yield makes the next Unlock give m to the one that waits for it. It is for who has
// m and will not want it soon.
func (m *Mutex) Yield() {
	if m.waiting.Load() != 0 {
		atomic.StoreInt32(&m.left, 0)
	}
}

// wait is Lock of an m that was found locked.
func (m *Mutex) wait() {
	m.turn.Lock()
	m.try()
	m.turn.Unlock()
}

// try is wait of the one whose turn it is.
func (m *Mutex) try() {
	if m.given == nil {
		m.given = make(chan struct{}, 1)
		m.again = time.NewTimer(patience)
		m.tenure = tenure
		if standsStill() {
			m.tenure = 1
		}
	}
	for left := m.tenure; ; left = 0 {
		atomic.StoreInt32(&m.left, left)
		m.waiting.Store(1)
		if m.TryLock() || m.look() && m.TryLock() {
			m.waiting.Store(0)
			return
		}
		if given := m.sleep(); given {
			return
		}
	}
}

// standsStill tells whether time is virtual, as in a bubble of testing/synctest, where
// it stands still while anybody waits for a sync.Mutex: for his turn, that is. To rely
// on a timer might be to wait for ever, so the next Unlock must give the lock.
func standsStill() bool {
	now := time.Now()
	pause(32)
	return time.Since(now) == 0
}

// What look sees of m in looks looks.
const (
	looks  = 12
	seldom = 3 // times that it was locked at most if it is used seldom
)

// look tells after a microsecond, in which a write of Unlock is seen, whether m is
// locked so seldom that it is best to try it again. If it is not, who has it will
// see what waiting said before. If it was locked at every look, it is not used
// again and again, but once and for long, and the next Unlock shall give it.
func (m *Mutex) look() bool {
	pause(32)
	n := 0
	for range looks {
		if atomic.LoadUint32(&m.locked) != 0 {
			n++
		}
		pause(1)
	}
	if n == looks {
		m.Yield()
	}
	return n <= seldom
}

// sleep waits until m is given, or for a while.
func (m *Mutex) sleep() (given bool) {
	m.again.Reset(patience)
	select {
	case <-m.given:
		return true
	case <-m.again.C:
	}
	if m.waiting.CompareAndSwap(1, 0) {
		return false
	}
	<-m.given
	return true
}

// give gives m to the one that tries, after an Unlock.
//
//lint:ignore U1000 assembly calls it
func give(m *Mutex) {
	if !m.TryLock() {
		return // who has it will come here, for it locked it after waiting was set
	}
	if m.waiting.CompareAndSwap(1, 0) {
		m.given <- struct{}{}
		return
	}
	m.Unlock()
}
