package indexer

import "sync"

// spins is how often a lock is tried before its caller parks: about a
// microsecond, several times as long as a reader holds one.
const spins = 64

// A spinMutex is a mutex for sections of some tens of nanoseconds. A goroutine
// that parks gets its turn again behind every runnable goroutine's slice of
// 10 ms: beside ten busy listers that is a write every 50 ms, though the lock is
// free nearly all the time. So it tries again before it parks.
type spinMutex struct{ mu sync.Mutex }

func (m *spinMutex) Lock() {
	for range spins {
		if m.mu.TryLock() {
			return
		}
	}
	m.mu.Lock()
}

func (m *spinMutex) Unlock() { m.mu.Unlock() }
