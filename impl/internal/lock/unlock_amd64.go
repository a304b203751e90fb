//go:build gc && !race

package lock

// unlock clears m.locked and, if somebody waits, counts down what is left until it
// calls give.
func unlock(m *Mutex)

// pause does nothing for so many times 10 to 50 ns.
func pause(times uint32)
