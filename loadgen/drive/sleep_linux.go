package drive

import (
	"syscall"
	"time"
)

// late is by how much the kernel ends most sleeps too late, on a thread that is
// nobody's in particular: its timer slack of 50 µs and a wake-up.
const late = 80 * time.Microsecond

// exactly sleeps to a moment and returns how long it spun at the end. Package
// pace sleeps without a spin, but needs a thread of its own, which would make
// each hand-over of a key to a worker a switch of threads.
func exactly(deadline time.Time) time.Duration {
	if left := time.Until(deadline) - late; left > 0 {
		t := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&t, nil) // a signal ends it early, the spin is longer then
	}
	begin := time.Now()
	now := begin
	for now.Before(deadline) {
		now = time.Now()
	}
	return now.Sub(begin)
}
