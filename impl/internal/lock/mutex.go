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
// locked once more when a write of an Unlock that it may have met has had the
// time to be seen, and again within a millisecond should that not have been
// enough. The monitors of the Java virtual machine HotSpot do that, too. Elsewhere,
// and under the race detector, the write is atomic and nobody is missed.
//
// Where one processor takes the lock again and again and another wants it too, it
// is best that the other does nothing: the lines that the lock guards stay in one
// cache, and the lock changes hands for thousands of operations at a time. With a
// sync.Mutex each Unlock wakes one of those who wait, and with many there is
// always one that runs, comes too late and parks again. Here only one of them at a
// time tries; the others wait for their turn to try, and nobody wakes them before
// that one has got the lock. It gets it within about a millisecond, as with a
// sync.Mutex: after that it wants to be given it, and who unlocks does so.
type Mutex struct {
	locked  uint32
	waiting atomic.Uint32 // what the one that tries wants of an Unlock

	turn  sync.Mutex  // of those who found the Mutex locked
	woken chan bool   // whether it was given the lock; of the one that tries
	again *time.Timer // of the one that tries
}

// What waiting says. Who sets it back to nothing, by a compare and swap, owes the
// one that tries a value in woken, unless it does so itself.
const (
	nothing = iota
	waking  // to be told that the lock is free
	giving  // to be given the lock
)

// patience is how long the one that tries sleeps before it looks again by itself,
// and how long it tries before it wants to be given the lock.
const patience = time.Millisecond

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

// wait is Lock of an m that was found locked.
func (m *Mutex) wait() {
	m.turn.Lock()
	m.try()
	m.turn.Unlock()
}

// try is wait of the one whose turn it is.
func (m *Mutex) try() {
	if m.woken == nil {
		m.woken = make(chan bool, 1)
		m.again = time.NewTimer(patience)
	}
	want := uint32(waking)
	for begin := time.Now(); ; {
		m.waiting.Store(want)
		if m.TryLock() || m.deserted() && m.TryLock() {
			if !m.waiting.CompareAndSwap(want, nothing) {
				<-m.woken // in vain: it was released in between
			}
			return
		}
		if given := m.sleep(want); given {
			return
		}
		if time.Since(begin) >= patience {
			want = giving
		}
	}
}

// sleep waits until somebody does what waiting says, or for a while. Waiting says
// nothing then.
func (m *Mutex) sleep(want uint32) (given bool) {
	m.again.Reset(patience)
	select {
	case given = <-m.woken:
		return given
	case <-m.again.C:
	}
	if m.waiting.CompareAndSwap(want, nothing) {
		return false
	}
	return <-m.woken
}

// answer does what the one that tries wants, after an Unlock.
//
//lint:ignore U1000 assembly calls it
func answer(m *Mutex) {
	switch want := m.waiting.Load(); want {
	case waking:
		if m.waiting.CompareAndSwap(waking, nothing) {
			m.woken <- false
		}
	case giving:
		if !m.TryLock() {
			return // who has it will come here, for it locked it after waiting was set
		}
		if m.waiting.CompareAndSwap(giving, nothing) {
			m.woken <- true
			return
		}
		m.Unlock()
	}
}
