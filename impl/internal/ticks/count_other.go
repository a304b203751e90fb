//go:build !linux || !amd64 || !gc

package ticks

func count() uint64  { return 0 }
func reliable() bool { return false }
func actual() bool   { return true }
