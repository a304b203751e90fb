// Package workers is the lock of a work queue and those who wait at it: workers
// for an item, and callers of ShutDownWithDrain for the last Done.
//
// Workers are woken one by one: a push wakes a worker only if none is on its
// way, and a worker that took an item wakes the next if there is more. So a
// burst does not wake workers that will find the queue empty, and when no worker
// sleeps nobody pays for waking one.
package workers

import (
	"sync"
)

// Workers is used under its own lock, but for Signal. Init it first.
//
// Invariant: if an item is queued, a woken worker is on its way or no worker
// sleeps.
type Workers struct {
	sync.Mutex

	ready      sync.Cond // workers; signalled after the lock is released
	idle       sync.Cond // drainers
	sleeping   int       // workers in ready that nobody has woken yet
	woken      int       // workers that were woken and do not hold the lock yet
	processing int       // items handed out and not done
	drain      bool
}

// Init makes the zero Workers usable.
func (w *Workers) Init() {
	w.ready.L = w
	w.idle.L = w
}

// Sleepers tells whether Wake would choose a worker.
func (w *Workers) Sleepers() bool { return w.sleeping > 0 && w.woken == 0 }

// Wake reports whether the caller must call Signal once it released the lock.
// Call it when an item is queued, and when one was taken and there is more.
func (w *Workers) Wake() bool {
	if !w.Sleepers() {
		return false
	}
	w.sleeping--
	w.woken++
	return true
}

// Signal wakes the worker that Wake chose.
func (w *Workers) Signal() { w.ready.Signal() }

// Sleep waits until this worker is woken.
func (w *Workers) Sleep() {
	w.sleeping++
	w.ready.Wait()
	w.woken--
}

// Handed counts an item into processing.
func (w *Workers) Handed() { w.processing++ }

// Finished counts an item out of processing and releases the drainers.
func (w *Workers) Finished() {
	w.processing--
	if w.processing == 0 && w.drain {
		w.idle.Broadcast()
	}
}

// Close wakes everybody at a shutdown, and again when one follows another. The caller holds the lock.
func (w *Workers) Close(drain bool) {
	w.drain = drain
	w.woken += w.sleeping
	w.sleeping = 0
	w.ready.Broadcast()
	w.idle.Broadcast()
}

// Drained waits until nothing is processed or someone shut down without
// draining. The caller holds the lock.
func (w *Workers) Drained() {
	for w.drain && w.processing > 0 {
		w.idle.Wait()
	}
}
