package indexer

import (
	"runtime"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/lock"
)

// spins is how often a lock is tried before its caller parks: about a
// microsecond, several times as long as a reader holds one.
const spins = 64

// A spinMutex is a mutex for sections of some tens of nanoseconds, with writers
// who go before readers. A goroutine that parks gets its turn again behind every
// runnable goroutine's slice of 10 ms: beside ten busy listers that is a write
// every 50 ms, though the lock is free nearly all the time. So it tries again
// before it parks; and a reader who unlocks while a writer is parked gives its
// processor to him, whom the unlocking has made the next to run there.
type spinMutex struct {
	mu      lock.Mutex
	writers atomic.Int32 // those who are parked
}

// Lock locks for writing.
func (m *spinMutex) Lock() {
	if m.spin() {
		return
	}
	m.writers.Add(1)
	m.mu.Lock()
	m.writers.Add(-1)
}

// Unlock ends what Lock began.
func (m *spinMutex) Unlock() { m.mu.Unlock() }

// RLock locks for reading, alone too.
func (m *spinMutex) RLock() {
	if !m.spin() {
		m.mu.Lock()
	}
}

// RUnlock ends what RLock began.
func (m *spinMutex) RUnlock() {
	m.mu.Yield()
	m.mu.Unlock()
	if m.writers.Load() > 0 {
		runtime.Gosched()
	}
}

func (m *spinMutex) spin() bool {
	for range spins {
		if m.mu.TryLock() {
			return true
		}
	}
	return false
}
