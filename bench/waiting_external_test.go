package bench_test

import (
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/stretchr/testify/require"
)

// A chanLock is a lock that no metric of the runtime sees.
type chanLock chan struct{}

func (l chanLock) Lock()   { l <- struct{}{} }
func (l chanLock) Unlock() { <-l }

// Every kind of lock counts. Two goroutines take it in turns until one has waited.
func TestWaitingSeesEveryLock(t *testing.T) {
	for name, l := range map[string]sync.Locker{"mutex": new(sync.Mutex), "writer": new(sync.RWMutex), "channel": make(chanLock, 1)} {
		waited := time.Duration(0)
		for waited == 0 {
			waited = bench.Waited(func() { contend(l) })
		}
		require.Positive(t, waited, name)
	}
	require.Zero(t, bench.Waited(func() { new(sync.Mutex).Lock() }), "nobody waits")
}

// contend has one goroutine hold the lock until another has begun to wait for it, or
// is about to.
func contend(l sync.Locker) {
	var running sync.WaitGroup
	l.Lock()
	begun, inside := make(chan struct{}), false
	running.Go(func() {
		close(begun)
		l.Lock()
		inside = true
		l.Unlock()
	})
	<-begun
	for range 1000 {
		running.Go(func() {}) // gives the other a processor
	}
	l.Unlock()
	running.Wait()
	if !inside {
		panic("the lock was not had")
	}
}
