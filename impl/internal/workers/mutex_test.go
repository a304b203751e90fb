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

// Of those who find it locked one tries and the others wait for their turn: all
// get the lock in the end, nobody while another has it.
func TestMutexWakesWhoParked(t *testing.T) {
	var m Mutex
	m.Lock()
	const goroutines = 3
	var parked, done sync.WaitGroup
	got := 0
	parked.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			parked.Done()
			m.Lock()
			defer m.Unlock()
			got++
		})
	}
	parked.Wait()
	for range 1000 {
		runtime.Gosched()
	}
	require.False(t, m.TryLock())
	require.Zero(t, got, "while another has the lock")
	m.Unlock()
	done.Wait()
	require.Equal(t, goroutines, got)
}
