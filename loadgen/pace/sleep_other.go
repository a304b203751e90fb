//go:build !linux

package pace

// newSleeper returns none: timers are what there is.
func newSleeper() sleeper { return nil }
