//go:build !amd64 || !gc || race

package lock

import "sync/atomic"

// unlock clears m.locked and calls answer if somebody waits.
func unlock(m *Mutex) {
	atomic.StoreUint32(&m.locked, 0)
	if m.waiting.Load() != nothing {
		answer(m)
	}
}

// deserted is not needed, as unlock is atomic.
func (m *Mutex) deserted() bool { return false }
