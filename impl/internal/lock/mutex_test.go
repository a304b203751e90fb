package lock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// Who waits is given the lock even if the one that has it always locks it again at
// once.
func TestMutexIsGiven(t *testing.T) {
	var m Mutex
	var got atomic.Bool
	m.Lock()
	go func() {
		m.Lock()
		got.Store(true)
		m.Unlock()
	}()
	for !got.Load() {
		m.Unlock()
		m.Lock()
	}
	m.Unlock()
}

// Of the Unlocks, the one after Yield gives m, and no other before tenure is over.
func TestMutexYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, yield := range []bool{false, true} {
			var m Mutex
			var got atomic.Bool
			m.Lock()
			go func() {
				m.Lock()
				got.Store(true)
				m.Unlock()
			}()
			synctest.Wait() // it sleeps
			atomic.StoreInt32(&m.left, tenure)
			if yield {
				m.Yield()
			}
			m.Unlock()
			synctest.Wait()
			require.Equal(t, yield, got.Load())
			time.Sleep(patience)
			synctest.Wait()
			require.True(t, got.Load())
		}
	})
}

// In a bubble, where no timer helps while others wait for their turn, whoever has m
// gives it to the one that tries at once.
func TestMutexInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Mutex
		var got atomic.Int32
		m.Lock()
		for range 3 {
			go func() {
				m.Lock()
				got.Add(1)
				m.Unlock()
			}()
		}
		for m.waiting.Load() == 0 {
			runtime.Gosched()
		}
		m.Unlock()
		synctest.Wait()
		require.Equal(t, int32(3), got.Load())
		require.Equal(t, int32(1), m.tenure)
	})
}

// TestMutexMissed unlocks as if the one that waits were not seen.
func TestMutexMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Mutex
		m.Lock()
		var done atomic.Bool
		go func() {
			m.Lock()
			done.Store(true)
			m.Unlock()
		}()
		synctest.Wait()
		require.Equal(t, uint32(1), m.waiting.Load())
		atomic.StoreUint32(&m.locked, 0)
		time.Sleep(patience)
		synctest.Wait()
		require.True(t, done.Load())
		require.Zero(t, m.waiting.Load())
		require.True(t, m.TryLock())
	})
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
