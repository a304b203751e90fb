package queue

import "sync"

// waiters is the lock of a queue and those who wait at it: workers for an item,
// and callers of ShutDownWithDrain for the last Done.
//
// Workers are woken one by one: a push wakes a worker only if none is on its
// way, and a worker that took an item wakes the next if there is more. So a
// burst does not wake workers that will find the queue empty, and a worker that
// never slept costs nobody a system call.
//
// Invariant: if an item is queued, a woken worker is on its way or no worker
// sleeps.
type waiters struct {
	mu           sync.Mutex
	ready        sync.Cond // workers; signalled after mu is released
	idle         sync.Cond // drainers
	sleeping     int       // workers in ready that nobody has woken yet
	woken        int       // workers that were woken and do not hold mu yet
	processing   int       // items handed out and not done
	shuttingDown bool
	drain        bool
}

func (w *waiters) init() {
	w.ready.L = &w.mu
	w.idle.L = &w.mu
}

// leave releases mu and, if items are queued, sees to it that a worker comes.
// Every operation that may have changed the queue ends with it, one that
// panicked in the user's code too.
func (w *waiters) leave(queued int) {
	wake := queued > 0 && w.sleeping > 0 && w.woken == 0
	if wake {
		w.sleeping--
		w.woken++
	}
	w.mu.Unlock()
	if wake {
		w.ready.Signal()
	}
}

// sleep waits until this worker is woken.
func (w *waiters) sleep() {
	w.sleeping++
	w.ready.Wait()
	w.woken--
}

// finished counts an item out of processing and releases the drainers.
func (w *waiters) finished() {
	w.processing--
	if w.processing == 0 && w.drain {
		w.idle.Broadcast()
	}
}

// shutDown wakes everybody; to drain is to wait until processing is empty or
// someone else shuts down without draining (contract, work queue clause 4).
func (w *waiters) shutDown(drain bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shuttingDown, w.drain = true, drain
	w.woken += w.sleeping
	w.sleeping = 0
	w.ready.Broadcast()
	w.idle.Broadcast()
	for w.drain && w.processing > 0 {
		w.idle.Wait()
	}
}

// ShuttingDown tells whether ShutDown or ShutDownWithDrain was called.
func (w *waiters) ShuttingDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shuttingDown
}
