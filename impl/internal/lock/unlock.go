//go:build !amd64 || !gc || race

package lock

import "sync/atomic"

// unlock clears m.locked and, if somebody waits, counts down what is left until it
// calls give.
func unlock(m *Mutex) {
	atomic.StoreUint32(&m.locked, 0)
	if m.waiting.Load() != 0 && atomic.AddInt32(&m.left, -1) <= 0 {
		give(m)
	}
}

// pause does nothing for so many times some 10 ns.
func pause(times uint32) {
	for range times * 32 {
	}
}
