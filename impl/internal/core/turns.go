package core

import "sync"

// Turns is a sync.Mutex of which one goroutine at a time waits, while the others
// wait for their turn to do so: an Unlock wakes one that is about to be the owner,
// and never those behind it. With many workers on few processors a sync.Mutex alone
// spends most of the time on waking who finds it locked again.
type Turns struct{ mu, turn sync.Mutex }

// Lock locks t.
func (t *Turns) Lock() {
	if !t.mu.TryLock() {
		t.wait()
	}
}

func (t *Turns) wait() {
	t.turn.Lock()
	t.mu.Lock()
	t.turn.Unlock()
}

// Unlock unlocks t.
func (t *Turns) Unlock() { t.mu.Unlock() }
