//go:build gc && !race

package lock

import "golang.org/x/sys/unix"

// unlock clears m.locked and calls answer if somebody waits.
func unlock(m *Mutex)

// Commands of membarrier(2).
const (
	privateExpedited         = 1 << 3
	registerPrivateExpedited = 1 << 4
)

// barriers tells whether the system has them for us; unlock is atomic if not.
var barriers = membarrier(registerPrivateExpedited)

// barrier makes every processor that runs this program show its writes before it
// reads on, so that an Unlock either shows that it cleared locked, or sees what
// was written to waiting before the barrier.
func barrier() {
	if barriers {
		membarrier(privateExpedited)
	}
}

func membarrier(command uintptr) bool {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
