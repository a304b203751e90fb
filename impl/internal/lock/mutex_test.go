package lock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMutexExcludes(t *testing.T) {
	var m Mutex
	var running sync.WaitGroup
	const goroutines, times = 8, 20_000
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

// Who waited for long is given the lock even if the one that has it always locks
// it again at once.
func TestMutexIsGiven(t *testing.T) {
	var m Mutex
	var got atomic.Bool
	m.Lock()
	go func() {
		m.Lock()
		got.Store(true)
		m.Unlock()
	}()
	for m.waiting.Load() != giving {
		runtime.Gosched()
	}
	for !got.Load() {
		m.Unlock()
		m.Lock()
	}
	m.Unlock()
}

// TestMutexMissed unlocks as if the one that waits were not seen.
func TestMutexMissed(t *testing.T) {
	for _, want := range []uint32{waking, giving} {
		var m Mutex
		m.Lock()
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.Lock()
			defer m.Unlock()
		}()
		for m.waiting.Load() != want {
			runtime.Gosched()
		}
		atomic.StoreUint32(&m.locked, 0)
		<-done
		require.Equal(t, uint32(nothing), m.waiting.Load())
		require.True(t, m.TryLock())
	}
}

// TestMutexHandsOver lets goroutines pass a value on under the lock, more of them
// than processors, each of which waits for its own turn by locking and unlocking.
func TestMutexHandsOver(t *testing.T) {
	var m Mutex
	var running sync.WaitGroup
	const goroutines, rounds = 4, 500
	turn, words := 0, [8]int{}
	for id := range goroutines {
		running.Go(func() {
			for done := 0; done < rounds; {
				m.Lock()
				for i := range words {
					if words[i] != turn {
						t.Errorf("word %d is %d in turn %d", i, words[i], turn)
					}
				}
				mine := turn%goroutines == id
				if mine {
					turn++
					for i := range words {
						words[i] = turn
					}
					done++
				}
				m.Unlock()
				if !mine {
					runtime.Gosched()
				}
			}
		})
	}
	running.Wait()
	require.Equal(t, goroutines*rounds, turn)
}
