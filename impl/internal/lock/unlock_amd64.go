//go:build gc && !race

package lock

import "sync/atomic"

// unlock clears m.locked and calls answer if somebody waits.
func unlock(m *Mutex)

// pause does nothing for so many times 10 to 50 ns.
func pause(times uint32)

// deserted tells whether nobody seems to use m any more: after a microsecond, in
// which a write of Unlock is seen, it is free whenever it is looked at. If it is
// not, who has it will see what waiting said before.
func (m *Mutex) deserted() bool {
	pause(32)
	for range 12 {
		if atomic.LoadUint32(&m.locked) != 0 {
			return false
		}
		pause(1)
	}
	return true
}
