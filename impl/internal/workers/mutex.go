package workers

import "sync"

// A Mutex is a sync.Mutex for sections of some tens of nanoseconds. Where one
// processor takes it again and again and another wants it too, it is best that
// the other does nothing: the lines that the lock guards stay in one cache, and
// the lock changes hands for thousands of operations at a time. A goroutine that
// finds a sync.Mutex locked does park soon, but each Unlock then wakes one of
// those who wait, and with many there is always one that runs, comes too late and
// parks again. Here only one of them at a time tries; the others wait for their
// turn to try, and nobody wakes them before that one has got the lock. It gets it
// within about a millisecond, as with a sync.Mutex.
type Mutex struct {
	sync.Mutex
	turn sync.Mutex // of those who found the Mutex locked
}

// Lock locks m. It is a call even if m is free: TryLock, and Wait if that fails,
// are none.
func (m *Mutex) Lock() {
	if !m.TryLock() {
		m.Wait()
	}
}

// Wait locks an m that was found locked.
func (m *Mutex) Wait() {
	m.turn.Lock()
	m.Mutex.Lock()
	m.turn.Unlock()
}
