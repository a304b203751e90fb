package drive

import (
	"sync"
	"time"
)

// burn works for s seconds of one processor's time: a fixed number of turns, so
// that it takes longer where goroutines share processors, as real work does.
func burn(s float64) {
	sink(turns(int(s * turnsPerSecond())))
}

// turnsPerSecond is the most of some short runs: the others were disturbed.
var turnsPerSecond = sync.OnceValue(func() float64 {
	const n = 200_000
	best := time.Duration(1 << 62)
	for range 20 {
		begin := time.Now()
		sink(turns(n))
		best = min(best, time.Since(begin))
	}
	return n / best.Seconds()
})

func turns(n int) uint64 {
	x := uint64(n) | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// sink keeps the compiler from leaving the turns out.
//
//go:noinline
func sink(uint64) {}
