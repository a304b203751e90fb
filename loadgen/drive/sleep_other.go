//go:build !linux

package drive

import "time"

// exactly sleeps to a moment, as late as timers are here, and returns how long
// it spun.
func exactly(deadline time.Time) time.Duration {
	if left := time.Until(deadline); left > 0 {
		time.Sleep(left)
	}
	return 0
}
