package workers

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMutexExcludes(t *testing.T) {
	var m Mutex
	var running sync.WaitGroup
	const goroutines, times = 8, 2000
	count := 0
	for range goroutines {
		running.Go(func() {
			for range times {
				m.Lock()
				before := count
				if before%64 == 0 {
					runtime.Gosched() // so that others find it locked
				}
				count = before + 1
				m.Unlock()
			}
		})
	}
	running.Wait()
	require.Equal(t, goroutines*times, count)
}

// Who waits for longer than it looks parks, and is woken.
func TestMutexWakesWhoParked(t *testing.T) {
	var m Mutex
	m.Lock()
	parked, got := make(chan struct{}), make(chan struct{})
	go func() {
		close(parked)
		m.Lock()
		defer m.Unlock()
		close(got)
	}()
	<-parked
	for range 1000 {
		runtime.Gosched()
	}
	require.False(t, m.TryLock())
	select {
	case <-got:
		require.Fail(t, "two have the lock")
	default:
	}
	m.Unlock()
	<-got
}
