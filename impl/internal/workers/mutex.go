package workers

import "sync"

// How long a goroutine that finds a Mutex locked waits before it looks again, in
// turns of an empty loop of about a cycle each: the first time, and the last
// time before it parks. All together they take as long as parking and being
// woken does.
const (
	shortest = 64
	longest  = 16384
)

// A Mutex is a sync.Mutex for sections of some tens of nanoseconds. Where one
// processor takes it again and again and another wants it too, a sync.Mutex looks
// four times at moments when it is locked, parks, and then each Unlock wakes
// somebody who comes too late. Here the waits grow: meanwhile the other one works
// undisturbed, with all the lines that the lock guards in its own cache, and the
// lock changes hands for many operations at a time. A goroutine that waited for a
// millisecond gets its turn as with a sync.Mutex.
type Mutex struct{ sync.Mutex }

// Lock locks m. It is a call even if m is free: TryLock, and Wait if that fails,
// are none.
func (m *Mutex) Lock() {
	if !m.TryLock() {
		m.Wait()
	}
}

// Wait locks an m that was found locked.
func (m *Mutex) Wait() {
	for pause := shortest; pause <= longest; pause *= 2 {
		for range pause {
		}
		if m.TryLock() {
			return
		}
	}
	m.Mutex.Lock()
}
