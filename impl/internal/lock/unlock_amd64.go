//go:build gc && !race

package lock

// unlock clears m.locked and calls answer if somebody waits.
func unlock(m *Mutex)
